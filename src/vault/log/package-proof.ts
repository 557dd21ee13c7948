/**
 * What proves a package: its row in the index, its lines in the log, and the ways from these lines to checkpoints that a time stamp signs.
 * It is read from the database at once and handed to a thread that reads the package, so all of it can be copied.
 */
import type { X509Certificate } from "node:crypto";
import { type Database, type Row, marksFor } from "../../database/database.ts";
import type { PackageFinding } from "../../model/archive-reports.ts";
import { sha256Of } from "../../model/sha256.ts";
import type { Vault } from "../vault.ts";
import { type IndexedPackage, wordsOfNumbers } from "../packages/package-index.ts";
import {
  type KeptTimestamp,
  type ReadTimestamp,
  locationOf,
  readRoots,
  timestampsOf,
} from "../timestamp/timestamp-folder.ts";
import type { VerifiedTimestamp } from "../timestamp/verify.ts";
import { type EventOf, type LogEvent, readEvent } from "./events.ts";
import { namedOf } from "./log-state.ts";
import { leafHash, rootByPath, LogTree } from "./tree.ts";

/** A package of the index with what proves it. */
export interface ProvenPackage extends IndexedPackage {
  /** All columns of its row. */
  readonly row: Row;
  /** Those that the log says were added to it, in their order. */
  readonly numbers: readonly string[];
  readonly proof: PackageProof;
}

export interface PackageProof extends Cover {
  /** Its line in the log, with what it says; null if the log does not know the package. */
  readonly line: ProvenLine | null;
  /** What happened to it since: its other lines, in their order. */
  readonly later: readonly LaterLine[];
  /** What is wrong with time stamps that should cover it. */
  readonly findings: readonly PackageFinding[];
}

/** The earliest valid time stamp behind a line of the log, and the newest one; null if none covers it. */
interface Cover {
  readonly first: StampProof | null;
  readonly newest: StampProof | null;
}

/** A line of the log about a package that was archived before: of a hold, a number that was added, or a deletion that did not take place. */
export interface LaterLine extends Cover {
  readonly n: number;
  readonly text: string;
  readonly event: LogEvent;
}

/** A line with its place in the tree of the log. */
type TreeLine = Pick<ProvenLine, "n" | "text">;

export interface ProvenLine {
  readonly n: number;
  readonly text: string;
  /** Of the manifest. */
  readonly sha256: string;
  readonly path: string;
  /** When it was written. */
  readonly at: string;
}

/** A time stamp that covers a line, after it was verified. */
export interface StampProof {
  readonly kept: KeptTimestamp;
  readonly verified: VerifiedTimestamp;
  /** How many lines its checkpoint is of. */
  readonly size: number;
  /** The hashes from the line to the root of the checkpoint, the nearest first, in hexadecimal. */
  readonly path: readonly string[];
}

/** Says in English what covers a package. */
export function explainCover(proof: StampProof | null): string {
  if (proof === null) {
    return "no time stamp covers this package";
  }
  const { kept, verified } = proof;
  const checked =
    verified.root === null
      ? "not checked against a root certificate"
      : `root certificate: “${verified.root}”`;
  return `the time stamp ${locationOf(kept.name)} covers this package: ${verified.at.toISOString()}, signed by “${verified.signer}” (${checked})`;
}

/** Where the log and the time stamps are. */
interface ProofSource {
  readonly database: Pick<Database, "transaction">;
  readonly vault: Pick<Vault, "disk" | "root">;
}

/** A statement has at most so many values. */
const atOnce = 500;

/**
 * Reads what proves packages. `rootsFile`: a PEM file with the root certificates that signers are checked against. Rejects with ERR_STORE and
 * the system's error, and with ERR_CONFIG for a file of certificates that cannot be used.
 */
