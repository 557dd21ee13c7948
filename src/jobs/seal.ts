/**
 * Seals jobs into packages. A package is made in the work folder of its job and gets its name in one step; then the database notes it, with
 * its line in the log of the store, and the line is put beside the packages. Packages of different parcels are sealed at the same time.
 */
import { type Database, type Statement, allOf, always, not } from "../database/database.ts";
import type { LogTable } from "../database/log-table.ts";
import { isTaken, isUnknown } from "../database/own-jobs.ts";
import { isRefused } from "../database/postgres-connection.ts";
import { DimensionerError, isDimensionerError } from "../errors/dimensioner-error.ts";
import { firstOfEach } from "../rules/first-of-each.ts";
import { type ArchiveDisk, asFileError, diskFacts } from "../vault/archive-disk.ts";
import { archivedEntry } from "../vault/log/events.ts";
import { isLogged } from "../vault/log/log-state.ts";
import { type OpenedLog, publishArchived, publishLog, readyLog } from "../vault/log/open-log.ts";
import { type PlacedPackage, type StoredItem, itemSources } from "../vault/packages/intent.ts";
import type { LeftOut, Manifest } from "../vault/packages/manifest.ts";
import type { IndexedPackage, PackageIndex } from "../vault/packages/package-index.ts";
import {
  type Answer,
  answerOfManifest,
  isOtherAnswer,
  keysOfManifest,
  keysOfWhole,
} from "../vault/packages/package-keys.ts";
import { type Completeness, PackageWriter, type WrittenFile } from "../vault/packages/package-writer.ts";
import type { FoundPackage, Committer, SealedFile } from "../vault/vault.ts";
import { withoutLeftOut } from "./completeness.ts";
import { type JobTable, type OpenJob, type SealedJob, positionOf, searchOf } from "./job-rows.ts";
import { KeyTurns } from "./semaphore.ts";
import type { WorkFolders } from "./work-folder.ts";

/** The result of a job: its package, and whether another job had made it before. */
export interface Archived extends PlacedPackage {
  /** Its absolute path, or its address in a bucket. */
  readonly folder: string;
  /** The same for anything in the store; `location` is below the folder of packages, with slashes. */
  readonly addressOf: (location: string) => string;
  readonly manifest: Manifest;
  readonly wasThere: boolean;
  /** The package with all media and, if it existed before, its supplements. */
  readonly packages: readonly FoundPackage[];
  /** Whether these contain everything that the job requires. */
  readonly complete: boolean;
}

/** The existing packages for the keys of a job and its measurement. */
interface Existing {
  /** A package and its supplements, in the order in which they were archived; empty if there is no package. */
  readonly packages: readonly FoundPackage[];
  /** The ids of all packages that the index has for these keys. */
  readonly known: readonly string[];
  /** Whether the same transaction is archived with another measurement. */
  readonly hasOther: boolean;
}

/** What a new package adds to the existing ones. */
interface Addition {
  readonly items: readonly StoredItem[];
  readonly hasAnswer: boolean;
  readonly supplements: PlacedPackage | null;
}

/** A package that has its name, or may have it, and may be noted. */
interface Unsettled {
  readonly job: OpenJob;
  readonly archived: Archived;
  /** The ids of the packages with the same keys that it was compared with. */
  readonly known: readonly string[];
  /** False if it is not certain that it has its name. */
  readonly isPlaced: boolean;
  /** Whether the database refuses its row. The package stays nevertheless. */
  readonly isRefused: boolean;
}

/** Seals the jobs of one store into packages, and finds packages. */
export class Sealing {
  readonly #parts: SealingParts;
  readonly #writer: PackageWriter;
  /** Damaged packages that were reported already: a job searches for its package when it begins and when it ends. */
  readonly #toldDamaged = new Set<string>();
  /** The second job of a key has to see the package of the first. */
  readonly #keys = new KeyTurns();
  /** By the IDs of their jobs, in the order in which they got their names. */
  readonly #unsettled = new Map<string, Unsettled>();
  /**
   * Jobs of an earlier process that may have placed a package, by their IDs, with the reason why that is not known yet: undefined if it was
   * not looked for.
   */
  readonly #unrecovered = new Map<
    string,
    { readonly job: OpenJob; readonly error: DimensionerError | undefined }
  >();

