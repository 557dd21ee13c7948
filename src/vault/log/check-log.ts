/** Compares the logs of an archive with its packages, and with the logs in the databases of its stores. */
import { join } from "node:path";
import type { Row } from "../../database/database.ts";
import type { FoundLine } from "../../database/log-table.ts";
import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import type { ArchiveNote, Finding, Unchecked } from "../../model/archive-reports.ts";
import { parseFields, recordLimits } from "../../model/parse-json.ts";
import { areTooFar } from "../../time/clocks.ts";
import { holdFileName, manifestFileName } from "../archive-disk.ts";
import { readPlain } from "../packages/package-files.ts";
import type { CheckParts, SeenPackages } from "../upkeep/seen-packages.ts";
import { loadManifestWithin, sayUnreadable } from "../walk.ts";
import type { Checkpoints } from "./checkpoints.ts";
import { type EventOf, isFoundOtherwise } from "./events.ts";
import { logParts, storesWithLog } from "./log-files.ts";
import { LogReplay, type ReplayedLog, sayLines } from "./replay.ts";

/** The log in a database. */
export interface LogInDatabase {
  /** The database's file or address. */
  readonly file: string;
  readonly store: string;
  /** How many lines it says that it has. */
  size(): Promise<number>;
  /** Its lines from a number on, some at a time. */
  lines(from: number): AsyncGenerator<readonly FoundLine[]>;
  /** Whether a job is about to note a package, or one that was killed would. */
  isKnown(one: { readonly job: string; readonly sha256: string; readonly path: string }): Promise<boolean>;
  /** Whether an upload of a job is there, or was and is not removed yet. */
  isUpload(path: string): Promise<boolean>;
}

interface LogChecks {
  /** The path of the checked folder, with a slash at the end; empty for the folder of packages itself. */
  readonly below: string;
  readonly databases: readonly LogInDatabase[];
  /** Those whose packages are elsewhere: what is here is a copy of them, whose log may end before theirs. */
  readonly originals: readonly LogInDatabase[];
  readonly unchecked: Unchecked[];
  readonly notes: ArchiveNote[];
}

/** The logs of an archive, as they are replayed before its packages are looked at, and once more afterwards if lines have come. */
export class LogCheck {
  readonly #parts: Pick<CheckParts, "disk" | "root" | "seen">;
  readonly #checkpoints: Checkpoints;
  readonly #logs: { readonly replay: LogReplay; replayed: Replayed }[] = [];
  /** Logs to which a link leads. */
  readonly #elsewhere: Finding[] = [];

  private constructor(parts: Pick<CheckParts, "disk" | "root" | "seen">, checkpoints: Checkpoints) {
    this.#parts = parts;
    this.#checkpoints = checkpoints;
  }

  /** The results have the roots for these checkpoints. */
  static async begin(
    parts: Pick<CheckParts, "disk" | "root" | "seen">,
    checkpoints: Checkpoints,
  ): Promise<LogCheck> {
    const { root, disk, seen } = parts;
    const check = new LogCheck(parts, checkpoints);
    await checkpoints.readOn();
    try {
      for (const store of await storesWithLog(root, disk)) {
        const replay = new LogReplay(root, store, disk, seen);
        await replay.readOn();
        check.#logs.push({ replay, replayed: await resultOf(replay, checkpoints) });
      }
    } catch (error) {
      if (!isDimensionerError(error) || error.sentence !== "fileOutside") {
        throw error;
      }
      check.#elsewhere.push({ kind: "log", path: logParts.join("/"), problem: error.message });
    }
    return check;
  }

