/**
 * What proves a package: its row in the index, its line in the log, and the ways from that line to checkpoints that a time stamp signs.
 * It is read from the database at once and handed to a thread that reads the package, so all of it can be copied.
 */
import type { X509Certificate } from "node:crypto";
import { type Database, type Row, marksFor } from "../../database/database.ts";
import type { CoveringTimestamp, PackageFinding } from "../../model/archive-reports.ts";
import { sha256Of } from "../../model/sha256.ts";
import type { ArchiveFiles } from "../files/archive-files.ts";
import type { IndexedPackage } from "../packages/package-index.ts";
import {
  type KeptTimestamp,
  type ReadTimestamp,
  locationOf,
  readRoots,
  timestampsOf,
} from "../timestamp-folder.ts";
import type { VerifiedTimestamp } from "../timestamp/verify.ts";
import { type EventOf, readEvent } from "./events.ts";
import { LogTree } from "./log-tree.ts";
import { leafHash, rootByPath } from "./tree.ts";

/** A package of the index with what proves it. */
export interface ProvenPackage extends IndexedPackage {
  /** All columns of its row. */
  readonly row: Row;
  readonly proof: PackageProof;
}

export interface PackageProof {
  /** Its line in the log, with what it says; null if the log does not know the package. */
  readonly line: ProvenLine | null;
  /** The earliest valid time stamp behind the line, and the newest one; null if none covers it. */
  readonly first: StampProof | null;
  readonly newest: StampProof | null;
  /** What is wrong with time stamps that should cover it. */
  readonly findings: readonly PackageFinding[];
}

export interface ProvenLine {
  readonly n: number;
  readonly text: string;
  /** Of the manifest. */
  readonly sha256: string;
  readonly path: string;
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

/** What a message and a page say of a time stamp. */
export function coveringTimestamp({ verified: { at, signer, root }, size }: StampProof): CoveringTimestamp {
  return { atUtc: at.toISOString(), signer, root, logSize: size };
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
  readonly files: Pick<ArchiveFiles, "disk" | "root">;
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
  const rows = new Map<string, Row>();
  for (let from = 0; from < packages.length; from += atOnce) {
    const values = packages.slice(from, from + atOnce).map(({ id }) => id);
    const [found = []] = await source.database.transaction([
      { sql: `SELECT * FROM packages WHERE package_id IN (${marksFor(values)})`, values },
    ]);
    found.forEach((row) => rows.set(String(row["package_id"]), row));
  }
  const lines = await archivedLines(
    source.database,
    packages.map(({ id }) => id),
  );
  // With root certificates it is said where they cannot be used, also without a time stamp.
  const stamps = new ArchiveStamps(source, await readRoots(rootsFile));
  const proven: ProvenPackage[] = [];
  for (const one of packages) {
    const line = lines.get(one.id) ?? null;
    const stampProof = line === null ? { first: null, newest: null, findings: [] } : await stamps.prove(line);
    proven.push({ ...one, row: rows.get(one.id) ?? {}, proof: { line, ...stampProof } });
  }
  return proven;
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
        lines.set(event.package, { n: Number(n), text, sha256: event.sha256, path: event.path });
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
  readonly #tree: LogTree;
  readonly #opened = new Map<string, Promise<Opened>>();

  constructor(source: ProofSource, roots: readonly X509Certificate[]) {
    this.#source = source;
    this.#roots = roots;
    this.#tree = new LogTree(source.database);
  }

  async prove(line: ProvenLine): Promise<Omit<PackageProof, "line">> {
    const findings: PackageFinding[] = [];
    const first = await this.#seek(line, "ASC", findings);
    const newest = first === null ? null : await this.#seek(line, "DESC", findings);
    return { first, newest, findings };
  }

  /** The first time stamp behind the line that leads to it, or the last one. */
  async #seek(
    line: ProvenLine,
    order: "ASC" | "DESC",
    findings: PackageFinding[],
  ): Promise<StampProof | null> {
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
          sql: `SELECT line FROM log WHERE what = 'stamped' AND n > ? ORDER BY n ${order} LIMIT ? OFFSET ?`,
          values: [n, stampedAtOnce, skipped],
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
    const { verifyKept } = await import("../timestamps.ts");
    const stamp = await timestampsOf(this.#source.files).read(timestamp);
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
    line: ProvenLine,
    { checkpoint: { size, root }, ...kept }: ReadTimestamp,
    verified: VerifiedTimestamp,
  ): Promise<StampProof | string> {
    if (size <= line.n) {
      return "the time stamp signs fewer lines of the log than the log says";
    }
    const path = await this.#tree.proofOf(line.n, size);
    if (rootByPath(leafHash(line.text), line.n, size, path)?.equals(root) !== true) {
      return "the log in the database is not the one that was time-stamped: a line in it was changed";
    }
    return { kept, verified, size, path: path.map((hash) => hash.toString("hex")) };
  }
}
