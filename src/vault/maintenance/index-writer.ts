import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import type { NotIndexed } from "../../model/archive-reports.ts";
import type { Database, Statement } from "../../database/database.ts";
import { manifestFileName } from "../archive-disk.ts";
import { keysOfManifest } from "../packages/package-keys.ts";
import { keepMs, noteTransaction, measurementOf } from "../packages/known-measurements.ts";
import type { Manifest } from "../packages/manifest.ts";
import { indexPackage } from "../packages/package-index.ts";
import type { OpenedPlace } from "./open-place.ts";
import { loadManifestWithin } from "./load-manifest-within.ts";
import type { WalkedPackage } from "./walk-packages.ts";

const packagesAtOnce = 200;

/** Adds packages to an index, some at a time. A package that exists twice is added once. */
export class IndexWriter {
  readonly #place: Pick<OpenedPlace, "disk" | "root">;
  readonly #database: Database;
  #waiting = new Map<string, WalkedPackage>();

  constructor(place: Pick<OpenedPlace, "disk" | "root">, database: Database) {
    this.#place = place;
    this.#database = database;
  }

  /** Adds a package. Returns those that the index does not list. */
  async put(one: WalkedPackage): Promise<readonly NotIndexed[]> {
    const before = this.#waiting.get(one.manifest.job);
    if (before !== undefined) {
      return [explainCopy(one.path, before.path)];
    }
    this.#waiting.set(one.manifest.job, one);
    return this.#waiting.size < packagesAtOnce ? [] : await this.write();
  }

  /** Writes the waiting packages in one transaction. Returns those that the index does not list. */
  async write(): Promise<readonly NotIndexed[]> {
    const packages = [...this.#waiting.values()];
    this.#waiting = new Map();
    const copies = await this.#findCopies(packages);
    const originals = packages.filter(({ path }) => !copies.has(path));
    const refused = await this.#insert(originals);
    return [...[...copies].map(([path, original]) => explainCopy(path, original)), ...refused];
  }

  /** If the database refuses them, one by one: it may refuse the values of one package only. */
  async #insert(packages: readonly WalkedPackage[]): Promise<readonly NotIndexed[]> {
    const [only, ...more] = packages;
    if (only === undefined) {
      return [];
    }
    try {
      await this.#database.transaction(packages.flatMap(statementsOf));
      return [];
    } catch (error) {
      if (!isDimensionerError(error) || error.sentence !== "postgresFailed") {
        throw error;
      }
      if (more.length === 0) {
        return [{ kind: "refused", path: only.path, problem: error.message }];
      }
    }
    const refused: NotIndexed[] = [];
    for (const one of packages) {
      refused.push(...(await this.#insert([one])));
    }
    return refused;
  }

  /** Returns, by path, the packages whose rows name another path at which they exist. */
  async #findCopies(packages: readonly WalkedPackage[]): Promise<Map<string, string>> {
    const found = await this.#database.transaction(
      packages.map(({ manifest, path }) => ({
        sql: "SELECT location FROM packages WHERE package_id = ? AND location <> ?",
        values: [manifest.job, path],
      })),
    );
    const copies = new Map<string, string>();
    for (const [index, { path, manifest }] of packages.entries()) {
      const location = found[index]?.[0]?.["location"];
      if (typeof location === "string" && (await this.#isAt(location, manifest.job))) {
        copies.set(path, location);
      }
    }
    return copies;
  }

  async #isAt(location: string, job: string): Promise<boolean> {
    const { root, disk } = this.#place;
    const found = await loadManifestWithin(root, `${location}/${manifestFileName}`, disk);
    return typeof found === "object" && found.manifest.job === job;
  }
}

function statementsOf({ path, sha256, manifest }: WalkedPackage): readonly Statement[] {
  return [
    ...indexPackage(keysOfManifest(manifest), { path, sha256 }, manifest),
    ...noteMeasurementOf(manifest),
  ];
}

/** So that no other measurement is given the package's transaction. */
function noteMeasurementOf(manifest: Manifest): Statement[] {
  const known = measurementOf(manifest);
  const isKept = known !== null && Date.now() - known.acceptedAt.getTime() < keepMs;
  return isKept ? [noteTransaction(known, known)] : [];
}

function explainCopy(path: string, original: string): NotIndexed {
  return { kind: "copy", path, problem: `${original} is the same package: the index lists that one` };
}