  /** Checks that each log is whole, and that it is the one in its database. Returns the logs. */
  async *checkLines({
    below,
    databases,
    originals,
    unchecked,
    notes,
  }: LogChecks): AsyncGenerator<Finding, readonly ReplayedLog[]> {
    yield* this.#elsewhere;
    const hasMoreStamps = await this.#checkpoints.readOn();
    for (const one of this.#logs) {
      for (const database of [...databases, ...originals].filter(({ store }) => store === one.replay.store)) {
        yield* compareWithDatabase(one.replay, database, originals.includes(database));
      }
      // The comparison with a database reads on as well.
      const hasMore = (await one.replay.readOn()) || (await one.replay.size()) !== one.replayed.log.size;
      if (hasMore || hasMoreStamps) {
        one.replayed = await resultOf(one.replay, this.#checkpoints);
      }
      yield* one.replayed.findings;
      notes.push(...(await noteLost(one.replay)));
    }
    for (const database of databases) {
      if (this.#logs.every(({ replay }) => replay.store !== database.store)) {
        yield* sayGone(database);
      }
    }
    if (this.#logs.length === 0) {
      const problem = "whether packages are missing or were added: there is no log of this archive here";
      unchecked.push({ kind: "no-log", path: below.slice(0, -1), problem });
    }
    return this.#logs.map(({ replayed }) => replayed.log);
  }

  /**
   * Checks that each package which a log names and does not say was deleted is there as it was archived, and that no other package is. To be
   * called when all packages were seen and the lines were checked.
   */
  async *checkPackages({ below, databases, unchecked, notes }: LogChecks): AsyncGenerator<Finding> {
    if (this.#logs.length === 0) {
      return;
    }
    yield* checkUnknown(this.#parts, databases, unchecked);
    yield* checkMissing(this.#parts, below);
    yield* checkHolds(
      this.#parts,
      this.#logs.flatMap(({ replayed }) => [...replayed.log.held.values()]),
    );
    notes.push(...(await noteKept(this.#parts.seen)));
  }
}

interface Replayed {
  readonly log: ReplayedLog;
  readonly findings: readonly Finding[];
}

async function resultOf(replay: LogReplay, checkpoints: Checkpoints): Promise<Replayed> {
  const findings: Finding[] = [];
  const run = replay.run(checkpoints.sizesOf(replay.store));
  for (;;) {
    const step = await run.next();
    if (step.done === true) {
      return { log: step.value, findings };
    }
    findings.push(step.value);
  }
}

/** A file of this package is shorter, however many characters of its reason JSON has as escapes. */
const mostHoldBytes = 64 * 1024;

/** What the file says; more would be said to people only. */
const holdFields: ReadonlySet<string> = new Set(["heldAt", "person", "reason"]);

/** Packages whose file and log disagree on whether they are on hold. */
const disagreeing = `SELECT seen_order, path, has_hold FROM seen
  WHERE seen_order > ? AND has_hold <> (job IN (SELECT value FROM json_each(?)))
    AND job IN (SELECT package_id FROM logged) ORDER BY seen_order LIMIT ?`;

/** The log decides; the file is for people, who must not be told otherwise. */
async function* checkHolds(
  { seen, root, disk }: Pick<CheckParts, "disk" | "root" | "seen">,
  held: readonly EventOf<"held">[],
): AsyncGenerator<Finding> {
  for (const event of held) {
    const there = "SELECT path FROM seen WHERE job = ? AND sha256 = ? AND has_hold = 1";
    for (const row of await seen.select(there, [event.package, event.sha256])) {
      const path = String(row["path"]);
      const content = await readPlain(join(root, path, holdFileName), disk, mostHoldBytes).catch(
        () => "none",
      );
      const said = typeof content === "string" ? undefined : parseFields(content.toString(), recordLimits);
      const text = (name: string): string => {
        const value = said?.[name];
        return typeof value === "string" ? value.toWellFormed() : "";
      };
      // A name that is there twice says one thing to people and another to programs.
      const isSame =
        `${JSON.stringify(said, null, 2)}\n` === content.toString() &&
        Object.keys(said ?? {}).every((name) => holdFields.has(name)) &&
        text("reason") === event.reason &&
        text("person") === (event.person ?? "");
      if (!isSame || areTooFar(Date.parse(text("heldAt")), Date.parse(event.at))) {
        const problem = `${holdFileName} says something else than the log, which says ${event.at}: ${[event.person ?? [], event.reason].flat().join(": ")}`;
        yield { kind: "hold", path, problem };
      }
    }
  }
  for await (const row of seen.pages(disagreeing, [JSON.stringify(held.map((one) => one.package))])) {
    const problem =
      row["has_hold"] === 1
        ? `${holdFileName} is here, and the log does not say that the package is on hold: somebody has put it there, or a release was interrupted`
        : `the log says that the package is on hold, and its ${holdFileName} is gone: hold it once more, or release it`;
    yield { kind: "hold", path: String(row["path"]), problem };
  }
}

/** That a log was begun anew: what it does not say may have happened nevertheless. */
async function noteLost(replay: LogReplay): Promise<ArchiveNote[]> {
  return (await replay.lost()).map(({ at, packages }) => ({
    kind: "begun-anew",
    path: [...logParts, replay.store].join("/"),
    text: `the log was begun anew at ${at}, with ${packages === 1 ? "the 1 package" : `the ${packages} packages`} that were there: what happened before is not known`,
  }));
}

/** Packages that a log says were deleted, and that are there. */
async function noteKept(seen: SeenPackages): Promise<ArchiveNote[]> {
  const [kept] = await seen.select(
    `SELECT count(*) AS count, min(seen.path) AS path FROM seen JOIN logged ON logged.sha256 = seen.sha256
      WHERE pruned_n IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM logged AS other WHERE other.sha256 = seen.sha256 AND other.pruned_n IS NULL)`,
  );
  const count = Number(kept?.["count"]);
  if (count === 0) {
    return [];
  }
  const text =
    count === 1
      ? "1 package that the log says was deleted is here: it was brought back from a backup, or kept in this copy"
      : `${count} packages that the log says were deleted are here: they were brought back from a backup, or kept in this copy`;
  return [{ kind: "kept-here", path: String(kept?.["path"]), text }];
}

/** Packages that are not as a log says, or of which none says anything. */
const unknown = `SELECT seen_order, path, sha256, job FROM seen
  WHERE seen_order > ? AND NOT EXISTS (
    SELECT 1 FROM logged WHERE logged.sha256 = seen.sha256 AND logged.path = seen.path)
  ORDER BY seen_order LIMIT ?`;

async function* checkUnknown(
  { seen }: Pick<CheckParts, "seen">,
  databases: readonly LogInDatabase[],
  unchecked: Unchecked[],
): AsyncGenerator<Finding> {
  const waiting: string[] = [];
  for await (const row of seen.pages(unknown)) {
    const [path, sha256, job] = [String(row["path"]), String(row["sha256"]), String(row["job"])];
    const [there] = await seen.select(
      "SELECT path, sha256 FROM logged WHERE package_id = ? OR path = ? ORDER BY path = ? DESC LIMIT 1",
      [job, path, path],
    );
    if (there === undefined) {
      if (await isAny(databases, (one) => one.isKnown({ job, sha256, path }))) {
        waiting.push(path);
      } else {
        yield explainUnknown(path, sha256, there);
      }
      continue;
    }
    // Where another upload has become the package of a job, a worker or a prune removes this one.
    const isReplaced = there["path"] !== path && (await isAny(databases, (one) => one.isUpload(path)));
    if (!isReplaced) {
      yield explainUnknown(path, sha256, there);
    }
  }
  const [first] = waiting;
  if (first !== undefined) {
    const count = waiting.length === 1 ? "1 package is" : `${waiting.length} packages are`;
    const problem = `${count} not in the log yet: their jobs are at work, or were killed and the next start of their store adds the lines; or the lines were removed, which is said of the log then`;
    unchecked.push({ kind: "not-logged-yet", path: first, problem });
  }
}

async function isAny<T>(all: readonly T[], is: (one: T) => Promise<boolean>): Promise<boolean> {
  for (const one of all) {
    if (await is(one)) {
      return true;
    }
  }
  return false;
}

function explainUnknown(path: string, sha256: string, there: Row | undefined): Finding {
  if (there === undefined) {
    const problem =
      "the log does not know this package: somebody has put it there, or its store was killed when it had placed it, and the next start adds its line";
    return { kind: "not-logged", path, problem };
  }
  if (there["sha256"] === sha256) {
    const problem = `the log has this package in ${String(there["path"])}: it was moved or copied`;
    return { kind: "not-logged", path, problem };
  }
  if (String(there["path"]) !== path) {
    const problem = `the log has another package of this job, in ${String(there["path"])}: somebody has put this one there`;
    return { kind: "not-logged", path, problem };
  }
  const problem = "the manifest is not the one that the log names: it is not the one that was archived";
  return { kind: "changed", path: path === "" ? manifestFileName : `${path}/${manifestFileName}`, problem };
}

/**
 * Packages that a log names and does not say were deleted, and that were not seen as it names them. What no log knows was said of where it
 * is; what lies there instead and has a line of its own, in this log or another one, is no excuse.
 */
const missing = `SELECT package_id, path, sha256 FROM logged
  WHERE package_id > ? AND pruned_n IS NULL AND substr(path, 1, ?) = ?
    AND NOT EXISTS (SELECT 1 FROM seen WHERE seen.path = logged.path AND seen.sha256 = logged.sha256)
    AND NOT EXISTS (
      SELECT 1 FROM seen WHERE (seen.path = logged.path OR seen.sha256 = logged.sha256) AND NOT EXISTS (
        SELECT 1 FROM logged AS other WHERE other.path = seen.path AND other.sha256 = seen.sha256))
  ORDER BY package_id LIMIT ?`;

const atOnce = 500;

async function* checkMissing(
  { seen, root, disk }: Pick<CheckParts, "disk" | "root" | "seen">,
  below: string,
): AsyncGenerator<Finding> {
  for (let after = ""; ;) {
    const rows = await seen.select(missing, [after, below.length, below, atOnce]);
    for (const row of rows) {
      const path = String(row["path"]);
      // It may have got its name after the walk passed; a damaged one was reported.
      const found = await loadManifestWithin(root, `${path}/${manifestFileName}`, disk).catch(sayUnreadable);
      if (found === "none") {
        yield { kind: "missing-package", path, problem: "the package is missing and was not pruned" };
      } else if (typeof found === "object" && found.sha256 !== row["sha256"]) {
        yield explainUnknown(path, found.sha256, row);
      }
    }
    if (rows.length < atOnce) {
      return;
    }
    after = String(rows.at(-1)?.["package_id"]);
  }
}

/** Another log beside the packages, which says that it is that of another store, is no excuse for one that is gone. */
async function* sayGone(database: LogInDatabase): AsyncGenerator<Finding> {
  const count = await database.size();
  if (count > 0) {
    const lines = count === 1 ? "1 line" : `${count} lines`;
    const problem = `this log is not beside the packages, and the database ${database.file} has ${lines} of it; dimensioner rebuild puts them back`;
    yield { kind: "log", path: [...logParts, database.store].join("/"), problem };
  }
}

async function* compareWithDatabase(
  replay: LogReplay,
  database: LogInDatabase,
  isCopy: boolean,
): AsyncGenerator<Finding> {
  const say = (problem: string): Finding => ({
    kind: "log",
    path: [...logParts, replay.store].join("/"),
    problem,
  });
  // Lines may be added meanwhile: it has at least so many before they are read, and no fewer than were read afterwards.
  const least = await database.size();
  let size = 0;
  let lacking: number[] = [];
  let gap: readonly [first: number, last: number] | undefined;
  for await (const lines of database.lines(0)) {
    const [first] = await replay.differing(lines);
    if (first !== undefined) {
      yield say(
        `the line ${first} is not the one in the database ${database.file}: one of the two was changed`,
      );
    }
    const other = lines.find(isFoundOtherwise);
    if (other !== undefined) {
      yield say(
        `in the database ${database.file}, the columns by which the line ${other.n} is found do not agree with it: they were changed; dimensioner rebuild puts them right`,
      );
    }
    lacking.push(...(await replay.lacking(lines.map(({ n }) => n))));
    for (const { n } of lines) {
      gap ??= n === size ? undefined : [size, n - 1];
      size = n + 1;
    }
  }
  if (size < least || (await database.size()) < size) {
    yield say(
      `the database ${database.file} says that the log has ${least} lines, and has ${size}: the last ones were removed, or the number was changed`,
    );
  }
  if (gap !== undefined) {
    yield say(
      sayLines(
        ...gap,
        `missing in the database ${database.file}; dimensioner rebuild puts back what is beside the packages`,
      ),
    );
  }
  if (isCopy) {
    lacking = [];
  }
  if (lacking.length > 0) {
    // What was written meanwhile may be beside the packages by now.
    await replay.readOn();
    lacking = [...(await replay.lacking(lacking))];
  }
  const [first] = lacking;
  if (first !== undefined) {
    const what =
      "in the database and not beside the packages: somebody has removed what is missing there, or a kill has interrupted the writing; dimensioner rebuild puts it back, and after a kill the next start of the store does";
    yield say(sayLines(first, lacking.at(-1) ?? first, what));
  }
  const there = await replay.size();
  if (there > size) {
    const problem = `the database is an older copy: the log beside the packages has ${there - size} more lines`;
    yield { kind: "database", path: database.file, problem };
  }
}
