/** Compares the logs of an archive with its packages, and with the logs in the databases of its stores. */
import type { Row } from "../../database/database.ts";
import type { LogLine } from "../../database/log-table.ts";
import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import type { ArchiveNote, Finding, Unchecked } from "../../model/archive-reports.ts";
import { manifestFileName } from "../archive-disk.ts";
import type { CheckParts, SeenPackages } from "../seen-packages.ts";
import { loadManifestWithin, sayUnreadable } from "../walk.ts";
import { logParts, storesWithLog } from "./log-files.ts";
import { LogReplay, type ReplayedLog, sayLines } from "./replay.ts";

/** The log in a database. */
export interface LogInDatabase {
  /** The database's file or address. */
  readonly file: string;
  readonly store: string;
  /** Its lines from a number on, some at a time. */
  lines(from: number): AsyncGenerator<readonly LogLine[]>;
}

interface LogChecks {
  /** The path of the checked folder, with a slash at the end; empty for the folder of packages itself. */
  readonly below: string;
  readonly databases: readonly LogInDatabase[];
  readonly unchecked: Unchecked[];
  readonly notes: ArchiveNote[];
}

/** The logs of an archive, as they are replayed before its packages are looked at, and once more afterwards if lines have come. */
export class LogCheck {
  readonly #parts: Pick<CheckParts, "disk" | "root" | "seen">;
  readonly #logs: { readonly replay: LogReplay; replayed: Replayed }[] = [];
  /** Logs to which a link leads. */
  readonly #elsewhere: Finding[] = [];

  private constructor(parts: Pick<CheckParts, "disk" | "root" | "seen">) {
    this.#parts = parts;
  }

  static async begin(parts: Pick<CheckParts, "disk" | "root" | "seen">): Promise<LogCheck> {
    const { root, disk, seen } = parts;
    const check = new LogCheck(parts);
    try {
      for (const store of await storesWithLog(root, disk)) {
        const replay = new LogReplay(root, store, disk, seen);
        await replay.readOn();
        check.#logs.push({ replay, replayed: await resultOf(replay) });
      }
    } catch (error) {
      if (!isDimensionerError(error) || error.sentence !== "fileOutside") {
        throw error;
      }
      check.#elsewhere.push({ kind: "log", path: logParts.join("/"), problem: error.message });
    }
    return check;
  }

  /**
   * Checks that each log is whole, that it is the one in its database, that each package which it names and does not say was deleted is
   * there as it was archived, and that no other package is. To be called when all packages were seen. Returns the logs.
   */
  async *run({
    below,
    databases,
    unchecked,
    notes,
  }: LogChecks): AsyncGenerator<Finding, readonly ReplayedLog[]> {
    yield* this.#elsewhere;
    for (const one of this.#logs) {
      for (const database of databases.filter(({ store }) => store === one.replay.store)) {
        yield* compareWithDatabase(one.replay, database);
      }
      if (await one.replay.readOn()) {
        one.replayed = await resultOf(one.replay);
      }
      yield* one.replayed.findings;
      notes.push(...(await noteLost(one.replay)));
    }
    if (this.#logs.length === 0) {
      const problem = "whether packages are missing or were added: there is no log of this archive here";
      unchecked.push({ kind: "no-log", path: below.slice(0, -1), problem });
      return [];
    }
    yield* checkUnknown(this.#parts);
    yield* checkMissing(this.#parts, below);
    notes.push(...(await noteKept(this.#parts.seen)));
    return this.#logs.map(({ replayed }) => replayed.log);
  }
}

interface Replayed {
  readonly log: ReplayedLog;
  readonly findings: readonly Finding[];
}

async function resultOf(replay: LogReplay): Promise<Replayed> {
  const findings: Finding[] = [];
  const run = replay.run([]);
  for (;;) {
    const step = await run.next();
    if (step.done === true) {
      return { log: step.value, findings };
    }
    findings.push(step.value);
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
      ? "1 package that was deleted because of its age is here: it was brought back from a backup, or kept in this copy"
      : `${count} packages that were deleted because of their age are here: they were brought back from a backup, or kept in this copy`;
  return [{ kind: "kept-here", path: String(kept?.["path"]), text }];
}

/** Packages that are not as a log says, or of which none says anything. */
const unknown = `SELECT seen_order, path, sha256, job FROM seen
  WHERE seen_order > ? AND NOT EXISTS (
    SELECT 1 FROM logged WHERE logged.sha256 = seen.sha256 AND logged.path = seen.path)
  ORDER BY seen_order LIMIT ?`;

async function* checkUnknown({ seen }: Pick<CheckParts, "seen">): AsyncGenerator<Finding> {
  for await (const row of seen.pages(unknown)) {
    const [path, sha256] = [String(row["path"]), String(row["sha256"])];
    const [there] = await seen.select(
      "SELECT path, sha256 FROM logged WHERE package_id = ? OR path = ? LIMIT 1",
      [String(row["job"]), path],
    );
    yield explainUnknown(path, sha256, there);
  }
}

function explainUnknown(path: string, sha256: string, there: Row | undefined): Finding {
  if (there === undefined) {
    const problem =
      "the log does not know this package: somebody has put it there, or it was placed a moment ago and the next start of its store adds its line";
    return { kind: "not-logged", path, problem };
  }
  if (there["sha256"] === sha256) {
    const problem = `the log has this package in ${String(there["path"])}: it was moved or copied`;
    return { kind: "not-logged", path, problem };
  }
  const problem = "the manifest is not the one that the log names: it is not the one that was archived";
  return { kind: "changed", path: path === "" ? manifestFileName : `${path}/${manifestFileName}`, problem };
}

/** Packages that a log names and does not say were deleted, and that were not seen where it has them. */
const missing = `SELECT package_id, path, sha256 FROM logged
  WHERE package_id > ? AND pruned_n IS NULL AND substr(path, 1, ?) = ? AND NOT EXISTS (
    SELECT 1 FROM seen WHERE seen.path = logged.path)
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

async function* compareWithDatabase(replay: LogReplay, database: LogInDatabase): AsyncGenerator<Finding> {
  const say = (problem: string): Finding => ({
    kind: "log",
    path: [...logParts, replay.store].join("/"),
    problem,
  });
  let size = 0;
  let lacking: number[] = [];
  for await (const lines of database.lines(0)) {
    const [first] = await replay.differing(lines);
    if (first !== undefined) {
      yield say(
        `the line ${first} is not the one in the database ${database.file}: one of the two was changed`,
      );
    }
    lacking.push(...(await replay.lacking(lines.map(({ n }) => n))));
    size = (lines.at(-1)?.n ?? -1) + 1;
  }
  if (lacking.length > 0) {
    // What was written meanwhile may be beside the packages by now.
    await replay.readOn();
    lacking = [...(await replay.lacking(lacking))];
  }
  const [first] = lacking;
  if (first !== undefined) {
    const what =
      "in the database and not beside the packages: the next start of the store puts back what a kill has interrupted";
    yield say(sayLines(first, lacking.at(-1) ?? first, what));
  }
  const there = await replay.size();
  if (there > size) {
    const problem = `the database is an older copy: the log beside the packages has ${there - size} more lines`;
    yield { kind: "database", path: database.file, problem };
  }
}
