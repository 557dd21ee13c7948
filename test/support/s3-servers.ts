import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sha256Of } from "../../src/model/sha256.ts";
import type { UploadSource } from "../../src/vault/s3/store-object.ts";
import { startStub } from "./s3-stub.ts";

/** An object store with the bucket `evidence`. */
export interface BucketServer {
  readonly url: (prefix: string) => string;
  close(): Promise<void>;
}

/** The content of an object, for tests that have it in memory. */
export function sourceOf(content: Buffer, sha256 = sha256Of(content)): UploadSource {
  return {
    bytes: content.length,
    sha256,
    read: async (position, length) => content.subarray(position, position + length),
  };
}

/** The credentials that s3rver accepts; the stub accepts any. */
const credentials = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };

/** Repeats at once what the store could not serve. */
export const forTests = {
  credentials: { get: async () => credentials, drop: () => undefined },
  firstPauseMs: 1,
};

/** For a suite whose code finds the credentials in the environment, as commands do. */
export function useCredentials(): void {
  const names = {
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  };
  const earlier = new Map(Object.keys(names).map((name) => [name, process.env[name]]));
  before(() => Object.assign(process.env, names));
  after(() => {
    for (const [name, value] of earlier) {
      if (value === undefined) {
        delete process.env[name];
      } else {
        process.env[name] = value;
      }
    }
  });
}

/** The stores that every suite about buckets runs with. */
export const s3Servers: Readonly<Record<string, () => Promise<BucketServer>>> = {
  s3rver: startS3rver,
  "a store with conditions": () => startStub({ hasLock: true, pageSize: 3 }),
  "a store that ignores conditions": () => startStub({ conditions: "ignored", pageSize: 2 }),
  "a store that refuses conditions": () => startStub({ conditions: "refused" }),
};

/** An independent server that checks signatures and hashes. It keeps objects in files. */
async function startS3rver(): Promise<BucketServer> {
  const { default: FakeServer } = await import("@20minutes/s3rver");
  const directory = await mkdtemp(join(tmpdir(), "s3rver-"));
  const server = new FakeServer({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: "evidence" }],
  });
  // Where a listing goes on, it encrypts with a cipher that Node.js no longer has: it lists everything at once.
  const { store } = server;
  const list = store.listObjects.bind(store);
  store.listObjects = (bucket, options) => list(bucket, { ...options, maxKeys: Infinity });
  const { port } = await server.run();
  return {
    url: (prefix) => `s3://evidence/${prefix}?endpoint=http://127.0.0.1:${port}`,
    async close() {
      await server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
