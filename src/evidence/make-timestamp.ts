import type { X509Certificate } from "node:crypto";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import type { TimestampResult } from "../model/shapes.ts";
import { asFileError, stateFolderName } from "../vault/archive-disk.ts";
import { type IndexedPackage, PackageIndex } from "../vault/packages/package-index.ts";
import {
  type KeptTimestamp,
  TimestampFolder,
  keepTimestamp,
  locationOf,
  readRoots,
  timeOf,
} from "../vault/timestamp-folder.ts";
import { createRequest, readRequest } from "../vault/timestamp/token.ts";
import { type VerifiedTimestamp, verifyTimestamp } from "../vault/timestamp/verify.ts";
import { type OpenedPackage, openPackage } from "./hold.ts";
import { type EvidenceSource, leaveOutPruned } from "./packages.ts";

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
 * the one before it by its SHA-256, the time stamp covers all of them. If several workers share the store, each has a
 * chain of its own: the end of each is time-stamped, and the time stamp of the newest is returned. Each is verified before it is
 * kept. A manifest that this server has already time-stamped is not sent again, unless the roots no longer accept that time
 * stamp. An end that was deleted because of its age is passed over; one that is gone or changed is an error after the others
 * were time-stamped.
 *
 * Rejects with ERR_NOT_FOUND if there is no package, ERR_FILE, ERR_STORE, ERR_CONFIG, and the errors of the server.
 */
export async function makeTimestamp(
  source: EvidenceSource,
  authority: TimestampAuthority,
  { roots: rootsFile, signal }: TimestampOptions,
): Promise<TimestampResult> {
  const roots = await readRoots(rootsFile);
  const ends = await findEnds(source);
  const kept = new TimestampFolder(source.files.root, source.files.disk);
  const names = await namesOf(kept, ends);
  const results: TimestampResult[] = [];
  const damages: Damage[] = [];
  for (const end of ends) {
    const opened = await openEnd(source, end);
    if ("error" in opened) {
      // It must not keep the others from being time-stamped.
      damages.push(opened);
    } else {
      results.push(
        await stampEnd(source, authority, {
          newest: opened,
          kept,
          names: names.get(end.path) ?? [],
          roots,
          signal,
        }),
      );
    }
  }
  // Where a package was pruned without the database, its row stays. That is no error.
  const left = await leaveOutPruned(
    source,
    damages.map(({ end }) => end),
  );
  const damaged = damages.find(({ end }) => left.includes(end));
  if (damaged !== undefined) {
    throw damaged.error;
  }
  const newest = results.at(-1);
  if (newest === undefined) {
    throw nothingError(source);
  }
  return { ...newest, alreadyStamped: results.every(({ alreadyStamped }) => alreadyStamped) };
}

/** Why the end of a chain cannot be time-stamped. */
interface Damage {
  readonly end: IndexedPackage;
  readonly error: DimensionerError;
}

interface End {
  readonly newest: OpenedPackage;
  readonly kept: TimestampFolder;
  /** Those of its time stamps, the latest last. */
  readonly names: readonly string[];
  readonly roots: readonly X509Certificate[];
  readonly signal: AbortSignal | undefined;
}

async function stampEnd(
  { files }: EvidenceSource,
  authority: TimestampAuthority,
  { newest, kept, names, roots, signal }: End,
): Promise<TimestampResult> {
  const known = await findKept(kept, names, { sha256: newest.sha256, server: authority.url, roots });
  if (known !== undefined) {
    return resultOf(known.timestamp, known.verified, true);
  }
  const { der, ...request } = createRequest(Buffer.from(newest.sha256, "hex"));
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
    await keepTimestamp(files, made);
  } catch (error) {
    throw asFileError(error, files.addressOf(stateFolderName));
  }
  return resultOf(made, verified, false);
}

/** The packages that the next manifests would name. */
async function findEnds(source: EvidenceSource): Promise<readonly IndexedPackage[]> {
  const { database } = source;
  const [stores = []] = await database.transaction([{ sql: "SELECT store_id FROM store" }]);
  const ends = await new PackageIndex(database).ends(String(stores[0]?.["store_id"]));
  if (ends.length === 0) {
    throw nothingError(source);
  }
  return ends;
}

function nothingError({ operation }: EvidenceSource): DimensionerError {
  return new DimensionerError("timestampNothing", { surface: "store", operation });
}

/** Only a manifest that is there as it was archived is time-stamped. */
async function openEnd(
  { files, operation }: EvidenceSource,
  end: IndexedPackage,
): Promise<OpenedPackage | Damage> {
  try {
    const opened = await openPackage(files, end);
    const facts = { surface: "disk", operation } as const;
    return opened.sha256 === end.sha256
      ? opened
      : { end, error: new DimensionerError("timestampChanged", facts, { path: end.path }) };
  } catch (error) {
    if (error instanceof DimensionerError && error.sentence === "evidenceGone") {
      return { end, error };
    }
    throw error;
  }
}

/** The names of the time stamps of each of these packages. The log may be long, and each line an object: it is read once. */
async function namesOf(
  kept: TimestampFolder,
  ends: readonly IndexedPackage[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const names = new Map(ends.map(({ path }): [string, string[]] => [path, []]));
  for await (const logged of kept.logged()) {
    names.get(logged.package)?.push(logged.timestamp);
  }
  return names;
}

/** What a time stamp has to be of, from whom, and which signers are accepted. */
interface Sought {
  readonly sha256: string;
  readonly server: string;
  readonly roots: readonly X509Certificate[];
}

/** The latest time stamp of a server for a manifest that is there and valid, also by the roots as they are now. */
async function findKept(
  kept: TimestampFolder,
  names: readonly string[],
  { sha256, server, roots }: Sought,
): Promise<{ readonly timestamp: KeptTimestamp; readonly verified: VerifiedTimestamp } | undefined> {
  for (const name of names.toReversed()) {
    const timestamp = await kept.read(name);
    if (timestamp?.about.manifestSha256 === sha256 && timestamp.about.server === server) {
      const verified = verifyKept(timestamp, sha256, roots);
      if (verified !== undefined) {
        return { timestamp, verified };
      }
    }
  }
  return undefined;
}

/** Undefined for one that is damaged, or whose signer the roots do not accept: a new one takes its place. */
function verifyKept(
  { request, response }: KeptTimestamp,
  sha256: string,
  roots: readonly X509Certificate[],
): VerifiedTimestamp | undefined {
  try {
    return verifyTimestamp(response, { ...readRequest(request), sha256: Buffer.from(sha256, "hex") }, roots);
  } catch {
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
