import type { X509Certificate } from "node:crypto";
import { ProblemError } from "../errors/interpolation.ts";
import type { ArchiveNote, Finding, Unchecked } from "../model/archive-reports.ts";
import { sha256Of } from "../model/sha256.ts";
import { stateFolderName } from "./archive-disk.ts";
import { logParts } from "./log/log-files.ts";
import { type Checkpoints, compareCheckpoint } from "./log/checkpoints.ts";
import type { ReplayedLog } from "./log/replay.ts";
import type { SeenPackages } from "./seen-packages.ts";
import { type KeptTimestamp, type ReadTimestamp, locationOf, timestampsName } from "./timestamp-folder.ts";
import { readRequest } from "./timestamp/token.ts";
import { type VerifiedTimestamp, verifyTimestamp } from "./timestamp/verify.ts";

const noTimestamps =
  "the time stamps: root certificates were given, but there is no time stamp here; if there have been some, they were deleted";

/** How many signers are named that were not checked against a root certificate. */
const mostNamed = 3;

/** Verifies a kept time stamp for the text of its checkpoint. Returns what is wrong with it as a text. */
export function verifyKept(
  { text, request, response }: KeptTimestamp,
  roots: readonly X509Certificate[],
): VerifiedTimestamp | string {
  try {
    const sha256 = Buffer.from(sha256Of(text), "hex");
    return verifyTimestamp(Buffer.from(response), { ...readRequest(Buffer.from(request)), sha256 }, roots);
  } catch (error) {
    if (error instanceof ProblemError) {
      return error.message;
    }
    throw error;
  }
}

/** What the time stamps of an archive are compared with. */
export interface TimestampChecks {
  readonly logs: readonly ReplayedLog[];
  readonly checkpoints: Checkpoints;
  readonly roots: readonly X509Certificate[];
  readonly seen: SeenPackages;
  readonly unchecked: Unchecked[];
  readonly notes: ArchiveNote[];
}

/**
 * Checks all time stamps of an archive: that each in a log is there and unchanged, that each signs a checkpoint of a log that is here, and
 * that it can be verified. If no root certificates are given, the signers are added to `unchecked`; if some are given, and there is no
 * time stamp, this is added. The notes get the newest time stamp of each log, with how many packages it covers.
 */
export async function* checkTimestamps({
  logs,
  checkpoints,
  roots,
  seen,
  unchecked,
  notes,
}: TimestampChecks): AsyncGenerator<Finding> {
  const responses = new Map<string, string>();
  for (const log of logs) {
    for (const { timestamp: name, response, size, root } of log.stamped) {
      responses.set(name, response);
      if (log.roots.get(size)?.toString("base64") !== root && log.root !== undefined) {
        const problem = `the line about the time stamp ${name} names another root of the first ${size} lines than they have`;
        yield { kind: "log", path: [...logParts, log.store].join("/"), problem };
      }
    }
  }
  let count = 0;
  const newest = new Map<string, Newest>();
  const uncheckedSigners = new Set<string>();
  for (const name of new Set([...checkpoints.timestamps.keys(), ...responses.keys()])) {
    const one = await checkpoints.read(name);
    const response = responses.get(name);
    if (one === undefined) {
      if (response !== undefined) {
        yield found(name, "the time stamp is missing, or one of its files is missing or damaged");
      } else if (!(await checkpoints.isUnfinished(name))) {
        yield found(name, "the time stamp cannot be read: a file of it is damaged");
      }
      continue;
    }
    count += 1;
    if (response !== undefined && sha256Of(one.response) !== response) {
      yield found(name, "the time stamp is not the one that the log names");
    }
    const verified = verifyKept(one, roots);
    const problem =
      typeof verified === "string" ? `the time stamp is not valid: ${verified}` : compareWithLog(one, logs);
    if (problem !== undefined || typeof verified === "string") {
      yield found(name, problem ?? "");
      continue;
    }
    if (verified.root === null) {
      uncheckedSigners.add(verified.signer);
    }
    const { store, size } = one.checkpoint;
    if ((newest.get(store)?.size ?? -1) < size) {
      newest.set(store, { name, size, verified });
    }
  }
  const folder = `${stateFolderName}/${timestampsName}`;
  if (uncheckedSigners.size > 0) {
    unchecked.push(explainUncheckedSigners([...uncheckedSigners], folder));
  }
  for (const [store, one] of newest) {
    notes.push(await explainNewest(store, one, seen));
  }
  if (roots.length > 0 && count === 0 && responses.size === 0) {
    unchecked.push({ kind: "no-timestamps", path: folder, problem: noTimestamps });
  }
}

function found(name: string, problem: string): Finding {
  return { kind: "timestamp", path: locationOf(name), problem };
}

/** What is wrong with the checkpoint of a time stamp. */
function compareWithLog({ checkpoint }: ReadTimestamp, logs: readonly ReplayedLog[]): string | undefined {
  const log = logs.find(({ store }) => store === checkpoint.store);
  const differs = log === undefined ? undefined : compareCheckpoint(checkpoint, log);
  return log === undefined
    ? `the time stamp is of the log of the store ${checkpoint.store}, which is not here`
    : differs === undefined
      ? undefined
      : `the time stamp does not agree with the log: ${differs}`;
}

interface Newest {
  readonly name: string;
  readonly size: number;
  readonly verified: VerifiedTimestamp;
}

function explainUncheckedSigners(signers: readonly string[], path: string): Unchecked {
  const named = signers.slice(0, mostNamed).map((name) => `“${name}”`);
  const more = signers.length > mostNamed ? ` and ${signers.length - mostNamed} others` : "";
  return {
    kind: "timestamp-signer",
    path,
    problem: `who has signed the time stamps: they name ${named.join(", ")}${more}, but no root certificate was given to check this against`,
  };
}

async function explainNewest(
  store: string,
  { name, size, verified: { at, signer, root } }: Newest,
  seen: SeenPackages,
): Promise<ArchiveNote> {
  const [row] = await seen.select(
    `SELECT count(*) AS packages, coalesce(sum(n < ?), 0) AS covered FROM logged WHERE store = ? AND pruned_n IS NULL`,
    [size, store],
  );
  const covered = Number(row?.["covered"]);
  const open = Number(row?.["packages"]) - covered;
  const checked = root === null ? "not checked against a root certificate" : `root certificate: “${root}”`;
  const count = covered === 1 ? "1 package is" : `${covered} packages are`;
  return {
    kind: "timestamp",
    path: locationOf(name),
    text: `${count} covered by the newest time stamp (${at.toISOString()}, by “${signer}”, ${checked}), ${open} not yet`,
  };
}
