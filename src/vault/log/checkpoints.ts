import { systemCode } from "../../media/disk.ts";
import type { Finding, Unchecked } from "../../model/archive-reports.ts";
import { plainDisk } from "../archive-disk.ts";
import { readPlain } from "../packages/package-files.ts";
import type { ReadTimestamp, TimestampFolder } from "../timestamp/timestamp-folder.ts";
import { sayUnreadable } from "../walk.ts";
import { type Checkpoint, findCheckpoints } from "./events.ts";
import type { ReplayedLog } from "./replay.ts";

/** A checkpoint has 120 bytes: one of each night of twenty years, or an e-mail. */
const mostBytes = 1024 * 1024;

/** The checkpoints with which the logs of an archive are compared: those of its time stamps, and those that somebody has kept elsewhere. */
export class Checkpoints {
  /** What the time stamps are of, by their names; undefined for one that cannot be read. */
  readonly timestamps = new Map<string, Checkpoint | undefined>();
  readonly #folder: TimestampFolder;
  readonly #given: readonly GivenCheckpoint[];

  private constructor(folder: TimestampFolder, given: readonly GivenCheckpoint[]) {
    this.#folder = folder;
    this.#given = given;
  }

  /** `files`: those with the checkpoints that somebody has kept. What is none is said by `check`. */
  static async read(folder: TimestampFolder, files: readonly string[]): Promise<Checkpoints> {
    return new Checkpoints(folder, (await Promise.all(files.map(readGiven))).flat());
  }

  /** Reads the time stamps that have come since. To be called before the lines of the log are read that they sign. */
  async readOn(): Promise<boolean> {
    const names = (await this.#folder.names()).filter((name) => this.timestamps.get(name) === undefined);
    let hasMore = false;
    for (const name of names) {
      const read = await this.#folder.readCheckpoint(name);
      hasMore ||= read !== undefined;
      this.timestamps.set(name, read);
    }
    return hasMore;
  }

  /** Of which numbers of lines of a store's log the roots are needed. */
  sizesOf(store: string): Set<number> {
    const all = [...this.timestamps.values(), ...this.#given.map(({ checkpoint }) => checkpoint)];
    return new Set(all.flatMap((one) => (one?.store === store ? [one.size] : [])));
  }

  read(name: string): Promise<ReadTimestamp | undefined> {
    return this.#folder.read(name);
  }

  isUnfinished(name: string): Promise<boolean> {
    return this.#folder.isUnfinished(name);
  }

  /** Compares the logs with what somebody has kept. What no log is here for is added to `unchecked`. */
  *check(logs: readonly ReplayedLog[], unchecked: Unchecked[]): Generator<Finding> {
    for (const { file, checkpoint, problem } of this.#given) {
      const log = logs.find(({ store }) => store === checkpoint?.store);
      const open =
        checkpoint === undefined
          ? `the checkpoint: ${problem}`
          : `the checkpoint: it is of the store ${checkpoint.store}, whose log is not here`;
      if (checkpoint === undefined || log === undefined) {
        unchecked.push({ kind: "checkpoint", path: file, problem: open });
        continue;
      }
      const differs = compareCheckpoint(checkpoint, log);
      if (differs !== undefined) {
        yield {
          kind: "checkpoint",
          path: file,
          problem: `the log does not agree with this checkpoint: ${differs}`,
        };
      }
    }
  }
}

/** What of a log does not agree with a checkpoint of it; undefined if all does. */
export function compareCheckpoint(
  { size, root }: Pick<Checkpoint, "root" | "size">,
  log: ReplayedLog,
): string | undefined {
  const there = log.roots.get(size);
  if (there?.equals(root) === true) {
    return undefined;
  }
  if (size > log.size) {
    return `it is of ${size} lines of the log, which has only ${log.size}: its last lines were cut off`;
  }
  return there === undefined
    ? `it is of ${size} lines of the log, and some of them are missing`
    : `one of the first ${size} lines of the log was changed, or exchanged, since`;
}

interface GivenCheckpoint {
  readonly file: string;
  readonly checkpoint: Checkpoint | undefined;
  /** Why there is none. */
  readonly problem: string;
}

/** All checkpoints in a file: people add one each night, or keep the e-mail in which one was sent or answered. */
async function readGiven(path: string): Promise<GivenCheckpoint[]> {
  const none = (problem: string): GivenCheckpoint => ({ file: path, checkpoint: undefined, problem });
  const isNone = none("this is not a checkpoint of a store");
  try {
    const content = await readPlain(path, plainDisk, mostBytes);
    if (typeof content === "string") {
      return [
        content === "none" ? none("there is no such file, or it is a link or no regular file") : isNone,
      ];
    }
    const found = findCheckpoints(textOf(content));
    return found.length === 0
      ? [isNone]
      : found.map((checkpoint) => (checkpoint === undefined ? isNone : { ...isNone, checkpoint }));
  } catch (error) {
    if (systemCode(error) === undefined) {
      throw error;
    }
    return [none(sayUnreadable(error))];
  }
}

/** The text of a file: what PowerShell writes with `>` is UTF-16. */
function textOf(content: Buffer): string {
  return new TextDecoder(content[0] === 0xff && content[1] === 0xfe ? "utf-16le" : "utf-8").decode(content);
}
