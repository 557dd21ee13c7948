import type { X509Certificate } from "node:crypto";
import { ProblemError } from "../../errors/interpolation.ts";
import type { Finding, NewestTimestamp, Unchecked } from "../../model/archive-reports.ts";
import { sha256Of } from "../../model/sha256.ts";
import { stateFolderName } from "../archive-disk.ts";
import { logParts } from "../log/log-files.ts";
import { type Checkpoints, compareCheckpoint } from "../log/checkpoints.ts";
import type { ReplayedLog } from "../log/replay.ts";
import {
  type KeptTimestamp,
  type ReadTimestamp,
  coveringTimestamp,
  locationOf,
  timestampsName,
} from "./timestamp-folder.ts";
import { readRequest } from "./token.ts";
import { type VerifiedTimestamp, verifyTimestamp } from "./verify.ts";

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
    const asked = readRequest(Buffer.from(request));
    const verified = verifyTimestamp(Buffer.from(response), { ...asked, sha256 }, roots);
    return asked.sha256.equals(sha256) ? verified : "the request that is kept with it is for another SHA-256";
  } catch (error) {
    if (error instanceof ProblemError) {
      return error.message;
    }
    throw error;
  }
}

/** The newest valid time stamp of each store that has one. */
export type NewestTimestamps = ReadonlyMap<string, NewestTimestamp>;

/** What the time stamps of an archive are compared with. */
export interface TimestampChecks {
  readonly logs: readonly ReplayedLog[];
  readonly checkpoints: Checkpoints;
  readonly roots: readonly X509Certificate[];
  readonly unchecked: Unchecked[];
}

/**
 * Checks all time stamps of an archive: that each in a log is there and unchanged, that each signs a checkpoint of a log that is here, and
 * that it can be verified. If no root certificates are given, the signers are added to `unchecked`; if some are given, and there is no
 * time stamp, this is added. Returns the newest time stamp of each log.
 */
export async function* checkTimestamps({
  logs,
  checkpoints,
  roots,
  unchecked,
}: TimestampChecks): AsyncGenerator<Finding, NewestTimestamps> {
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
  const newest = new Map<string, NewestTimestamp>();
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
      typeof verified === "string" ? `the time stamp is not valid: ${verified}` : compareWithLogs(one, logs);
    if (problem !== undefined || typeof verified === "string") {
      yield found(name, problem ?? "");
      continue;
    }
    if (verified.root === null) {
      uncheckedSigners.add(verified.signer);
    }
    const { store, size } = one.checkpoint;
    if ((newest.get(store)?.logSize ?? -1) < size) {
      newest.set(store, { ...coveringTimestamp({ verified, size }), location: locationOf(name) });
    }
  }
  const folder = `${stateFolderName}/${timestampsName}`;
  if (uncheckedSigners.size > 0) {
    unchecked.push(explainUncheckedSigners([...uncheckedSigners], folder));
  }
  if (roots.length > 0 && count === 0 && responses.size === 0) {
    unchecked.push({ kind: "no-timestamps", path: folder, problem: noTimestamps });
  }
  return newest;
}

function found(name: string, problem: string): Finding {
  return { kind: "timestamp", path: locationOf(name), problem };
}

/** What is wrong with the checkpoint of a time stamp, or with what the log says of it. */
function compareWithLogs(
  { name, checkpoint }: ReadTimestamp,
  logs: readonly ReplayedLog[],
): string | undefined {
  const log = logs.find(({ store }) => store === checkpoint.store);
  if (log === undefined) {
    return `the time stamp is of the log of the store ${checkpoint.store}, which is not here`;
  }
  const differs = compareCheckpoint(checkpoint, log);
  if (differs !== undefined) {
    return `the time stamp does not agree with the log: ${differs}`;
  }
  const other = log.stamped.find(({ timestamp, size }) => timestamp === name && size !== checkpoint.size);
  return other === undefined
    ? undefined
    : `the log says that the time stamp is of ${other.size} lines, and it is of ${checkpoint.size}`;
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
