import type { Database, Row } from "../../database/database.ts";
import { ToolThread } from "../../database/tool-database.ts";
import { VerificationTable, type VerifiedPackage } from "../../database/verification-table.ts";
import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import {
  type ArchiveNote,
  type ArchiveProgress,
  type CheckedLog,
  type Finding,
  type PackageFinding,
  type Unchecked,
  type VerifiedPart,
  type VerifyReport,
  packageFindingKinds,
} from "../../model/archive-reports.ts";
import type { VaultLocation } from "../store.ts";
import type { Vault } from "../vault.ts";
import { IndexReader, findDatabases, isOfPlace, openForTool } from "../index-reader.ts";
import { LogCheck } from "../log/check-log.ts";
import { Checkpoints } from "../log/checkpoints.ts";
import { readEvent } from "../log/events.ts";
import { prunedOf, wasPruned } from "../log/log-state.ts";
import { type ProvenLine, type ProvenPackage, archivedLines, withNumbers } from "../log/package-proof.ts";
import { type OpenedScope, openScope } from "../open-vault.ts";
import { manifestFileName } from "../archive-disk.ts";
import { readIndexed } from "../packages/package-index.ts";
import { TimeNotes } from "../packages/package-times.ts";
import { SeenPackages } from "./seen-packages.ts";
import { timestampsOf } from "../timestamp/timestamp-folder.ts";
import {
  type CheckedTotals,
  type VerifyOptions,
  checkCovered,
  checkIndexed,
  diskFor,
  verdictOf,
} from "./verify.ts";
import { inParallel, loadManifestWithin, sayUnreadable } from "../walk.ts";

/** How many packages are taken at a time: their verifications are noted together. */
const takenAtOnce = 64;
/** So many packages that were damaged before, and were not verified again, are said one by one. */
const mostSaid = 20;

/** A store, opened to verify some of its packages. */
interface OpenStore {
  readonly file: string;
  readonly store: string;
  /** Reads the log only. */
  readonly index: IndexReader;
  readonly database: Database;
  readonly table: VerificationTable;
}

interface ScrubOptions extends VerifyOptions {
  /** For how long packages are verified. */
  readonly forMs: number;
}

/**
 * Verifies packages of a store for a limited time: those that were damaged before, and those whose last verification is the oldest. It goes
 * on where the last run has ended, also one that was killed, and shares the work with others that run at the same time. The log is checked
 * as a whole. When each package was verified is noted in the database; the packages are only read.
 */
export class Scrub {
  readonly #folder: string | VaultLocation;
  readonly #options: ScrubOptions;
  readonly #totals: CheckedTotals = { packages: 0, files: 0, bytes: 0, incomplete: 0 };
  readonly #unchecked: Unchecked[] = [];
  readonly #notes: ArchiveNote[] = [];
  #logs: readonly CheckedLog[] = [];
  readonly #timeNotes = new TimeNotes(this.#notes);
  #expected: number | null = null;
  #part: VerifiedPart = { oldestAtUtc: null, never: 0 };