  constructor(parts: SealingParts) {
    this.#parts = parts;
    this.#writer = new PackageWriter(parts.disk);
  }

  /**
   * Finds the packages for the keys of a job and its measurement. Every file is read, because only complete packages count. A damaged
   * one is reported, and stays as it is. Rejects with ERR_FILE or ERR_STORE.
   */
  async find(keys: readonly string[], answer: Answer, onDamaged: (path: string) => void): Promise<Existing> {
    return await this.#findIn(await this.#rowsOf(keys), answer, onDamaged);
  }

  /**
   * The same for a job that is still collecting, which what has the packages does not hold up: while it does not answer, returns why. They
   * are looked for again before the job is sealed. Rejects with ERR_STORE if the database does not answer.
   */
  async findIfThere(
    keys: readonly string[],
    answer: Answer,
    onDamaged: (path: string) => void,
  ): Promise<Existing | { readonly away: DimensionerError }> {
    const rows = await this.#rowsOf(keys);
    try {
      return await this.#findIn(rows, answer, onDamaged);
    } catch (error) {
      if (!isDimensionerError(error)) {
        throw error;
      }
      return { away: error };
    }
  }

  async #rowsOf(keys: readonly string[]): Promise<readonly IndexedPackage[]> {
    return keys.length === 0 ? [] : await this.#parts.index.ofKeys(keys);
  }

  async #findIn(
    rows: readonly IndexedPackage[],
    answer: Answer,
    onDamaged: (path: string) => void,
  ): Promise<Existing> {
    const known = rows.map(({ id }) => id);
    let hasOther = false;
    for (const first of rows.filter(({ supplements }) => supplements === null)) {
      const group = [first, ...rows.filter(({ supplements }) => supplements === first.sha256)];
      if (isOtherAnswer(answer, answerOfAll(group))) {
        hasOther = true;
        continue;
      }
      const packages = await this.#readWhole(group, onDamaged);
      // A deleted package cannot be supplemented.
      if (packages[0]?.sha256 === first.sha256) {
        return { packages, hasOther, known };
      }
    }
    return { packages: [], hasOther, known };
  }

  async #readWhole(
    group: readonly IndexedPackage[],
    onDamaged: (path: string) => void,
  ): Promise<FoundPackage[]> {
    const packages: FoundPackage[] = [];
    for (const { path, sha256 } of group) {
      const manifest = await this.#parts.committer.find({ path, sha256 });
      if (typeof manifest === "object") {
        packages.push({ path, sha256, manifest });
      } else if (manifest === "damaged" && !this.#toldDamaged.has(path)) {
        this.#toldDamaged.add(path);
        onDamaged(path);
      }
    }
    return packages;
  }

  /**
   * Makes the package of a job that has all its media. `judge` is called when the job accepts no more, with the media that it has then
   * and the existing packages of the same measurement. If there are some, the result is a supplement to them, or nothing new if it
   * would contain nothing new. Throws ERR_FILE or ERR_STORE; may be called again then, after `recover`. Throws ERR_EXPIRED for a part
   * that was accepted after its package had its name.
   */
  async seal(
    job: OpenJob,
    judge: (packages: readonly FoundPackage[]) => Completeness,
    onDamaged: (path: string) => void,
  ): Promise<Archived> {
    let atOnce = this.#parts.sealsAtOnce && job.state === "accepted" && job.intent.sequence === null;
    // Noted before the response of the database: without one, it may have happened nevertheless.
    job.state = "sealing";
    for (;;) {
      const sealed = (atOnce ? await this.#closed(job) : undefined) ?? (await this.#close(job));
      job.items = sealed.items;
      const archived = await this.#keys.run(keysOfWhole(job), async () => {
        this.#demandRecovered(job);
        await this.#settleFor(job);
        const { packages, known } = await this.find(keysOfWhole(job), job.answer, onDamaged);
        // The index has a package of this very job if the database has forgotten that the job was sealed, as one does that was restored
        // from a backup. The row of a second package would replace that of the first. It is looked up by the ID of the job, because the
        // key of a sequence is another one with each further part.
        const own = await this.#ownOf(job);
        if (own !== undefined) {
          throwIfPartIsLate(job, [own, ...packages]);
          return await this.#endWith(job, this.#resultOf(own));
        }
        const completeness = judge(packages);
        const addition = additionOf(job, packages, completeness.leftOut);
        const [first] = packages;
        return first !== undefined && addition === null
          ? await this.#endWith(job, this.existing(first, packages, completeness.complete))
          : await this.#write(job, sealed, {
              atOnce,
              completeness,
              addition: addition ?? wholeOf(job, completeness.leftOut),
              known,
            });
      });
      if (archived !== undefined) {
        return await this.#published(archived);
      }
      // Another worker has made a package of the same parcel meanwhile: it is found now. Or the database does not know any more that
      // the job is sealed.
      atOnce = false;
      await this.#parts.work.make(job.id);
      await this.#parts.work.reopen(job.id, isMediumOf(job));
      await this.#parts.jobs.collect(job.id);
    }
  }

  /** A job that only this process can add media to, as it is. Undefined if the database has it in another state. */
  async #closed(job: OpenJob): Promise<SealedJob | undefined> {
    const read = await this.#parts.jobs.read(job.id, searchOf(job)?.key ?? null);
    return read && { ...read, items: job.items };
  }

  /**
   * Closes a job to further media. What memory has was confirmed by the database before, and is still on the disk: if rows lack some of
   * it, as after a failover to a server that had not received the last ones, it is added again.
   */
  async #close(job: OpenJob): Promise<SealedJob> {
    const { jobs, work } = this.#parts;
    const measurement = searchOf(job)?.key ?? null;
    for (let sealed = await jobs.seal(job.id, measurement); sealed !== undefined;) {
      const { items } = sealed;
      const lacking = [...job.items].filter(([slot]) => !items.has(slot));
      if (lacking.length === 0) {
        return sealed;
      }
      await jobs.collect(job.id);
      const spool = lacking.some(([slot]) => job.unstaged?.has(slot)) ? await work.spool() : null;
      await jobs.addItems(job.id, new Map(lacking), spool);
      sealed = await jobs.seal(job.id, measurement);
    }
    throw new Error(`The job ${job.id} was sealed twice.`);
  }

  /**
   * Writes a package, gives it its name and notes it. Undefined if another worker has made a package of the same parcel meanwhile, or
   * the database does not know that the job is sealed.
   */
  async #write(
    job: OpenJob,
    { texts: stored, legacyTransactionId }: SealedJob,
    {
      atOnce,
      completeness,
      addition,
      known,
    }: {
      /** Whether the database may not know that it is sealing. */
      readonly atOnce: boolean;
      readonly completeness: Completeness;
      readonly addition: Addition;
      readonly known: readonly string[];
    },
  ): Promise<Archived | undefined> {
    const { work, log, committer } = this.#parts;
    try {
      if (stored === undefined) {
        throw new DimensionerError("jobDamaged", diskFacts, { value: job.id });
      }
      const { id, acceptedAt, intent, transactionId } = job;
      const { supplements } = addition;
      const items = shareFiles(addition.items);
      const texts = addition.hasAnswer ? stored : { ...stored, measurement: null, raw: null };
      const media = firstOfEach(items, ({ path }) => path);
      const names = media.map(({ path }) => path);
      let from = atOnce ? await work.sealAll(id, names) : undefined;
      if (from === undefined) {
        if (atOnce) {
          // Its work folder would not say after a kill that there may be a package.
          await this.#close(job);
        }
        from = await work.seal(id, names);
      }
      const written = await this.#writer.writeMeasurement(from, texts);
      const retainUntil = await committer.retainUntil(id);
      const { manifest, file } = await this.#writer.writeManifest(from, {
        job: id,
        retainUntil,
        store: log.store,
        acceptedAt,
        transactionId,
        legacyTransactionId,
        intent,
        texts,
        items,
        supplements,
        ...completeness,
      });
      const at = (path: string): Archived => this.#resultOf({ path, sha256: file.sha256, manifest });
      const maybePlaced = (path: string): (() => void) => {
        this.#unsettled.set(id, { job, known, archived: at(path), isPlaced: false, isRefused: false });
        return () => void this.#unsettled.delete(id);
      };
      const keyOf = (one: Manifest): string => keysOfManifest(one).own;
      const isSame = (there: Manifest): boolean => hasAll(there, manifest);
      const same = { key: keyOf(manifest), keyOf, isSame };
      const placed = await committer.commit(
        {
          job: id,
          folder: from,
          parts: intent.folder,
          files: [...media.map(sealedItem), ...written.map(withType)],
          manifest: withType(file),
          retainUntil,
        },
        same,
        maybePlaced,
      );
      if ("manifest" in placed) {
        this.#unsettled.delete(id);
        return await this.#endWith(job, this.existing(placed, [placed], placed.manifest.complete));
      }
      const archived = at(placed.path);
      const isNoted = await this.#settle({ job, known, archived, isPlaced: true, isRefused: false });
      return isNoted ? archived : undefined;
    } catch (error) {
      throw asFileError(error, committer.vault.addressOf(job.intent.folder.join("/")), committer.vault.name);
    }
  }

  /**
   * Finds out whether packages that were placed when something failed are those of their jobs. Until then, no other job of the same parcel
   * may look for packages: it would not find them. Rejects with ERR_FILE or ERR_STORE.
   */
  async #settleFor(job: OpenJob): Promise<void> {
    const keys = new Set(this.#unsettled.size === 0 ? [] : keysOfWhole(job));
    for (const one of this.#unsettled.values()) {
      const { own, measure } = keysOfManifest(one.archived.manifest);
      if (one.job.id !== job.id && !keys.has(own) && !(measure !== null && keys.has(measure))) {
        continue;
      }
      try {
        await this.#settle(one);
      } catch (error) {
        // What another worker has taken, or nobody knows any more, is settled here.
        if (!isTaken(error) && !isUnknown(error)) {
          throw error;
        }
      }
    }
  }

  /** Rejects while it is not known whether an earlier process has made a package of the same parcel: its job tries to find out by itself. */
  #demandRecovered(job: OpenJob): void {
    const keys = new Set(this.#unrecovered.size === 0 ? [] : keysOfWhole(job));
    for (const { job: other, error } of this.#unrecovered.values()) {
      if (other.id !== job.id && keysOfWhole(other).some((key) => keys.has(key))) {
        const { name } = this.#parts.committer.vault;
        throw error ?? new DimensionerError("packagesUnknown", diskFacts, { path: name });
      }
    }
  }

  /** Notes a package, or gives it up. Returns whether it is noted; one in a folder stays nevertheless. */
  async #settle(one: Unsettled): Promise<boolean> {
    const { job, archived, known, isPlaced } = one;
    const { committer } = this.#parts;
    this.#unsettled.set(job.id, one);
    let isNoted = false;
    let failure: DimensionerError | undefined;
    if (isPlaced || typeof (await committer.find(archived)) === "object") {
      try {
        isNoted = await this.#note(job, archived, known);
      } catch (error) {
        if (!isTaken(error) && !isUnknown(error) && !isRefused(error)) {
          throw error;
        }
        failure = error;
      }
    }
    const stays = isNoted || !(await committer.discard(archived));
    if (stays && isRefused(failure)) {
      this.#unsettled.set(job.id, { ...one, isPlaced: true, isRefused: true });
    } else {
      this.#unsettled.delete(job.id);
    }
    if (failure !== undefined) {
      throw failure;
    }
    return isNoted;
  }

  /** Ends a job with a package that is there already. */
  async #endWith(job: OpenJob, archived: Archived): Promise<Archived> {
    await this.#note(job, archived, "existing");
    return await this.logged(archived);
  }

  /** Adds the line of a package to the log, once: when the index has it. */
  #lineOf(found: FoundPackage): readonly Statement[] {
    const { path, sha256, manifest } = found;
    const isListed = {
      sql: "EXISTS (SELECT 1 FROM packages WHERE package_id = ? AND location = ? AND manifest_sha256 = ?)",
      values: [manifest.job, path, sha256],
    };
    return this.#parts.log.append(archivedEntry(found), allOf(isListed, not(isLogged(manifest.job))));
  }

  /** Notes the package of a job; returns false if it may not end with it. `known`: see Committer. */
  async #note(job: OpenJob, archived: Archived, known: readonly string[] | "existing"): Promise<boolean> {
    const { path, sha256, manifest } = archived;
    const { jobs, committer, log, database } = this.#parts;
    await readyLog({ table: log, vault: committer.vault }, database);
    const keys = keysOfManifest(manifest);
    const noted = committer.note({ path, sha256, manifest }, keys, known === "existing" ? [] : known);
    const condition = known === "existing" ? always : noted.condition;
    const statements = [...noted.statements, ...this.#lineOf({ path, sha256, manifest })];
    const atOnce = this.#parts.sealsAtOnce;
    const isNoted = await jobs.archived(
      job.id,
      keys.own,
      { path, sha256 },
      { condition, statements, atOnce },
    );
    if (isNoted) {
      job.key = keys.own;
      job.state = "archived";
      job.placed = { path, sha256 };
    }
    return isNoted;
  }

  /**
   * Puts the line of a package that this process has noted beside the packages: only then is it said that it is archived. Those of other
   * jobs share the work.
   */
  async #published(archived: Archived): Promise<Archived> {
    return await this.#withLines(archived, publishLog);
  }

  /**
   * The same for packages that are there already: whoever has noted them may have been killed before it put their lines there, or be about to
   * do it. Rejects with ERR_FILE or ERR_STORE.
   */
  async logged(archived: Archived): Promise<Archived> {
    const ids = archived.packages.map(({ manifest }) => manifest.job);
    return await this.#withLines(archived, (log) => publishArchived(log, ids));
  }

  async #withLines(archived: Archived, publish: (log: OpenedLog) => Promise<void>): Promise<Archived> {
    const { committer, log } = this.#parts;
    try {
      await publish({ table: log, vault: committer.vault });
    } catch (error) {
      throw asFileError(error, committer.vault.addressOf(archived.path), committer.vault.name);
    }
    return archived;
  }

  /** To be called when a job has ended, or another worker has it: its package is not noted any more if it was refused. */
  forget(job: string): void {
    this.#parts.committer.forget(job);
    if (this.#unsettled.get(job)?.isRefused === true) {
      this.#unsettled.delete(job);
    }
    this.#unrecovered.delete(job);
  }

  /**
   * Finds the packages that were being placed when the process ended, if what has the packages is asked now. A job for which that fails
   * tries again by itself, and those of the same parcel wait for it.
   */
  async recoverAll(jobs: readonly OpenJob[], asksNow: boolean): Promise<void> {
    const { work } = this.#parts;
    const folders = new Set(await work.list());
    for (const job of jobs) {
      if (job.state === "accepted" && folders.has(job.id) && (await work.isSealed(job.id))) {
        // The database does not know it.
        job.state = "sealing";
      }
      if (job.state === "sealing") {
        this.#unrecovered.set(job.id, { job, error: undefined });
        if (asksNow) {
          await this.recover(job).catch((error: unknown) => {
            if (!isDimensionerError(error)) {
              throw error;
            }
            this.#unrecovered.set(job.id, { job, error });
          });
        }
      }
    }
  }

  /**
   * Ends a job of an earlier process with its own package, if the index has one although the job is open: it is so in an older
   * database that was restored, and completed by `dimensioner rebuild`. Its media are in the package, and not in its folder.
   */
  async findOwn(job: OpenJob): Promise<Archived | undefined> {
    const own = job.state === "archived" ? undefined : await this.#ownOf(job);
    if (own === undefined) {
      return undefined;
    }
    if (job.state !== "sealing") {
      await this.#parts.jobs.seal(job.id, null);
      job.state = "sealing";
    }
    return await this.#endWith(job, this.existing(own, [own], own.manifest.complete));
  }

  /** The package of a job that the index has, if it is whole. */
  async #ownOf({ id }: OpenJob): Promise<FoundPackage | undefined> {
    const { committer, index } = this.#parts;
    const placed = await index.ofJob(id);
    const manifest = placed === undefined ? undefined : await committer.find(placed);
    return placed === undefined || typeof manifest !== "object" || manifest.job !== id
      ? undefined
      : { path: placed.path, sha256: placed.sha256, manifest };
  }

  /** Finds the package of a job that is resumed after a restart or a failure, if it has its name already; otherwise opens the job again. */
  async recover(job: OpenJob): Promise<Archived | undefined> {
    const archived = await this.#recover(job);
    this.#unrecovered.delete(job.id);
    return archived;
  }

  async #recover(job: OpenJob): Promise<Archived | undefined> {
    const { committer, work, jobs } = this.#parts;
    await this.#keys.run(keysOfWhole(job), () => this.#settleFor(job));
    if (job.placed !== null) {
      const manifest = await committer.find(job.placed);
      // With a package of another job, it has to be compared again.
      if (typeof manifest === "object" && manifest.job === job.id) {
        return await this.logged(this.#resultOf({ ...job.placed, manifest }));
      }
      job.placed = null;
    }
    const found = job.state === "sealing" ? await committer.seek(job.id, job.intent.folder) : undefined;
    if (found !== undefined) {
      const archived = this.#resultOf(found);
      // What it was compared with is forgotten, and a worker that was suspended may have placed it after another worker had taken the
      // job. So the database decides whether it is the package of this job.
      const noted = await this.#note(job, archived, []).catch(asRefusal);
      if (noted !== true) {
        await committer.discard(found);
      }
      if (typeof noted === "object") {
        throw noted;
      }
      // If the database does not know that the job is sealed, a package that stays is found when the job is sealed again.
      if (noted) {
        return await this.logged(archived);
      }
    }
    if (job.state !== "collecting") {
      await jobs.collect(job.id);
      job.state = "collecting";
    }
    await work.make(job.id);
    await work.reopen(job.id, isMediumOf(job));
    return undefined;
  }

  /** The result of a job with a package of its own. */
  #resultOf(one: FoundPackage): Archived {
    const { vault } = this.#parts.committer;
    const addressOf = (location: string): string => vault.addressOf(location);
    return {
      ...one,
      folder: addressOf(one.path),
      addressOf,
      wasThere: false,
      packages: [one],
      complete: one.manifest.complete,
    };
  }

  /** The result of a job that brings nothing new. */
  existing(first: FoundPackage, packages: readonly FoundPackage[], complete: boolean): Archived {
    return { ...this.#resultOf(first), wasThere: true, packages, complete };
  }
}

