import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { type Manifest, filesOf, readManifest } from "../../src/vault/packages/manifest.ts";
import type { BucketAddress } from "../../src/vault/s3/bucket-address.ts";
import type { ListedObject, ObjectHead, Objects, OpenedObject } from "../../src/vault/s3/bucket.ts";
import type { StoreOptions, Stored, UploadSource } from "../../src/vault/s3/store-object.ts";
import type { Scheduler, SimulatedProcess } from "./scheduler.ts";
import { sha256Of } from "./support.ts";

/** The content of the objects of a bucket, by their keys. */
export type MemoryObjects = Map<string, { readonly body: Buffer; readonly sha256: string }>;

/** What shows that the archive is one of its own. */
const marker = ".dimensioner-archive/archive.json";

const address: BucketAddress = {
  bucket: "evidence",
  prefix: "",
  origin: "http://store.example",
  basePath: "/evidence",
  region: "us-east-1",
  name: "s3://evidence",
};

/** A bucket in memory; each request is a step of the scheduler, after which its answer may never be seen. */
export class ScheduledBucket implements Objects {
  readonly address = address;
  readonly #objects: MemoryObjects;
  readonly #scheduler: Scheduler;
  readonly #simulated: SimulatedProcess;

  constructor(objects: MemoryObjects, scheduler: Scheduler, simulated: SimulatedProcess) {
    this.#objects = objects;
    this.#scheduler = scheduler;
    this.#simulated = simulated;
  }

  async close(): Promise<void> {
    // Nothing is open.
  }

  async pauseAfter(): Promise<void> {
    // Nothing fails.
  }

  explain(_operation: string, error: unknown): unknown {
    return error;
  }

  head(key: string): Promise<ObjectHead | undefined> {
    return this.#step("HEAD", key, () => this.#headOf(key));
  }

  read(key: string, from = 0): Promise<OpenedObject | undefined> {
    return this.#step("GET", key, () => {
      const head = this.#headOf(key);
      const body = this.#objects.get(key)?.body.subarray(from);
      return head === undefined ? undefined : { ...head, body: Readable.from([body]) };
    });
  }

  async *list(prefix: string): AsyncGenerator<readonly ListedObject[]> {
    yield await this.#step("LIST", prefix, () =>
      [...this.#objects]
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, { body }]) => ({ key, bytes: body.length, storedAtMs: 0 })),
    );
  }

  async store(key: string, source: UploadSource, { isNew }: StoreOptions = {}): Promise<Stored> {
    const body = Buffer.from(await source.read(0, source.bytes + 1));
    return await this.#step("PUT", key, () => {
      if (isNew === true && this.#objects.has(key)) {
        return "exists";
      }
      this.#objects.set(key, { body, sha256: source.sha256 });
      return "stored";
    });
  }

  remove(key: string): Promise<void> {
    return this.#step("DELETE", key, () => void this.#objects.delete(key));
  }

  async endUploads(): Promise<number> {
    return 0;
  }

  async hasLock(): Promise<boolean> {
    return false;
  }

  #headOf(key: string): ObjectHead | undefined {
    const found = this.#objects.get(key);
    return found === undefined
      ? undefined
      : { bytes: found.body.length, etag: found.sha256, sha256: found.sha256, retainedUntilMs: 0 };
  }

  #step<T>(method: string, key: string, work: () => T): Promise<T> {
    const name = `${method} ${key.split("/").slice(-2).join("/")}`;
    return this.#scheduler.schedule(name, work, this.#simulated);
  }
}

/** The packages of these locations. Throws if there is anything else in the bucket, or a file is missing. */
export function readObjects(
  objects: MemoryObjects,
  locations: readonly string[],
): ReadonlyMap<string, Manifest> {
  const found = new Map<string, Manifest>();
  for (const key of objects.keys()) {
    const folder = key.slice(0, key.lastIndexOf("/"));
    const isOfLog = key.startsWith(".dimensioner-archive/log/");
    assert.ok(locations.includes(folder) || key === marker || isOfLog, `a stray: ${key}`);
  }
  for (const location of locations) {
    const manifest = readManifest(String(objects.get(`${location}/manifest.json`)?.body));
    assert.ok(manifest !== undefined, `no manifest: ${location}`);
    for (const { path, sha256 } of filesOf(manifest)) {
      assert.equal(sha256Of(objects.get(`${location}/${path}`)?.body ?? ""), sha256, `${location}/${path}`);
    }
    found.set(location, manifest);
  }
  return found;
}
