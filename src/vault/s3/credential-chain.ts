import { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { Credentials, Environment } from "./credentials.ts";
import { fetchCredentials } from "./metadata-credentials.ts";
import { readProfile } from "./profile-credentials.ts";

/** Temporary credentials are replaced so long before they end: a request has to arrive while they are valid. */
const renewBeforeMs = 5 * 60_000;

/**
 * The credentials of the environment, found as the programs of AWS find them: environment variables, then a profile in a
 * file, then the container's or the virtual machine's role. Those that end are looked up again in time.
 */
export class CredentialChain {
  readonly #environment: Environment;
  #known: Credentials | undefined;
  #finding: Promise<Credentials> | undefined;

  constructor(environment: Environment = process.env) {
    this.#environment = environment;
  }

  /** Throws ERR_CONFIG if there are no credentials. */
  async get(): Promise<Credentials> {
    const known = this.#known;
    if (known !== undefined && Date.now() < (known.expiresAtMs ?? Infinity) - renewBeforeMs) {
      return known;
    }
    this.#finding ??= this.#find().finally(() => (this.#finding = undefined));
    return await this.#finding;
  }

  /** To be called when the object store no longer accepts these: they are looked up again at the next request. */
  drop(refused: Credentials): void {
    if (this.#known === refused) {
      this.#known = undefined;
    }
  }

  async #find(): Promise<Credentials> {
    const environment = this.#environment;
    const found =
      fromVariables(environment) ?? (await readProfile(environment)) ?? (await fetchCredentials(environment));
    if (found === undefined) {
      throw new DimensionerError("bucketCredentials", { surface: "store", operation: "bucket" });
    }
    this.#known = found;
    return found;
  }
}

function fromVariables(environment: Environment): Credentials | undefined {
  const accessKeyId = environment["AWS_ACCESS_KEY_ID"];
  const secretAccessKey = environment["AWS_SECRET_ACCESS_KEY"];
  return accessKeyId && secretAccessKey
    ? { accessKeyId, secretAccessKey, sessionToken: environment["AWS_SESSION_TOKEN"] || undefined }
    : undefined;
}