interface SealingParts {
  readonly committer: Committer;
  /** The disk of the work folders. */
  readonly disk: ArchiveDisk;
  readonly work: WorkFolders;
  readonly jobs: JobTable;
  readonly log: LogTable;
  readonly database: Pick<Database, "transaction">;
  readonly index: PackageIndex;
  /** See `JobStore`. */
  readonly sealsAtOnce: boolean;
}

/** A package whose row the database refuses may stay. */
function asRefusal(error: unknown): DimensionerError {
  if (!isRefused(error)) {
    throw error;
  }
  return error;
}

/** A file that was written, with the content type that its name says. */
function withType(file: WrittenFile): SealedFile {
  return file.path.endsWith(".json") ? { ...file, contentType: "application/json" } : file;
}

function sealedItem({ path, bytes, sha256, contentTypeFound, contentTypeAnnounced }: StoredItem): SealedFile {
  return { path, bytes, sha256, contentType: contentTypeFound ?? contentTypeAnnounced ?? undefined };
}

/**
 * Gives media of the same content one file, if they are from different sources: of one measurement, the device and the cloud may give the same
 * picture. Files that are not needed stay in the work folder, and are removed with it.
 */
function shareFiles(items: readonly StoredItem[]): readonly StoredItem[] {
  const files = new Map<string, string[]>();
  const counts = new Map<string, number>();
  const shared = new Map<StoredItem, StoredItem>();
  // The names that a message has given come first.
  for (const item of itemSources.flatMap((one) => items.filter(({ source }) => source === one))) {
    const { source, sha256, path } = item;
    // The second one of a source with this content is not the same medium as its first.
    const count = counts.get(`${source} ${sha256}`) ?? 0;
    counts.set(`${source} ${sha256}`, count + 1);
    const alike = files.get(sha256) ?? [];
    files.set(sha256, alike);
    shared.set(item, { ...item, path: (alike[count] ??= path) });
  }
  return items.map((item) => shared.get(item) ?? item);
}

