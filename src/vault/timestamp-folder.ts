import type { X509Certificate } from "node:crypto";
import { join } from "node:path";
import * as v from "valibot";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { ProblemError, phrase, problemOf } from "../errors/interpolation.ts";
import { recordLimits } from "../model/parse-json.ts";
import { jsonText } from "../model/json-text.ts";
import { sha256Of } from "../model/sha256.ts";
import { type ReadDisk, exists, namesIn, plainDisk, stateFolderName } from "./archive-disk.ts";
import type { ArchiveFiles } from "./files/archive-files.ts";
import { decodeLine, readLog } from "./files/checked-lines.ts";
import { openPlain } from "./packages/package-files.ts";
import { readPem } from "./timestamp/pem.ts";

/** The folder of the time stamps, in the archive's own folder and in an export. */
export const timestampsName = "timestamps";
export const timestampLogName = "timestamps.jsonl";
const timestampFiles = {
  about: "timestamp.json",
  request: "request.tsq",
  response: "response.tsr",
} as const;
/** The files are much smaller; a longer one is damage, and must not fill the memory. */
const mostBytes = 512 * 1024;

const aboutFile = v.object({
  schemaVersion: v.literal(1),
  /** The package whose manifest was time-stamped: its folder below the folder of packages, with slashes. */
  package: v.string(),
  manifestSha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  /** The store that has archived the package; null for packages of version 0.1. */
  store: v.nullable(v.string()),
  /** When the package was archived: ISO 8601, UTC, by the computer's clock, as the next two. */
  archived: v.string(),
  requested: v.string(),
  received: v.string(),
  /** The address of the server, without credentials. */
  server: v.string(),
});

const aboutText = v.pipe(jsonText(recordLimits), aboutFile);

/** What is written beside a time stamp, for people and to find it; nothing of it is signed. */
export type AboutTimestamp = Omit<v.InferOutput<typeof aboutFile>, "schemaVersion">;

/** A time stamp as it is kept. */
export interface KeptTimestamp {
  /** The name of its folder, which begins with the time at which it was received. */
  readonly name: string;
  readonly about: AboutTimestamp;
  /** The exact request and response. */
  readonly request: Buffer;
  readonly response: Buffer;
}

const logLine = v.object({
  at: v.string(),
  timestamp: v.string(),
  package: v.string(),
  response: v.string(),
});

/** A line of the log of all time stamps. */
export type LoggedTimestamp = v.InferOutput<typeof logLine>;

/** The path of a time stamp below the folder of packages, with slashes. */
export function locationOf(name: string): string {
  return `${stateFolderName}/${timestampsName}/${name}`;
}

/** The names and contents of the files of a time stamp. In a bucket the last one comes last. */
export function filesOfTimestamp({ about, request, response }: KeptTimestamp): readonly [string, Buffer][] {
  const text = `${JSON.stringify({ schemaVersion: 1, ...about }, null, 2)}\n`;
  return [
    [timestampFiles.request, request],
    [timestampFiles.response, response],
    [timestampFiles.about, Buffer.from(text)],
  ];
}

/** The time in the name of a time stamp that was received then; names sort by it. */
export function timeOf(iso: string): string {
  return iso.replaceAll(/[:.-]/g, "");
}

/**
 * The time stamps of an archive: a folder for each, in the archive's own folder, with the exact request and response.
 * A folder gets its name when it is complete, or in a bucket its last file comes last, and it is never changed. A log has the
 * hash of each response.
 */
export class TimestampFolder {
  readonly #state: string;
  readonly #folder: string;
  readonly #disk: ReadDisk;

  /** `state` is the folder in which they are: the archive's own, or that of an extracted export. */
  constructor(root: string, disk: ReadDisk, state = join(root, stateFolderName)) {
    this.#state = state;
    this.#folder = join(state, timestampsName);
    this.#disk = disk;
  }

