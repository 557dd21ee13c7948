import { basename, dirname, join } from "node:path";
import type { Database } from "../database/database.ts";
import { phrase } from "../errors/interpolation.ts";
import { fileError } from "../media/disk.ts";
import {
  type ArchiveDisk,
  asFileError,
  asideFolderName,
  diskFacts,
  namesIn,
  removeTree,
  stateFolderName,
  workFolderName,
} from "./archive-disk.ts";
import type { Vault } from "./vault.ts";
import { copyPlain } from "./plain-files.ts";
import { LeftoverRows, stagedFileName } from "./upkeep/leftovers.ts";
import { type StoredItem, mostNoteBytes, readMediaNote, writeMediaNote } from "./packages/intent.ts";
import { readPlain } from "./packages/package-files.ts";

/** The end of the name of a note. */
const noteEnd = ".item";

/** What has become of the media of a job that has failed. */
export interface KeptMedia {
  /** How many of them are aside. */
  readonly kept: number;
  /** How many are staged and not what they were: they stay where they are. */
  readonly damaged: number;
}

/**
 * The media of open jobs that are nowhere else than on this computer, with the packages: another worker may have to finish the
 * job. Each is named by its job and its SHA-256. All methods reject with ERR_STORE, ERR_FILE, or the system's error.
 */
export class StagedMedia {
  readonly #vault: Vault;
  readonly #disk: ArchiveDisk;
  readonly #demandThere: () => Promise<void>;
  #hasUnknown = false;
  #hasToldUnknown = false;

  /** `disk`: that of the work folders. `demandThere` rejects while the packages are away. */
  constructor(vault: Vault, disk: ArchiveDisk, demandThere: () => Promise<void> = () => Promise.resolve()) {
    this.#vault = vault;
    this.#disk = disk;
    this.#demandThere = demandThere;
  }

  /**
   * Stores the media that cannot be downloaded again, by their slots. `folder` contains them. Of those of a device it is noted what they
   * are: the device may not have them any more when another worker has the job, and the database may not know them.
   */
  async store(job: string, folder: string, items: ReadonlyMap<string, StoredItem>): Promise<void> {
    const here = onlyHere(items.values());
    if (here.length > 0) {
      await this.#demandThere();
    }
    for (const item of here) {
      const path = join(folder, item.path);
      const problem = await this.#vault.putFile(path, this.#path(job, item.sha256), item, this.#disk);
      if (problem !== undefined) {
        throw fileError("fileOther", path, diskFacts, phrase("fileChanged"));
      }
    }
    const ofDevice = [...items].filter(([, { source }]) => source === "device");
    const [[, first] = []] = ofDevice;
    if (first !== undefined) {
      await this.#vault.write(this.#path(job, `${first.sha256}${noteEnd}`), writeMediaNote(ofDevice));
    }
  }