/** Whether a file in the work folder is a medium of the job. */
function isMediumOf({ items }: OpenJob): (name: string) => boolean {
  const names = new Set([...items.values()].map(({ path }) => path));
  return (name) => names.has(name);
}

/** The measurement of a group of packages: a supplement may bring the one that its package lacks. */
function answerOfAll(group: readonly IndexedPackage[]): Answer {
  const find = (of: keyof Answer): string | null => group.find((one) => one[of] !== null)?.[of] ?? null;
  return { measurement: find("measurement"), raw: find("raw") };
}

/** Everything that a job has of its parcel, for a package of its own. */
function wholeOf(job: OpenJob, leftOut: readonly LeftOut[]): Addition {
  return { items: withoutLeftOut(job.items.values(), leftOut), hasAnswer: true, supplements: null };
}

/** What a job has and the existing package and its supplements do not have; null if there is nothing. */
function additionOf(
  job: OpenJob,
  packages: readonly FoundPackage[],
  leftOut: readonly LeftOut[],
): Addition | null {
  const whole = wholeOf(job, leftOut);
  const [first] = packages;
  if (first === undefined) {
    return whole;
  }
  const archived = hashesIn(packages);
  const fresh = whole.items.filter(({ sha256 }) => !archived.has(sha256));
  const hasAnswer = bringsAnswer(job.answer, packages);
  return fresh.length === 0 && !hasAnswer
    ? null
    : { items: fresh, hasAnswer, supplements: { path: first.path, sha256: first.sha256 } };
}