export async function provePackages(
  source: ProofSource,
  packages: readonly IndexedPackage[],
  rootsFile: string | undefined,
): Promise<readonly ProvenPackage[]> {
  const rows = await withNumbers(
    source.database,
    await rowsOf(
      source.database,
      packages.map(({ id }) => id),
    ),
  );
  const lines = await archivedLines(
    source.database,
    packages.map(({ id }) => id),
  );
  // With root certificates it is said where they cannot be used, also without a time stamp.
  const roots = await readRoots(rootsFile);
  const [[newest] = []] = await source.database.transaction([
    { sql: "SELECT max(n) AS n FROM log WHERE what = 'stamped'" },
  ]);
  const stamps = new ArchiveStamps(source, roots, Number(newest?.["n"]));
  const proven: ProvenPackage[] = [];
  for (const one of packages) {
    const line = lines.get(one.id) ?? null;
    const cover = line === null ? { first: null, newest: null, findings: [] } : await stamps.prove(line);
    const proof = { line, later: await laterLines(source.database, one.id, stamps), ...cover };
    proven.push({ ...one, ...(rows.get(one.id) ?? { row: {}, numbers: [] }), proof });
  }
  return proven;
}

/** A row of the index, and the numbers that the log said were added to its package when the row was read. */
type NumberedRow = Pick<ProvenPackage, "numbers" | "row">;

/** Reads which numbers were added to the packages of some rows, by the IDs of the packages. */
export async function withNumbers(
  database: Pick<Database, "transaction">,
  rows: readonly Row[],
): Promise<ReadonlyMap<string, NumberedRow>> {
  const idOf = (row: Row): string => String(row["package_id"]);
  const read = async (some: readonly Row[]): Promise<NumberedRow[]> => {
    const named = await namedOf(database, some.map(idOf));
    return some.map((row) => ({ row, numbers: (named.get(idOf(row)) ?? []).map(({ number }) => number) }));
  };
  const numbered = new Map<string, NumberedRow>();
  for (const one of await read(rows)) {
    let now = one;
    for (let known = -1; known < now.numbers.length && !hasWords(now);) {
      // A number may have been added since the row was read: then the row has more as well.
      known = now.numbers.length;
      [now = one] = await read(await rowsOf(database, [idOf(one.row)]));
    }
    numbered.set(idOf(one.row), now);
  }
  return numbered;
}

function hasWords({ row, numbers }: NumberedRow): boolean {
  return (row["added_words"] ?? "") === wordsOfNumbers(row, numbers);
}