  /** Reads what is noted of the media of a job, by their slots. */
  async readNotes(job: string): Promise<ReadonlyMap<string, StoredItem>> {
    await this.#demandThere();
    const { disk } = this.#vault;
    const notes = new Map<string, StoredItem>();
    const names = await namesIn(this.#path(job, ""), disk);
    for (const name of names.filter((one) => one.endsWith(noteEnd))) {
      const content = await readPlain(this.#path(job, name), disk, mostNoteBytes);
      if (typeof content !== "string") {
        readMediaNote(content.toString()).forEach(([slot, item]) => notes.set(slot, item));
      }
    }
    return notes;
  }

  /** Brings a medium to a path on this computer. Returns false if it was not stored, or is not what it was. */
  async fetch(job: string, item: StoredItem, path: string): Promise<boolean> {
    await this.#demandThere();
    const written = async <T>(work: () => Promise<T>): Promise<T> => {
      try {
        return await work();
      } catch (error) {
        throw asFileError(error, path);
      }
    };
    await written(() => removeTree(path, this.#disk));
    const { disk: source } = this.#vault;
    const from = this.#path(job, item.sha256);
    return (await copyPlain(from, path, item, { source, target: this.#disk, written })) === undefined;
  }

  /** Removes what was stored of a job that has ended. */
  async remove(job: string, items: Iterable<StoredItem>): Promise<void> {
    const hashes = new Set(onlyHere(items).map(({ sha256 }) => sha256));
    if (hashes.size === 0) {
      return;
    }
    await this.#demandThere();
    const notes = await namesIn(this.#path(job, ""), this.#vault.disk);
    const ofNotes = notes.filter((name) => name.endsWith(noteEnd));
    await this.#removeAll([...hashes, ...ofNotes].map((name) => this.#path(job, name)));
  }

  async #removeAll(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      await this.#vault.remove(path);
    }
    for (const folder of new Set(paths.map((path) => dirname(path)))) {
      await this.#vault.removeEmpty(folder);
    }
  }

  /**
   * Removes what was stored before a time for jobs that have ended. Media of a failed job that are nowhere else stay, and so does what
   * somebody else has put there. So do those of jobs that the database does not know, because it may be an older one that was restored:
   * they are left to a person.
   */
  async removeOld(beforeMs: number, database: Pick<Database, "transaction">): Promise<void> {
    await this.#demandThere();
    const { root } = this.#vault;
    const rows = new LeftoverRows([database]);
    for await (const files of this.#vault.filesBelow(join(root, stateFolderName, workFolderName))) {
      const old = files.flatMap(({ path, storedAtMs }) =>
        stagedFileName.test(basename(path)) && storedAtMs < beforeMs
          ? [{ path, job: basename(dirname(path)) }]
          : [],
      );
      const jobs = await rows.jobs([...new Set(old.map(({ job }) => job))]);
      this.#hasUnknown ||= old.some(({ job }) => !jobs.has(job));
      const isEnded = ({ job }: { readonly job: string }): boolean => jobs.get(job)?.needsMedia === false;
      await this.#removeAll(old.filter(isEnded).map(({ path }) => path));
    }
  }

  /** Where there are media of jobs that the database does not know, once they were found; null the next time. */
  takeUnknown(): string | null {
    if (!this.#hasUnknown || this.#hasToldUnknown) {
      return null;
    }
    this.#hasToldUnknown = true;
    return this.#vault.addressOf(`${stateFolderName}/${workFolderName}`);
  }

  /**
   * Copies what is staged of a job that has failed aside, as often as this is called: the disk of the worker may be gone tomorrow. There,
   * the media have the names that they would have had in a package, and nothing removes them but a person.
   */
  async keepAside(job: string, items: readonly StoredItem[]): Promise<KeptMedia> {
    await this.#demandThere();
    const { disk, root } = this.#vault;
    let [kept, damaged] = [0, 0];
    for (const item of items) {
      const path = join(root, stateFolderName, asideFolderName, job, item.path);
      if ((await this.#vault.sha256Of(path, item.bytes)) === item.sha256) {
        kept += 1;
        continue;
      }
      const contentType = item.contentTypeFound ?? item.contentTypeAnnounced ?? undefined;
      const expected = { bytes: item.bytes, sha256: item.sha256, contentType };
      const problem = await this.#vault.putFile(this.#path(job, item.sha256), path, expected, disk);
      kept += problem === undefined ? 1 : 0;
      damaged += problem === "changed" ? 1 : 0;
    }
    return { kept, damaged };
  }

  /** Where the media of a failed job are, for people. */
  asideOf(job: string): string {
    return this.#vault.addressOf(`${stateFolderName}/${asideFolderName}/${job}`);
  }

  #path(job: string, name: string): string {
    return join(this.#vault.root, stateFolderName, workFolderName, job, name);
  }
}

/** The cloud keeps its own. */
function onlyHere(items: Iterable<StoredItem>): StoredItem[] {
  return [...items].filter(({ source }) => source !== "cloud");
}
