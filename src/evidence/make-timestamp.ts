import type { X509Certificate } from "node:crypto";
import { type Row, lockLog } from "../database/database.ts";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { sha256Of } from "../model/sha256.ts";
import type { TimestampResult } from "../model/shapes.ts";
import { asFileError, stateFolderName } from "../vault/archive-disk.ts";
import { type Checkpoint, type EventOf, entryOf, readEvent, writeCheckpoint } from "../vault/log/events.ts";
import { LogTree } from "../vault/log/tree.ts";
import { publishLeftLog, publishLog } from "../vault/log/open-log.ts";
import {
  keepTimestamp,
  locationOf,
  nameOfTimestamp,
  readRoots,
  timestampsOf,
} from "../vault/timestamp/timestamp-folder.ts";
import { createRequest } from "../vault/timestamp/token.ts";
import { type VerifiedTimestamp, verifyTimestamp } from "../vault/timestamp/verify.ts";
import { verifyKept } from "../vault/timestamp/timestamps.ts";
import type { EvidenceSource } from "./packages.ts";

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

type Stamped = EventOf<"stamped">;

/**
 * Has a checkpoint of a store's log time-stamped, and keeps the time stamp beside the packages: it covers all lines of the log so far, and
 * so all packages in them. It is verified before it is kept. If nothing but time stamps and openings has come to the log since this
 * server's last one, nothing is sent, unless the roots no longer accept that time stamp.
 *
 * Rejects with ERR_NOT_FOUND if there is no package, ERR_FILE, ERR_STORE, ERR_CONFIG, and the errors of the server. ERR_STORE also if the
 * log is not the one that was time-stamped before.
 */
export async function makeTimestamp(
  source: EvidenceSource,
  authority: TimestampAuthority,
  { roots: rootsFile, signal }: TimestampOptions,
): Promise<TimestampResult> {
  const roots = await readRoots(rootsFile);
  const { vault, database, log } = source;
  const facts = { surface: "store", operation: source.operation } as const;
  const asError = (error: unknown): DimensionerError => asFileError(error, vault.addressOf(stateFolderName));
  try {
    await publishLog({ table: log, vault });
    await publishLeftLog({ table: log, vault });
  } catch (error) {
    throw asError(error);
  }
  const size = await neededSize(source);
  if (size === undefined) {
    throw new DimensionerError("timestampNothing", facts);
  }
  const tree = new LogTree(database);
  const known = await findKept(source, tree, { size, server: authority.url, roots });
  if (known !== undefined) {
    return known;
  }
  await refuseChanged(source, tree);
  const checkpoint = await tree.checkpointOf(log.store);
  const text = writeCheckpoint(checkpoint);
  const { der, ...request } = createRequest(Buffer.from(sha256Of(text), "hex"));
  const { response, verified } = await authority.request(
    der,
    (answer) => verifyTimestamp(answer, request, roots),
    signal,
  );
  const at = new Date().toISOString();
  const made = { name: nameOfTimestamp(at, request.nonce), text, request: der, response };
  const result = await resultOf(source, { checkpoint, verified, server: authority.url, name: made.name });
  try {
    await keepTimestamp(vault, made);
    const event: Stamped = {
      what: "stamped",
      at,
      size: checkpoint.size,
      root: checkpoint.root.toString("base64"),
      timestamp: made.name,
      response: sha256Of(response),
      server: authority.url,
    };
    await database.transaction([lockLog, ...log.append(entryOf(event))]);
    await publishLog({ table: log, vault });
  } catch (error) {
    throw asError(error);
  }
  return { ...result, alreadyStamped: false };
}

/** How many lines a time stamp has to cover at least; undefined if no package was ever archived. */
async function neededSize({ database }: EvidenceSource): Promise<number | undefined> {
  const [archived = [], last = []] = await database.transaction([
    { sql: "SELECT n FROM log WHERE what = 'archived' ORDER BY n LIMIT 1" },
    { sql: "SELECT n FROM log WHERE what NOT IN ('stamped', 'opened') ORDER BY n DESC LIMIT 1" },
  ]);
  return archived.length === 0 ? undefined : Number(last[0]?.["n"]) + 1;
}