  constructor(folder: string | VaultLocation, options: ScrubOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  progress(): ArchiveProgress {
    const { packages, bytes } = this.#totals;
    return { packages, bytes, expectedPackages: null, expectedBytes: null };
  }

  /** The result, after `run` has ended with this number of findings. */
  report(findings: number): VerifyReport {
    const [unchecked, notes] = [this.#unchecked, this.#notes];
    const verdict = verdictOf(findings, unchecked);
    return {
      verdict,
      findings,
      unchecked,
      notes,
      logs: this.#logs,
      ...this.#totals,
      expected: this.#expected,
      part: this.#part,
    };
  }

  async *run(): AsyncGenerator<Finding> {
    const endsAt = performance.now() + this.#options.forMs;
    const scope = await openScope(this.#folder, this.#options);
    const thread = new ToolThread();
    const stores: OpenStore[] = [];
    try {
      await this.#openAll(scope, thread, stores);
      yield* this.#checkLog(scope, thread, stores);
      for (const store of stores) {
        yield* checkListed(scope, store);
      }
      const begun = new Date().toISOString();
      const files = { root: scope.root, disk: diskFor(scope, this.#options) };
      const { worksAtOnce } = scope.vault;
      for (const { table } of stores) {
        await table.forgetFuture(Date.parse(begun));
        await table.addNew();
      }
      // What is damaged must not use up the time of all others.
      const halfAt = (performance.now() + endsAt) / 2;
      yield* this.#checkTaken("damaged", stores, { vault: files, worksAtOnce, begun, endsAt: halfAt });
      yield* this.#checkTaken("oldest", stores, { vault: files, worksAtOnce, begun, endsAt });
      this.#timeNotes.end();
      yield* sayDamaged(stores, begun);
      await this.#count(stores);
    } finally {
      for (const { index, database } of stores) {
        await Promise.all([index.close(), database.close()]);
      }
      await thread.close();
      await scope.close();
    }
  }

  async #openAll(scope: OpenedScope, thread: ToolThread, stores: OpenStore[]): Promise<void> {
    const { databases = [] } = this.#options;
    const { key, location } = scope;
    const leave = (path: string, problem: string): void =>
      void this.#unchecked.push({ kind: "database", path, problem });
    if (scope.start !== scope.root) {
      leave("", "a part of an archive is not verified for a limited time: name the whole archive");
      return;
    }
    if (databases.length === 0) {
      leave("", "which packages are next: only the store's database knows it. Specify it with --database");
    }
    for (const given of databases) {
      try {
        for (const file of await findDatabases(given, { key, name: location }, thread)) {
          const problem = await openStore(
            file,
            { key, isOwn: typeof this.#folder !== "string" },
            thread,
            stores,
          );
          if (problem !== undefined) {
            leave(file, problem);
          }
        }
      } catch (error) {
        leave(given, isDimensionerError(error) ? error.message : sayUnreadable(error));
      }
    }
  }

  /** The log, whole: it is small, and says which packages there are. */
  async *#checkLog(
    { root, disk: slow, ...scope }: OpenedScope,
    thread: ToolThread,
    stores: readonly OpenStore[],
  ): AsyncGenerator<Finding> {
    const disk = diskFor({ disk: slow }, this.#options);
    const seen = await SeenPackages.open(thread);
    try {
      const checkpoints = await Checkpoints.read(
        timestampsOf({ root, disk }),
        this.#options.checkpoints ?? [],
      );
      const [unchecked, notes] = [this.#unchecked, this.#notes];
      const databases = stores.map(({ index }) => index);
      const logs = scope.hasState ? await LogCheck.begin({ root, disk, seen }, checkpoints) : undefined;
      const replayed =
        logs === undefined
          ? []
          : yield* logs.checkLines({ below: "", databases, originals: [], unchecked, notes });
      yield* checkpoints.check(replayed, unchecked);
      const { timestampRoots } = this.#options;
      this.#logs = yield* checkCovered({ logs: replayed, checkpoints, seen, unchecked }, timestampRoots);
    } finally {
      await seen.close();
    }
  }

  /** Verifies what is taken until nothing is left or the time is over, always of the store whose next package is the oldest; at least one. */
  async *#checkTaken(
    which: "damaged" | "oldest",
    stores: readonly OpenStore[],
    run: Run,
  ): AsyncGenerator<Finding> {
    while (!this.#isOver(run)) {
      const heads = await Promise.all(
        stores.map(async (store) => ({ store, head: await store.table.headOf(which, run.begun) })),
      );
      const [next] = heads
        .flatMap(({ store, head }) => (head === undefined ? [] : [{ store, head }]))
        .toSorted((one, other) => (one.head < other.head ? -1 : 1));
      if (next === undefined) {
        return;
      }
      const { table } = next.store;
      const rows =
        which === "damaged"
          ? await table.takeDamaged(run.begun, takenAtOnce)
          : await table.takeOldest(run.begun, takenAtOnce);
      yield* this.#checkRows(next.store, rows, run);
    }
  }

  #isOver({ endsAt }: Run): boolean {
    return performance.now() >= endsAt && this.#totals.packages > 0;
  }

  async *#checkRows({ database, table }: OpenStore, rows: readonly Row[], run: Run): AsyncGenerator<Finding> {
    const lines = await archivedLines(database, rows.map(idOf));
    const numbered = await withNumbers(database, rows);
    const done: VerifiedPackage[] = [];
    const left = new Set(rows.map(orderOf));
    try {
      const check = async (row: Row): Promise<readonly PackageFinding[]> => {
        this.#options.signal?.throwIfAborted();
        if (this.#isOver(run)) {
          return [];
        }
        const one = numbered.get(idOf(row)) ?? { row, numbers: [] };
        const findings = await this.#checkRow(one, lines.get(idOf(row)) ?? null, run);
        if (findings.length > 0 && (await prunedOf(database, [idOf(row)])).size > 0) {
          // It was deleted, and its row goes next: it stays taken, or it would be the next one again.
          this.#totals.packages -= 1;
          left.delete(orderOf(row));
          return [];
        }
        done.push({ order: orderOf(row), finding: findings[0]?.kind ?? null });
        left.delete(orderOf(row));
        return findings;
      };
      for await (const findings of inParallel(rows, run.worksAtOnce, check)) {
        yield* findings;
      }
    } finally {
      const now = new Date().toISOString();
      await table.note(done, now > run.begun ? now : run.begun);
      await table.release([...left]);
    }
  }

  async #checkRow(
    one: Pick<ProvenPackage, "numbers" | "row">,
    line: ProvenLine | null,
    { vault }: Run,
  ): Promise<PackageFinding[]> {
    const proof = { line, later: [], first: null, newest: null, findings: [] };
    const findings: PackageFinding[] = [];
    const proven = { ...readIndexed(one.row), ...one, proof };
    const checked = checkIndexed(vault, proven, this.#totals, this.#options.signal, (times) =>
      this.#timeNotes.add(proven.path, times),
    );
    for await (const finding of checked) {
      findings.push(finding);
    }
    return findings;
  }

  async #count(stores: readonly OpenStore[]): Promise<void> {
    const states = await Promise.all(stores.map(({ table }) => table.state()));
    const counts = await Promise.all(stores.map(({ database }) => countPackages(database)));
    this.#expected = stores.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0);
    this.#part = {
      oldestAtUtc: states.flatMap(({ oldestAt }) => oldestAt ?? []).toSorted()[0] ?? null,
      never: states.reduce((sum, { never }) => sum + never, 0),
    };
  }
}

