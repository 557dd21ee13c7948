import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import type { ArchiveNote, Finding, Unchecked } from "../../model/archive-reports.ts";
import type { ToolThread } from "../../database/tool-database.ts";
import { findDatabases, isFolder } from "./find-databases.ts";
import { IndexReader } from "./index-reader.ts";
import type { OpenedPlace } from "./open-place.ts";
import { sayUnreadable } from "./say-unreadable.ts";

/** The indexes in the databases that a verification was given. */
export class OpenedIndexes {
  /** Those that can be read. */
  readonly readable: IndexReader[] = [];
  readonly #opened: IndexReader[] = [];
  readonly #ofOtherPlaces = new Set<IndexReader>();
  readonly #thread: ToolThread;
  readonly #unchecked: Unchecked[];
  readonly #notes: ArchiveNote[];
  #expected: { readonly packages: number; readonly bytes: number } | null = null;

  /** Adds to these what cannot be checked, and what is worth knowing. Files are opened in the thread. */
  constructor(
    thread: ToolThread,
    { unchecked, notes }: { readonly unchecked: Unchecked[]; readonly notes: ArchiveNote[] },
  ) {
    this.#thread = thread;
    this.#unchecked = unchecked;
    this.#notes = notes;
  }

  /** How many packages they list below the checked folder, with how many bytes; null if none can be read. */
  get expected(): { readonly packages: number; readonly bytes: number } | null {
    return this.#expected;
  }

  /** Whether the packages of its store are elsewhere: this is a copy of them. */
  isOfOtherPlace(index: IndexReader): boolean {
    return this.#ofOtherPlaces.has(index);
  }

  /** Opens the databases of a path. `below` is the path of the checked folder, as the indexes have it. */
  async *open(given: string, place: OpenedPlace, below: string): AsyncGenerator<Finding> {
    try {
      for (const file of await findDatabases(given, { key: place.key, name: place.location }, this.#thread)) {
        yield* this.#openOne(file, place, below);
      }
    } catch (error) {
      this.#leaveUnchecked(given, error);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.map((one) => one.close()));
  }

  async *#openOne(file: string, { key }: OpenedPlace, below: string): AsyncGenerator<Finding> {
    try {
      const index = await IndexReader.open(file, this.#thread);
      this.#opened.push(index);
      await index.check("whole");
      this.readable.push(index);
      const { packages, bytes } = await index.count(below);
      const { packages: before = 0, bytes: bytesBefore = 0 } = this.#expected ?? {};
      this.#expected = { packages: packages + before, bytes: bytes + bytesBefore };
      if (index.folder !== null && !(await isFolder(index.folder, key))) {
        this.#ofOtherPlaces.add(index);
        const text = `the store of this database last used the folder ${index.folder}`;
        this.#notes.push({ kind: "other-folder", path: file, text });
      }
    } catch (error) {
      if (isDimensionerError(error) && error.sentence === "storeDamaged") {
        yield { kind: "database", path: file, problem: error.message };
      } else {
        this.#leaveUnchecked(file, error);
      }
    }
  }

  #leaveUnchecked(file: string, error: unknown): void {
    const problem = isDimensionerError(error) ? error.message : sayUnreadable(error);
    this.#unchecked.push({ kind: "database", path: file, problem });
  }
}
