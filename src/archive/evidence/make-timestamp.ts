import { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { TimestampResult } from "../../model/shapes.ts";
import { createRequest, readRequest } from "../../timestamp/request.ts";
import { verifyTimestamp, type VerifiedTimestamp } from "../../timestamp/verify.ts";
import { asFileError, stateFolderName } from "../archive-disk.ts";
import { openPackage, type OpenedPackage } from "./open-package.ts";
import type { EvidenceSource } from "./packages.ts";
import { PackageIndex } from "../packages/package-index.ts";
import { keepTimestamp } from "../maintenance/keep-timestamp.ts";
import { locationOf, timeOf, TimestampFolder, type KeptTimestamp } from "../maintenance/timestamp-folder.ts";
import { readRoots } from "../maintenance/timestamp-roots.ts";

/** What signs time stamps. */
export interface TimestampAuthority {
  /** Its address, without credentials. */
  readonly url: string;
  /** Sends a request; resolves with the response when `verify` has accepted it. */
  request<T>(
    body: Buffer,
    verify: (response: Buffer) => T,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly response: Buffer; readonly verified: T }>;
}

export interface TimestampOptions {
  /** A PEM file with the root certificates that signers are checked against; blank: none. */
  readonly roots?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Has the newest manifest of a store time-stamped, and keeps the time stamp beside the packages. As each manifest names
 * the one before it by its SHA-256, the time stamp covers all of them. It is verified before it is kept. If this server
 * has already time-stamped the manifest, that time stamp is returned.
 *
 * Rejects with ERR_NOT_FOUND if there is no package, ERR_FILE, ERR_STORE, ERR_CONFIG, and the errors of the server.
 */
export async function makeTimestamp(
  source: EvidenceSource,
  authority: TimestampAuthority,
  { roots: rootsFile, signal }: TimestampOptions,
): Promise<TimestampResult> {
  const { root, disk } = source;
  const roots = await readRoots(rootsFile);
  const newest = await openNewest(source);
  const kept = new TimestampFolder(root, disk);
  const sha256 = Buffer.from(newest.sha256, "hex");
  const known = await findKept(kept, newest, authority.url);
  if (known !== undefined) {
    const request = readRequest(known.request);
    const verified = verifyTimestamp(known.response, { ...request, sha256 }, roots);
    return resultOf(known, verified, true);
  }
  const { der, ...request } = createRequest(sha256);
  const requested = new Date().toISOString();
  const { response, verified } = await authority.request(
    der,
    (answer) => verifyTimestamp(answer, request, roots),
    signal,
  );
  const about = {
    package: newest.location,
    manifestSha256: newest.sha256,
    store: newest.manifest.store ?? null,
    archived: newest.manifest.times.archived,
    requested,
    received: new Date().toISOString(),
    server: authority.url,
  };
  const made = {
    name: `${timeOf(about.received)}-${request.nonce.toString(16)}`,
    about,
    request: der,
    response,
  };
  try {
    await keepTimestamp(root, made, disk);
  } catch (error) {
    throw asFileError(error, `${root}/${stateFolderName}`);
  }
  return resultOf(made, verified, false);
}

/** The package that the next manifest would name. Only one that is as it was archived is time-stamped. */
async function openNewest(source: EvidenceSource): Promise<OpenedPackage> {
  const { database, root, disk, operation } = source;
  const [stores = []] = await database.transaction([{ sql: "SELECT store_id FROM store" }]);
  const last = await new PackageIndex(database).last(String(stores[0]?.["store_id"]));
  if (last === undefined) {
    throw new DimensionerError("timestampNothing", { surface: "store", operation });
  }
  const opened = await openPackage(root, last, disk);
  if (opened.sha256 !== last.sha256) {
    throw new DimensionerError("timestampChanged", { surface: "disk", operation }, { path: last.path });
  }
  return opened;
}

/** The latest time stamp of a server for a manifest, if it is there and can be verified without roots. */
async function findKept(
  kept: TimestampFolder,
  { sha256 }: OpenedPackage,
  server: string,
): Promise<KeptTimestamp | undefined> {
  const latest = (await kept.names()).at(-1);
  const found = latest === undefined ? undefined : await kept.read(latest);
  if (found === undefined || found.about.manifestSha256 !== sha256 || found.about.server !== server) {
    return undefined;
  }
  try {
    verifyTimestamp(
      found.response,
      { ...readRequest(found.request), sha256: Buffer.from(sha256, "hex") },
      [],
    );
    return found;
  } catch {
    // A damaged one is not counted: a new one takes its place.
    return undefined;
  }
}

function resultOf(
  { name, about }: KeptTimestamp,
  { at, accuracyMs, serialNumber, policy, signer, root }: VerifiedTimestamp,
  alreadyStamped: boolean,
): TimestampResult {
  return {
    location: locationOf(name),
    atUtc: at.toISOString(),
    accuracyMs,
    signer,
    root,
    serialNumber,
    policy,
    server: about.server,
    package: about.package,
    manifestSha256: about.manifestSha256,
    archivedAtUtc: about.archived,
    alreadyStamped,
  };
}