  /** Whether there are time stamps, or there have been some. */
  async hasAny(): Promise<boolean> {
    return (
      (await exists(this.#folder, this.#disk)) ||
      (await exists(join(this.#state, timestampLogName), this.#disk))
    );
  }

  /** The names of all time stamps, the earliest first. */
  async names(): Promise<string[]> {
    const names = await namesIn(this.#folder, this.#disk);
    return names.filter((name) => !name.startsWith(".")).sort();
  }

  /** Reads a time stamp; undefined if its files are missing, or `timestamp.json` cannot be read. */
  async read(name: string): Promise<KeptTimestamp | undefined> {
    const read = (file: string): Promise<Buffer | undefined> =>
      this.#readFile(join(this.#folder, name, file));
    const [text, request, response] = [
      await read(timestampFiles.about),
      await read(timestampFiles.request),
      await read(timestampFiles.response),
    ];
    const about = v.safeParse(aboutText, text?.toString());
    return about.success && request !== undefined && response !== undefined
      ? { name, about: about.output, request, response }
      : undefined;
  }

  /**
   * Whether the last file of a time stamp is missing. If the log does not name it, it was interrupted on its way to a bucket,
   * and was never a time stamp.
   */
  async isUnfinished(name: string): Promise<boolean> {
    return !(await exists(join(this.#folder, name, timestampFiles.about), this.#disk));
  }

  /**
   * The lines of the log; one with a wrong checksum is skipped. `onChanged` is called for such a line if it has an end: one
   * without an end was interrupted while it was written, and its time stamp is kept.
   */
  async *logged(onChanged?: () => void): AsyncGenerator<LoggedTimestamp> {
    for await (const text of readLog(join(this.#state, timestampLogName), this.#disk)) {
      const decoded = decodeLine(text);
      const line = v.safeParse(logLine, decoded);
      if (line.success) {
        yield line.output;
      } else if (decoded === undefined && text.endsWith("}")) {
        onChanged?.();
      }
    }
  }

  async #readFile(path: string): Promise<Buffer | undefined> {
    const file = await openPlain(path, this.#disk);
    if (file === undefined) {
      return undefined;
    }
    try {
      const { size } = await file.stat();
      return size > mostBytes ? undefined : await file.readFile();
    } finally {
      await file.close();
    }
  }
}

/**
 * Keeps a time stamp in the archive's own folder; resolves when that is durable. Throws ERR_STORE or the system's error; then
 * nothing is kept, or in a bucket what `isUnfinished` finds.
 */
export async function keepTimestamp(files: ArchiveFiles, kept: KeptTimestamp): Promise<void> {
  const { name, about, response } = kept;
  const state = join(files.root, stateFolderName);
  await files.writeFolder(join(state, timestampsName, name), filesOfTimestamp(kept));
  // Only now: a line without its time stamp is reported as a loss.
  const line = {
    at: about.received,
    timestamp: name,
    package: about.package,
    response: sha256Of(response),
  };
  await files.addToLog(join(state, timestampLogName), [line satisfies LoggedTimestamp]);
}

/** A list of all roots of the web has a quarter of this. */
const mostRootBytes = 1024 * 1024;

/**
 * Reads the file of the root certificates that signers are checked against; none if the path is blank. Throws
 * ERR_CONFIG if it has none, or cannot be read.
 */
export async function readRoots(path: string | undefined): Promise<readonly X509Certificate[]> {
  if (path === undefined || path.trim() === "") {
    return [];
  }
  try {
    const roots = readPem(await readText(path));
    if (roots.length === 0) {
      throw new ProblemError(phrase("timestampNoRoot"));
    }
    return roots;
  } catch (cause) {
    const facts = { surface: "config", operation: "timestamp", cause } as const;
    throw new DimensionerError("timestampRoots", facts, { path, problem: problemOf(cause) });
  }
}

async function readText(path: string): Promise<string> {
  const file = await openPlain(path, plainDisk);
  if (file === undefined) {
    throw new ProblemError(phrase("fileNone"));
  }
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(mostRootBytes), 0, mostRootBytes, 0);
    return buffer.toString("latin1", 0, bytesRead);
  } finally {
    await file.close();
  }
}