function stampedOf(rows: readonly Row[]): Stamped[] {
  return rows.flatMap(({ line }) => {
    const event = readEvent(String(line));
    return event?.what === "stamped" ? [event] : [];
  });
}

/** What a time stamp has to cover at least, from whom, and which signers are accepted. */
interface Sought {
  readonly size: number;
  readonly server: string;
  readonly roots: readonly X509Certificate[];
}

/** The latest time stamp of a server that covers so many lines, is there and valid, also by the roots as they are now. */
async function findKept(
  source: EvidenceSource,
  tree: LogTree,
  { size, server, roots }: Sought,
): Promise<TimestampResult | undefined> {
  const { database, vault, log } = source;
  const [rows = []] = await database.transaction([
    { sql: "SELECT line FROM log WHERE what = 'stamped' AND n >= ? ORDER BY n DESC", values: [size] },
  ]);
  for (const { timestamp: name } of stampedOf(rows).filter(
    (one) => one.size >= size && one.server === server,
  )) {
    const kept = await timestampsOf(vault).read(name);
    const checkpoint = kept?.checkpoint;
    if (
      kept === undefined ||
      checkpoint === undefined ||
      checkpoint.store !== log.store ||
      checkpoint.size < size
    ) {
      continue;
    }
    const verified = verifyKept(kept, roots);
    const isOfLog = checkpoint.root.equals(await tree.rootOf(checkpoint.size));
    if (typeof verified === "object" && isOfLog) {
      return { ...(await resultOf(source, { checkpoint, verified, server, name })), alreadyStamped: true };
    }
  }
  return undefined;
}

/** A log that contradicts what was signed before is not signed again. */
async function refuseChanged({ database, operation }: EvidenceSource, tree: LogTree): Promise<void> {
  const [rows = []] = await database.transaction([
    { sql: "SELECT line FROM log WHERE what = 'stamped' ORDER BY n DESC LIMIT 1" },
  ]);
  const [last] = stampedOf(rows);
  const isSame = async (): Promise<boolean> =>
    last === undefined || (await tree.rootOf(last.size)).toString("base64") === last.root;
  if (await isSame()) {
    return;
  }
  tree.forgetBlocks();
  if (!(await isSame())) {
    const facts = { surface: "store", operation } as const;
    throw new DimensionerError("timestampChanged", facts, { count: last?.size ?? 0 });
  }
}

interface Made {
  readonly checkpoint: Checkpoint;
  readonly verified: VerifiedTimestamp;
  readonly server: string;
  readonly name: string;
}

async function resultOf(
  { database }: EvidenceSource,
  { checkpoint: { store, size, root: logRoot }, verified, server, name }: Made,
): Promise<Omit<TimestampResult, "alreadyStamped">> {
  // A time stamp is in the log behind what it covers.
  const [before = []] = await database.transaction([
    { sql: "SELECT line FROM log WHERE what = 'stamped' AND n < ? ORDER BY n DESC LIMIT 1", values: [size] },
  ]);
  const covered = stampedOf(before)[0]?.size ?? 0;
  const [[count] = []] = await database.transaction([
    {
      sql: "SELECT count(*) AS packages FROM log WHERE what = 'archived' AND n >= ? AND n < ?",
      values: [covered, size],
    },
  ]);
  const { at, accuracyMs, serialNumber, policy, signer, root } = verified;
  return {
    location: locationOf(name),
    atUtc: at.toISOString(),
    accuracyMs,
    signer,
    root,
    serialNumber,
    policy,
    server,
    store,
    logSize: size,
    logRoot: logRoot.toString("base64"),
    packages: Number(count?.["packages"]),
  };
}
