import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { ProblemError, phrase, problemOf } from "../../errors/interpolation.ts";
import { type ReadDisk, exists, isReal, namesIn, stateFolderName } from "../archive-disk.ts";
import type { CoveringTimestamp } from "../../model/archive-reports.ts";
import type { Vault } from "../vault.ts";
import type { VerifiedTimestamp } from "./verify.ts";
import { type Checkpoint, readCheckpoint } from "../log/events.ts";
import { readNamedFile, readPlain } from "../packages/package-files.ts";

/** The folder of the time stamps, in the archive's own folder. */
export const timestampsName = "timestamps";
const timestampFiles = {
  checkpoint: "checkpoint",
  request: "request.tsq",
  response: "response.tsr",
} as const;
/** The files are much smaller; a longer one is damage, and must not fill the memory. */
const mostBytes = 512 * 1024;
const timestampName = /^[\w-]{1,100}$/;

/** Whether a time stamp may have this name: a line of a log names one, and a line may be forged. */
export function isTimestampName(name: string): boolean {
  return timestampName.test(name);
}

/** A time stamp as it is kept. */
export interface KeptTimestamp {
  /** The name of its folder, which begins with the time at which it was received. */
  readonly name: string;
  /** The text of the checkpoint that was signed. */
  readonly text: string;
  /** The exact request and response. */
  readonly request: Uint8Array;
  readonly response: Uint8Array;
}

/** The same with what its checkpoint says. */
export interface ReadTimestamp extends KeptTimestamp {
  readonly checkpoint: Checkpoint;
}

/** The path of a time stamp below the folder of packages, with slashes. */
export function locationOf(name: string): string {
  return `${stateFolderName}/${timestampsName}/${name}`;
}

/** The names and contents of the files of a time stamp. */
export function filesOfTimestamp({ text, request, response }: KeptTimestamp): readonly [string, Buffer][] {
  return [
    [timestampFiles.request, Buffer.from(request)],
    [timestampFiles.response, Buffer.from(response)],
    [timestampFiles.checkpoint, Buffer.from(text)],
  ];
}

/** The name of a time stamp that was received then; names sort by it. `at`: ISO 8601, UTC. */
export function nameOfTimestamp(at: string, nonce: bigint): string {
  return `${at.replaceAll(/[:.-]/g, "")}-${nonce.toString(16)}`;
}

/**
 * Time stamps in a folder: a folder for each, with the text of the checkpoint and the exact request and response. A folder gets its name when
 * it is complete, and is never changed; in a bucket, a line of the log says that it is. The line has the hash of its response.
 */
export class TimestampFolder {
  readonly #folder: string;
  readonly #disk: ReadDisk;

  /** `folder`: that of the time stamps, without links; `timestampsOf` has that of an archive. */
  constructor(folder: string, disk: ReadDisk) {
    this.#folder = folder;
    this.#disk = disk;
  }

  /** The names of all time stamps, the earliest first; none where a link leads to them. */
  async names(): Promise<string[]> {
    const names = (await isReal(this.#folder, this.#disk)) ? await namesIn(this.#folder, this.#disk) : [];
    return names.filter((name) => !name.startsWith(".")).sort();
  }

  /** Reads a time stamp; undefined if one of its files is missing, or its checkpoint is none. */
  async read(name: string): Promise<ReadTimestamp | undefined> {
    const text = (await this.#readFile(name, timestampFiles.checkpoint))?.toString();
    const checkpoint = text === undefined ? undefined : readCheckpoint(text);
    const request = await this.#readFile(name, timestampFiles.request);
    const response = await this.#readFile(name, timestampFiles.response);
    return text === undefined || checkpoint === undefined || request === undefined || response === undefined
      ? undefined
      : { name, text, checkpoint, request, response };
  }

  /** Reads only what a time stamp is of. */
  async readCheckpoint(name: string): Promise<Checkpoint | undefined> {
    const text = await this.#readFile(name, timestampFiles.checkpoint);
    return text === undefined ? undefined : readCheckpoint(text.toString());
  }

  /**
   * Whether a file of a time stamp is missing. If no log names it, it was interrupted on its way to a bucket, and was never a time stamp.
   */
  async isUnfinished(name: string): Promise<boolean> {
    for (const file of Object.values(timestampFiles)) {
      if (!(await exists(join(this.#folder, name, file), this.#disk))) {
        return true;
      }
    }
    return false;
  }

  async #readFile(name: string, of: string): Promise<Buffer | undefined> {
    const folder = join(this.#folder, name);
    const content =
      isTimestampName(name) && (await isReal(folder, this.#disk))
        ? await readPlain(join(folder, of), this.#disk, mostBytes)
        : "none";
    return typeof content === "string" ? undefined : content;
  }
}

/** The time stamps of an archive. */
export function timestampsOf({ root, disk }: Pick<Vault, "disk" | "root">): TimestampFolder {
  return new TimestampFolder(join(root, stateFolderName, timestampsName), disk);
}

/**
 * Keeps a time stamp in the archive's own folder; resolves when that is durable. Throws ERR_STORE or the system's error; then
 * nothing is kept, or in a bucket what `isUnfinished` finds.
 */
export async function keepTimestamp(vault: Vault, kept: KeptTimestamp): Promise<void> {
  const folder = join(vault.root, stateFolderName, timestampsName, kept.name);
  await vault.writeFolder(folder, filesOfTimestamp(kept));
}

/** A list of all roots of the web has a quarter of this. */
const mostRootBytes = 1_000_000;

/**
 * Reads the file of the root certificates that signers are checked against; none if the path is blank. Throws
 * ERR_CONFIG if it has none, or cannot be read.
 */
export async function readRoots(path: string | undefined): Promise<readonly X509Certificate[]> {
  if (path === undefined || path.trim() === "") {
    return [];
  }
  try {
    const roots = readPem((await readNamedFile(path, mostRootBytes)).toString("latin1"));
    if (roots.length === 0) {
      throw new ProblemError(phrase("timestampNoRoot"));
    }
    return roots;
  } catch (cause) {
    const facts = { surface: "config", operation: "timestamp", cause } as const;
    throw new DimensionerError("timestampRoots", facts, { path, problem: problemOf(cause) });
  }
}

/** What a message and a page say of a time stamp. `size`: how many lines of the log its checkpoint is of. */
export function coveringTimestamp({
  verified: { at, signer, root },
  size,
}: {
  readonly verified: VerifiedTimestamp;
  readonly size: number;
}): CoveringTimestamp {
  return { atUtc: at.toISOString(), signer, root, logSize: size };
}

/** Reads the certificates in a text in PEM form; none if there are none. Throws a ProblemError for a damaged one. */
export function readPem(text: string): X509Certificate[] {
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  try {
    return found.map((one) => new X509Certificate(one));
  } catch (error) {
    throw new ProblemError(phrase("timestampRootDamaged"), { cause: error });
  }
}
