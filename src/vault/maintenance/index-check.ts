import type { Finding } from "../../model/archive-reports.ts";
import type { Row, SqlValue } from "../../database/database.ts";
import { manifestFileName } from "../archive-disk.ts";
import { keysOfManifest } from "../packages/package-keys.ts";
import type { FoundManifest } from "../packages/package-files.ts";
import { rowOfPackage } from "../packages/package-index.ts";
import type { CheckParts } from "./check-parts.ts";
import type { IndexReader } from "./index-reader.ts";
import { loadManifestWithin } from "./load-manifest-within.ts";
import { sayUnreadable } from "./say-unreadable.ts";
import type { SeenRow } from "./seen-packages.ts";
import { sha256Of } from "../../model/sha256.ts";

/** The row that the index must have for a package. */
export function expectedRow(path: string, { manifest, sha256 }: FoundManifest): Row {
  return rowOfPackage(keysOfManifest(manifest), { path, sha256 }, manifest);
}

/** The hash by which two rows are compared without being kept. */
export function hashOfRow(row: Row): string {
  const columns = Object.entries(row).filter(([name]) => name !== "indexed_order");
  return sha256Of(JSON.stringify(columns.toSorted()));
}

/**
 * Compares an index with the packages that were seen: each row has to agree with its package's manifest, and each
 * listed package has to exist, or to be in the log of deleted ones. Listed packages are marked.
 */
export class IndexCheck {
  readonly #index: IndexReader;
  readonly #parts: CheckParts;

  constructor(index: IndexReader, parts: CheckParts) {
    this.#index = index;
    this.#parts = parts;
  }

  async *run(below: string): AsyncGenerator<Finding> {
    const { seen } = this.#parts;
    for await (const rows of this.#index.rows(below)) {
      const there = await seen.at(rows.map((row) => String(row["location"])));
      for (const row of rows) {
        yield* this.#check(row, there.get(String(row["location"])));
      }
    }
  }

  async *#check(row: Row, there: SeenRow | undefined): AsyncGenerator<Finding> {
    const { seen } = this.#parts;
    const [path, sha256] = [String(row["location"]), String(row["manifest_sha256"])];
    if (there?.rowSha256 === hashOfRow(row)) {
      await seen.setListed(path);
    } else if (there?.sha256 === sha256) {
      await seen.setListed(path);
      yield* this.#compare(row, await this.#load(path));
    } else {
      yield* this.#seek(row, path, sha256, there?.sha256);
    }
  }

  /** Reports a row whose package was not seen at its path. */
  async *#seek(row: Row, path: string, sha256: string, other: string | undefined): AsyncGenerator<Finding> {
    const { seen, pruned } = this.#parts;
    if ((await pruned?.has(sha256)) === true) {
      return;
    }
    const [elsewhere] = await seen.select("SELECT path FROM seen WHERE sha256 = ? LIMIT 1", [sha256]);
    if (elsewhere !== undefined) {
      const problem = `the index lists this package in ${path}: the package was moved, or the row was changed`;
      await seen.setListed(String(elsewhere["path"]));
      yield { kind: "index", path: String(elsewhere["path"]), problem };
      return;
    }
    if (other !== undefined) {
      await seen.setListed(path);
      yield await this.#explainOther(path, other);
      return;
    }
    // It may be outside the checked folder, or have got its name after the walk passed.
    const found = await this.#load(path);
    if (typeof found === "object" && found.sha256 === sha256) {
      yield* this.#compare(row, found);
    } else if (typeof found === "string" && found !== "none" && found !== "damaged") {
      yield { kind: "unreadable", path, problem: found };
    } else if (found !== "damaged" && !((await pruned?.has(sha256)) === true)) {
      // The walk has reported the damaged manifest.
      const problem = "the index lists this package, but it is missing and was not pruned";
      yield { kind: "missing-package", path, problem };
    }
  }

  /** The next package's manifest shows which of the two has changed, the manifest or the row. */
  async #explainOther(path: string, sha256: string): Promise<Finding> {
    const next = await this.#parts.seen.select("SELECT 1 FROM seen WHERE previous_sha256 = ? LIMIT 1", [
      sha256,
    ]);
    if (next.length > 0) {
      const problem =
        "the index lists another manifest for this package, and the next package shows that the row was changed";
      return { kind: "index", path, problem };
    }
    return {
      kind: "changed",
      path: `${path}/${manifestFileName}`,
      problem: "the manifest differs from the one that the index lists: it is not the one that was archived",
    };
  }

  *#compare(row: Row, found: FoundManifest | string): Generator<Finding> {
    if (typeof found === "string") {
      // It was deleted or damaged after the walk passed.
      return;
    }
    const path = String(row["location"]);
    for (const [column, expected] of Object.entries(expectedRow(path, found))) {
      const listed = row[column] ?? null;
      if (listed !== expected) {
        const problem = `in the column ${column}, the index has ${say(listed)}, but the manifest has ${say(expected)}`;
        yield { kind: "index", path, problem };
      }
    }
  }

  async #load(path: string): Promise<FoundManifest | string> {
    const { root, disk } = this.#parts;
    return loadManifestWithin(root, `${path}/${manifestFileName}`, disk).catch(sayUnreadable);
  }
}

function say(value: SqlValue): string {
  return typeof value === "string" ? `“${value}”` : String(value);
}