async function rowsOf(database: Pick<Database, "transaction">, ids: readonly string[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (let from = 0; from < ids.length; from += atOnce) {
    const values = ids.slice(from, from + atOnce);
    const [found = []] = await database.transaction([
      { sql: `SELECT * FROM packages WHERE package_id IN (${marksFor(values)})`, values },
    ]);
    rows.push(...found);
  }
  return rows;
}

/** What the log says of a package after it was archived. What is wrong with time stamps is said of that line. */
async function laterLines(
  database: Pick<Database, "transaction">,
  id: string,
  stamps: ArchiveStamps,
): Promise<readonly LaterLine[]> {
  const [rows = []] = await database.transaction([
    { sql: "SELECT n, line FROM log WHERE package_id = ? AND what <> 'archived' ORDER BY n", values: [id] },
  ]);
  const later: LaterLine[] = [];
  for (const { n: number, line } of rows) {
    const [n, text] = [Number(number), String(line)];
    const event = readEvent(text);
    if (event !== undefined) {
      const { first, newest } = await stamps.prove({ n, text });
      later.push({ n, text, event, first, newest });
    }
  }
  return later;
}

/** The first line of the log about each of these packages, which says that it was archived. */
export async function archivedLines(
  database: Pick<Database, "transaction">,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ProvenLine>> {
  const lines = new Map<string, ProvenLine>();
  for (let from = 0; from < ids.length; from += atOnce) {
    const values = ids.slice(from, from + atOnce);
    const [rows = []] = await database.transaction([
      {
        sql: `SELECT n, line FROM log WHERE package_id IN (${marksFor(values)}) AND what = 'archived' ORDER BY n DESC`,
        values,
      },
    ]);
    for (const { n, line } of rows) {
      const text = String(line);
      const event = readEvent(text);
      if (event?.what === "archived") {
        lines.set(event.package, {
          n: Number(n),
          text,
          sha256: event.sha256,
          path: event.path,
          at: event.at,
        });
      }
    }
  }
  return lines;
}

type Stamped = EventOf<"stamped">;

/** A time stamp that can be used, or why it cannot. */
type Opened =
  | { readonly stamp: ReadTimestamp; readonly verified: VerifiedTimestamp; readonly problem?: undefined }
  | { readonly problem: string };

/** How many lines about time stamps are read at once: hardly ever is more than the first one needed. */
const stampedAtOnce = 20;

/** The time stamps of an archive. Each is read and verified once, when it is needed. */
class ArchiveStamps {
  readonly #source: ProofSource;
  readonly #roots: readonly X509Certificate[];
  readonly #last: number;
  readonly #tree: LogTree;
  readonly #opened = new Map<string, Promise<Opened>>();
  #hasForgotten = false;

  /** `last`: the number of the last line about one. If more come meanwhile, they would cover some lines and not others. */
  constructor(source: ProofSource, roots: readonly X509Certificate[], last: number) {
    this.#source = source;
    this.#roots = roots;
    this.#last = last;
    this.#tree = new LogTree(source.database);
  }

  async prove(line: TreeLine): Promise<Pick<PackageProof, "findings"> & Cover> {
    const findings: PackageFinding[] = [];
    const first = await this.#seek(line, "ASC", findings);
    const newest = first === null ? null : await this.#seek(line, "DESC", findings);
    return { first, newest, findings };
  }

  /** The first time stamp behind the line that leads to it, or the last one. */
  async #seek(line: TreeLine, order: "ASC" | "DESC", findings: PackageFinding[]): Promise<StampProof | null> {
    for await (const one of this.#behind(line.n, order)) {
      const opening = this.#opened.get(one.timestamp) ?? this.#open(one);
      this.#opened.set(one.timestamp, opening);
      const opened = await opening;
      const proof = opened.problem ?? (await this.#proofBy(line, opened.stamp, opened.verified));
      if (typeof proof === "object") {
        return proof;
      }
      findings.push({ kind: "timestamp", path: locationOf(one.timestamp), problem: proof });
    }
    return null;
  }

  /** What the log says of time stamps that are of more than `n` lines. */
  async *#behind(n: number, order: "ASC" | "DESC"): AsyncGenerator<Stamped> {
    for (let skipped = 0; ; skipped += stampedAtOnce) {
      const [rows = []] = await this.#source.database.transaction([
        {
          sql: `SELECT line FROM log WHERE what = 'stamped' AND n > ? AND n <= ? ORDER BY n ${order} LIMIT ? OFFSET ?`,
          values: [n, this.#last, stampedAtOnce, skipped],
        },
      ]);
      for (const { line } of rows) {
        const event = readEvent(String(line));
        if (event?.what === "stamped" && event.size > n) {
          yield event;
        }
      }
      if (rows.length < stampedAtOnce) {
        return;
      }
    }
  }

  /** What verifies time stamps is loaded only if there are some: most archives have none. */
  async #open({ timestamp, response }: Stamped): Promise<Opened> {
    const { verifyKept } = await import("../timestamp/timestamps.ts");
    const stamp = await timestampsOf(this.#source.vault).read(timestamp);
    if (stamp === undefined) {
      return { problem: "the time stamp is missing, or one of its files is missing or damaged" };
    }
    if (sha256Of(stamp.response) !== response) {
      return { problem: "the time stamp is not the one that the log names" };
    }
    const verified = verifyKept(stamp, this.#roots);
    return typeof verified === "string"
      ? { problem: `the time stamp is not valid: ${verified}` }
      : { stamp, verified };
  }

  async #proofBy(
    line: TreeLine,
    { checkpoint: { size, root }, ...kept }: ReadTimestamp,
    verified: VerifiedTimestamp,
  ): Promise<StampProof | string> {
    if (size <= line.n) {
      return "the time stamp signs fewer lines of the log than the log says";
    }
    const leads = (way: readonly Buffer[]): boolean =>
      rootByPath(leafHash(line.text), line.n, size, way)?.equals(root) === true;
    let path = await this.#tree.proofOf(line.n, size);
    if (!leads(path) && !this.#hasForgotten) {
      // What the database has of the tree may be wrong, and its lines right.
      this.#hasForgotten = true;
      this.#tree.forgetBlocks();
      path = await this.#tree.proofOf(line.n, size);
    }
    if (!leads(path)) {
      return "the log in the database is not the one that was time-stamped: a line in it was changed";
    }
    return { kept, verified, size, path: path.map((hash) => hash.toString("hex")) };
  }
}