/**
 * Throws ERR_EXPIRED for a part of a sequence that was accepted when the package of its job had its name already: it would be removed
 * with the work folder. What has come from a cloud or a device since then can be asked for again.
 */
function throwIfPartIsLate({ items }: OpenJob, packages: readonly FoundPackage[]): void {
  const archived = hashesIn(packages);
  const late = [...items].findLast(([, { source, sha256 }]) => source === "message" && !archived.has(sha256));
  if (late !== undefined) {
    throw new DimensionerError("partTooLate", diskFacts, { count: Number(positionOf(late[0])) + 1 });
  }
}

/** The hashes of the media in packages. */
function hashesIn(packages: readonly FoundPackage[]): ReadonlySet<string> {
  return new Set(packages.flatMap(({ manifest }) => manifest.items.map(({ sha256 }) => sha256)));
}

/** Whether a job brings a measurement or an exact answer that the existing packages do not have. */
export function bringsAnswer(
  { raw, measurement }: Answer,
  packages: readonly Pick<FoundPackage, "manifest">[],
): boolean {
  const answers = packages.map(({ manifest }) => answerOfManifest(manifest));
  const hasRaw = answers.some((one) => one.raw !== null);
  const hasMeasurement = answers.some((one) => one.measurement !== null);
  return (raw !== null && !hasRaw) || (measurement !== null && !hasRaw && !hasMeasurement);
}

/**
 * Whether a package that another process has placed contains everything of this one: then it is the package of both. An exact
 * answer that only this one has would be lost with its work folder.
 */
function hasAll(there: Manifest, own: Manifest): boolean {
  const answer = answerOfManifest(own);
  const hashes = new Set(there.items.map(({ sha256 }) => sha256));
  return (
    keysOfManifest(there).own === keysOfManifest(own).own &&
    (there.supplements?.sha256 ?? null) === (own.supplements?.sha256 ?? null) &&
    !isOtherAnswer(answer, answerOfManifest(there)) &&
    !bringsAnswer(answer, [{ manifest: there }]) &&
    (there.complete || !own.complete) &&
    own.items.every(({ sha256 }) => hashes.has(sha256))
  );
}
