import type * as fsPromises from "node:fs/promises";
import { getSystemErrorMap } from "node:util";
import { DimensionerError, type Surface } from "../errors/dimensioner-error.ts";
import { verbatim, type Problem } from "../errors/interpolation.ts";
import { afterLimit } from "../time/after-limit.ts";

/** The functions of node:fs/promises that are used here. Tests pass another one that is slow or fails. */
export type Disk = Pick<
  typeof fsPromises,
  "link" | "lstat" | "mkdir" | "open" | "readdir" | "realpath" | "rename" | "stat" | "unlink"
>;

/** The facts of a transfer that its errors carry. */
export interface TransferFacts {
  /** In the API's words: "fetch image". */
  operation: string;
  surface: Surface;
  /** The name of the peer in sentences. */
  host: string;
  /** Origin and path of the download; never a query. */
  url?: string | undefined;
  /** Ends the transfer. If its reason is a DimensionerError, that is thrown, else ERR_CANCELLED. */
  signal?: AbortSignal | undefined;
}

/**
 * The time by this computer's clock, or when a folder was last changed, if that is earlier. What was left there a day before both is old,
 * although this clock, or that of the disk, may be ahead.
 */
export async function timeInFolder(folder: string, disk: Pick<Disk, "lstat">): Promise<number> {
  return Math.min(Date.now(), (await disk.lstat(folder)).mtimeMs);
}

/** The system's code of an error ("ENOSPC"); undefined if it is not a system error. */
export function systemCode(error: unknown): string | undefined {
  const isSystem = error instanceof Error && "errno" in error && "code" in error;
  return isSystem && typeof error.code === "string" ? error.code : undefined;
}

/** A property of an error of a full disk: the disk has no room for another file, whatever space it has. */
export const noInodes = Symbol("no inodes are left");

/**
 * Converts the error of a file operation to ERR_FILE; other errors are returned unchanged. `folder` is named if it is
 * the folder that is missing.
 */
export function diskError(error: unknown, path: string, facts: TransferFacts, folder = path): unknown {
  const code = systemCode(error);
  if (code === undefined) {
    return error;
  }
  const fail = (sentence: FileSentence, about: string, problem?: Problem): DimensionerError =>
    fileError(sentence, about, facts, problem, error);
  switch (code) {
    case "ENOSPC":
      return fail(
        error instanceof Error && Object.hasOwn(error, noInodes) ? "fileNoInodes" : "fileFull",
        path,
      );
    case "EDQUOT":
      return fail("fileFull", path);
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return fail("fileDenied", path);
    case "ENOENT":
      return fail("fileNoFolder", folder);
    case "ENOTDIR":
      return fail("fileNotFolder", folder);
    case "ETIMEDOUT":
      return fail("fileHung", path);
    default:
      return fail("fileOther", path, verbatim(describe(error, code)));
  }
}

type FileSentence =
  | "fileDenied"
  | "fileExists"
  | "fileFull"
  | "fileHung"
  | "fileNoFolder"
  | "fileNoInodes"
  | "fileNotFolder"
  | "fileOther"
  | "fileOutside";

/** An ERR_FILE about one path. */
export function fileError(
  sentence: FileSentence,
  path: string,
  facts: TransferFacts,
  problem?: Problem,
  cause?: unknown,
): DimensionerError {
  return new DimensionerError(
    sentence,
    { ...errorFacts(facts, "disk"), cause },
    { path, ...(problem && { problem }) },
  );
}

/** The part of a transfer's facts that an error carries. */
export function errorFacts(
  facts: TransferFacts,
  surface: Surface,
): { surface: Surface; operation: string; url?: string } {
  const { operation, url } = facts;
  return { surface, operation, ...(url === undefined ? {} : { url }) };
}

/** Throws if the transfer was aborted. */
export function throwIfAborted(facts: TransferFacts): void {
  if (facts.signal?.aborted === true) {
    throw abortError(facts);
  }
}

/** Waits for `work`, but only until the transfer is aborted: a share that hangs must not delay a deploy. */
export async function unlessAborted<T>(work: Promise<T>, facts: TransferFacts): Promise<T> {
  const { signal } = facts;
  if (signal === undefined) {
    return await work;
  }
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(abortError(facts));
    if (signal.aborted) {
      stop();
    } else {
      signal.addEventListener("abort", stop, { once: true });
    }
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** How long an aborted save is waited for while it cleans up. */
const cleanUpMs = 2_000;

/**
 * Waits for work that ends by itself when its transfer is aborted. On a disk that hangs it cannot end: some seconds
 * after the abort it is no longer waited for, and cleans up when the disk answers again.
 */
export async function endWithAbort<T>(
  work: Promise<T>,
  facts: TransferFacts,
  withinMs = cleanUpMs,
): Promise<T> {
  const { signal } = facts;
  if (signal === undefined) {
    return await work;
  }
  let stopTimer = (): void => undefined;
  let onAbort = (): void => undefined;
  const leftBehind = new Promise<never>((_resolve, reject) => {
    onAbort = () => {
      stopTimer = afterLimit(withinMs, () => reject(abortError(facts)));
    };
    if (signal.aborted) {
      onAbort();
    } else {
      signal.addEventListener("abort", onAbort, { once: true });
    }
  });
  try {
    return await Promise.race([work, leftBehind]);
  } finally {
    stopTimer();
    signal.removeEventListener("abort", onAbort);
  }
}

const unsupported: ReadonlySet<string> = new Set(["EINVAL", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"]);

/**
 * Whether an error means that the file system has no sync, like some shares. Such a system decides itself when data are
 * safe.
 */
export function cannotSync(error: unknown): boolean {
  return unsupported.has(systemCode(error) ?? "");
}

function abortError(facts: TransferFacts): DimensionerError {
  const reason: unknown = facts.signal?.reason;
  return reason instanceof DimensionerError
    ? reason
    : new DimensionerError("cancelledClose", errorFacts(facts, facts.surface));
}

function describe(error: unknown, code: string): string {
  const errno = error instanceof Error && "errno" in error ? error.errno : undefined;
  const known = typeof errno === "number" ? getSystemErrorMap().get(errno)?.[1] : undefined;
  return known === undefined ? code : `${known} (${code})`;
}