/** What all steps of one run use. */
interface Run {
  readonly vault: Pick<Vault, "disk" | "root">;
  readonly worksAtOnce: number;
  /** When the run has begun (ISO 8601, UTC): what was verified since then is done. */
  readonly begun: string;
  /** By `performance.now()`. */
  readonly endsAt: number;
}

/** Opens a store; returns why its packages cannot be verified in parts. */
async function openStore(
  file: string,
  { key, isOwn }: { readonly key: string; readonly isOwn: boolean },
  thread: ToolThread,
  stores: OpenStore[],
): Promise<string | undefined> {
  const index = await IndexReader.open(file, thread);
  try {
    if (!(await isOfPlace(index, key, isOwn))) {
      await index.close();
      return `which packages are next: the store of this database last used ${index.folder}, and it notes only when those packages were verified. Verify this copy without a limit of time`;
    }
    const database = await openForTool(file, "write", thread);
    stores.push({ file, store: index.store, index, database, table: new VerificationTable(database) });
    return undefined;
  } catch (error) {
    await index.close();
    throw error;
  }
}

/** Packages that the log names and the index does not: no run would come to them. An index that was made again does not list what was gone. */
async function* checkListed(
  { root, disk }: Pick<OpenedScope, "disk" | "root">,
  { database, file }: OpenStore,
): AsyncGenerator<Finding> {
  const [rows = []] = await database.transaction([
    {
      sql: `SELECT line FROM log AS one WHERE what = 'archived' AND NOT (${wasPruned("one.package_id")})
        AND NOT EXISTS (SELECT 1 FROM packages WHERE packages.package_id = one.package_id) ORDER BY n LIMIT ?`,
      values: [mostSaid + 1],
    },
  ]);
  for (const { line } of rows.slice(0, mostSaid)) {
    const event = readEvent(String(line));
    if (event?.what === "archived") {
      const { path } = event;
      const found = await loadManifestWithin(root, `${path}/${manifestFileName}`, disk).catch(sayUnreadable);
      yield found === "none"
        ? { kind: "missing-package", path, problem: "the package is missing and was not pruned" }
        : {
            kind: "unlisted",
            path,
            problem: "the log names this package, and the index does not list it: verify the whole archive",
          };
    }
  }
  if (rows.length > mostSaid) {
    const problem = "the log names more packages that the index does not list: verify the whole archive";
    yield { kind: "unlisted", path: file, problem };
  }
}

/** Packages that were damaged when they were last verified stay a finding, also where there was no time to verify them again. */
async function* sayDamaged(stores: readonly OpenStore[], begun: string): AsyncGenerator<Finding> {
  for (const { file, table } of stores) {
    const rows = await table.damaged(begun, mostSaid + 1);
    for (const { location, verified_at: at, finding } of rows.slice(0, mostSaid)) {
      const problem = `it was damaged when it was last verified (${String(at)}), and there was no time to verify it again`;
      yield {
        kind: packageFindingKinds.find((kind) => kind === finding) ?? "changed",
        path: String(location),
        problem,
      };
    }
    if (rows.length > mostSaid) {
      const { damaged } = await table.state();
      const problem = `${damaged} packages of this store were damaged when they were last verified, and not all of them were verified again`;
      yield { kind: "database", path: file, problem };
    }
  }
}

async function countPackages(database: Database): Promise<number> {
  const [[row] = []] = await database.transaction([{ sql: "SELECT count(*) AS count FROM packages" }]);
  return Number(row?.["count"]);
}

function idOf(row: Row): string {
  return String(row["package_id"]);
}

function orderOf(row: Row): number {
  return Number(row["indexed_order"]);
}
