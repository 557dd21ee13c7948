import { join } from "node:path";
import type { ToolDatabase } from "../../database/tool-database.ts";
import { manifestFileName, plainDisk } from "../archive-disk.ts";
import type { CopiedPackage, CopyTarget, NotPut } from "../upkeep/copy-target.ts";
import { BucketVault, copyFile, markArchive } from "./bucket-vault.ts";
import type { BucketAddress } from "../s3/bucket-address.ts";
import { Bucket, timeOf } from "../s3/bucket.ts";
import { BucketDisk, rootOf } from "./bucket-disk.ts";
import { dayMs } from "../../time/clocks.ts";

const schema =
  "CREATE TABLE there (folder TEXT NOT NULL, name TEXT NOT NULL, bytes INTEGER NOT NULL, PRIMARY KEY (folder, name)) WITHOUT ROWID";

interface BucketCopyOptions {
  /** A temporary database, for the names of all objects. */
  readonly tables: ToolDatabase;
  /** For how many days nobody without a special right can delete the packages. */
  readonly retainDays: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** A bucket to which packages are copied. A package is there when its manifest is, which comes last. */
export class BucketCopy implements CopyTarget {
  readonly vault: BucketVault;
  #retainUntil: Date | undefined;
  readonly #bucket: Bucket;
  readonly #prefix: string;
  readonly #options: BucketCopyOptions;

  private constructor(bucket: Bucket, options: BucketCopyOptions) {
    this.#bucket = bucket;
    this.#prefix = bucket.address.prefix === "" ? "" : `${bucket.address.prefix}/`;
    this.#options = options;
    this.vault = new BucketVault(new BucketDisk(bucket), rootOf(bucket.address));
  }

  /** Sends nothing yet. */
  static async open(address: BucketAddress, options: BucketCopyOptions): Promise<BucketCopy> {
    return new BucketCopy(await Bucket.open(address, { signal: options.signal }), options);
  }

  /** By the clock of the bucket, which `begin` has asked for. */
  get retainUntil(): Date | undefined {
    return this.#retainUntil;
  }

  /** An upload of a day ago is none that still runs. All names come with few requests, 1,000 with each. */
  async begin(below: string): Promise<number | null> {
    const { tables } = this.#options;
    await tables.transaction([{ sql: schema }]);
    for await (const page of this.#bucket.list(this.#prefix + below)) {
      const rows = page.map(({ key, bytes }) => {
        const location = key.slice(this.#prefix.length);
        const end = location.lastIndexOf("/");
        return [location.slice(0, Math.max(end, 0)), location.slice(end + 1), bytes] as const;
      });
      await this.#note(rows);
    }
    const { retainDays } = this.#options;
    this.#retainUntil =
      retainDays === undefined ? undefined : new Date(timeOf(this.#bucket).getTime() + retainDays * dayMs);
    return await this.#bucket.endUploads(this.#prefix, (await this.vault.leastTimeMs()) - dayMs);
  }

  /** `rows`: folder, name and length. */
  async #note(rows: readonly (readonly (number | string)[])[]): Promise<void> {
    await this.#options.tables.transaction([
      {
        sql: "INSERT OR REPLACE INTO there SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)",
        values: [JSON.stringify(rows)],
      },
    ]);
  }

  async mark(): Promise<void> {
    await markArchive(this.#bucket, this.#bucket.address.prefix);
  }

  async lengthsOf(location: string): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#options.tables.select("SELECT name, bytes FROM there WHERE folder = ?", [
      location,
    ]);
    return new Map(rows.map(({ name, bytes }) => [String(name), Number(bytes)]));
  }

  /** What an earlier run has stored is not sent again, and nothing is replaced by another package. */
  async putPackage({ folder, location, manifest, files }: CopiedPackage): Promise<NotPut | undefined> {
    const there = await this.lengthsOf(location);
    const { retainUntil } = this;
    for (const file of files) {
      const to = join(this.vault.root, location, file.path);
      const isStored =
        there.get(file.path) === file.bytes && (await this.vault.sha256Of(to, file.bytes)) === file.sha256;
      if (isStored) {
        await this.#protect(`${location}/${file.path}`);
        continue;
      }
      const what = await this.vault.putFile(join(folder, file.path), to, { ...file, retainUntil }, plainDisk);
      if (what !== undefined) {
        return { what, path: file.path };
      }
    }
    const key = `${location}/${manifestFileName}`;
    const stored = await copyFile(
      join(folder, manifestFileName),
      this.#bucket,
      this.#prefix + key,
      manifest,
      {
        retainUntil,
        contentType: "application/json",
        isNew: true,
      },
    );
    const isThere =
      stored === "exists" &&
      (await this.vault.sha256Of(join(this.vault.root, key), manifest.bytes)) === manifest.sha256;
    if (isThere) {
      await this.#protect(key);
    }
    if (stored === "stored" || isThere) {
      const rows = [...files, { ...manifest, path: manifestFileName }];
      await this.#note(rows.map(({ path, bytes }) => [location, path, bytes]));
      return undefined;
    }
    return { what: stored === "exists" ? "taken" : (stored ?? "missing"), path: manifestFileName };
  }

  /** An earlier run may have ended between storing an object and setting its retention, or because that was refused. */
  async #protect(key: string): Promise<void> {
    if (this.retainUntil !== undefined) {
      await this.#bucket.demandRetention(this.#prefix + key, this.retainUntil);
    }
  }

  close(): Promise<void> {
    return this.#bucket.close();
  }
}
