import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { ToolDatabase } from "../../database/tool-database.ts";
import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import { sha256Of } from "../../model/sha256.ts";
import { manifestFileName } from "../archive-disk.ts";
import type { CopiedPackage, CopyTarget, NotPut } from "../copy-target.ts";
import { BucketFiles } from "../files/bucket-files.ts";
import type { BucketAddress } from "../s3/bucket-address.ts";
import { Bucket } from "../s3/bucket.ts";
import { BucketDisk, rootOf } from "./bucket-disk.ts";
import { copyFile } from "./copy-file.ts";
import { markArchive } from "./mark-archive.ts";

const dayMs = 24 * 3_600_000;
const schema =
  "CREATE TABLE there (folder TEXT NOT NULL, name TEXT NOT NULL, bytes INTEGER NOT NULL, PRIMARY KEY (folder, name)) WITHOUT ROWID";

interface BucketCopyOptions {
  /** A temporary database, for the names of all objects. */
  readonly tables: ToolDatabase;
  /** Until when nobody without a special right can delete the packages. */
  readonly retainUntil: Date | undefined;
  readonly signal: AbortSignal | undefined;
}

/** A bucket to which packages are copied. A package is there when its manifest is, which comes last. */
export class BucketCopy implements CopyTarget {
  readonly files: BucketFiles;
  readonly #bucket: Bucket;
  readonly #prefix: string;
  readonly #options: BucketCopyOptions;

  private constructor(bucket: Bucket, options: BucketCopyOptions) {
    this.#bucket = bucket;
    this.#prefix = bucket.address.prefix === "" ? "" : `${bucket.address.prefix}/`;
    this.#options = options;
    this.files = new BucketFiles(new BucketDisk(bucket), rootOf(bucket.address));
  }

  /** Sends nothing yet. */
  static async open(address: BucketAddress, options: BucketCopyOptions): Promise<BucketCopy> {
    return new BucketCopy(await Bucket.open(address, { signal: options.signal }), options);
  }

  /** An upload of a day ago is none that still runs. All names come with few requests, 1,000 with each. */
  async begin(below: string): Promise<number | null> {
    const ended = await this.#bucket.endUploads(this.#prefix, Date.now() - dayMs);
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
    return ended;
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

  /** As its writer has noted it; what other programs have copied is read. */
  async sha256Of(location: string): Promise<string | undefined> {
    const key = this.#prefix + location;
    const head = await this.#bucket.head(key);
    if (head === undefined || head.sha256 !== undefined) {
      return head?.sha256;
    }
    const opened = await this.#bucket.read(key);
    return opened === undefined ? undefined : sha256Of(await buffer(opened.body));
  }

  /** What an earlier run has stored is not sent again, and nothing is replaced by another package. */
  async putPackage({ folder, location, manifest, files }: CopiedPackage): Promise<NotPut | undefined> {
    const there = await this.lengthsOf(location);
    for (const file of files) {
      const isStored =
        there.get(file.path) === file.bytes &&
        (await this.sha256Of(`${location}/${file.path}`)) === file.sha256;
      const what = isStored
        ? undefined
        : await this.putFile(join(folder, file.path), `${location}/${file.path}`, file);
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
        retainUntil: this.#options.retainUntil,
        contentType: "application/json",
        isNew: true,
      },
    );
    if (stored === "stored" || (stored === "exists" && (await this.sha256Of(key)) === manifest.sha256)) {
      const rows = [...files, { ...manifest, path: manifestFileName }];
      await this.#note(rows.map(({ path, bytes }) => [location, path, bytes]));
      return undefined;
    }
    return { what: stored === "exists" ? "taken" : (stored ?? "missing"), path: manifestFileName };
  }

  async putFile(
    path: string,
    location: string,
    { contentType, mayChange = false, ...expected }: Parameters<CopyTarget["putFile"]>[2],
  ): Promise<NotPut["what"] | undefined> {
    const stored = await copyFile(path, this.#bucket, this.#prefix + location, expected, {
      retainUntil: mayChange ? undefined : this.#options.retainUntil,
      contentType,
    });
    return stored === "stored" ? undefined : stored === undefined ? "missing" : "changed";
  }

  async remove(location: string): Promise<void> {
    try {
      await this.#bucket.remove(this.#prefix + location);
    } catch (error) {
      if (!isDimensionerError(error) || !["bucketDenied", "bucketProtected"].includes(error.sentence)) {
        throw error;
      }
    }
  }

  close(): Promise<void> {
    return this.#bucket.close();
  }
}
