import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { filesOf, readManifest, type Manifest } from "../../src/vault/packages/manifest.ts";
import type { BucketStub } from "../support/s3-stub.ts";

/** Of the packages in the bucket. */
export const prefix = "dock 4/ü";

/** The archive's own objects, and all others by their folder. */
export async function readObjects({ objects }: BucketStub): Promise<ReadonlyMap<string, Manifest>> {
  const folders = new Map<string, Map<string, Buffer>>();
  for (const [key, { body, headers }] of objects) {
    assert.ok(key.startsWith(`${prefix}/`), `a stray: ${key}`);
    const path = key.slice(prefix.length + 1);
    assert.equal(headers["x-amz-meta-sha256"], sha256Of(body), key);
    if (!path.startsWith(".dimensioner-archive/")) {
      const at = path.lastIndexOf("/");
      const folder = folders.get(path.slice(0, at)) ?? new Map<string, Buffer>();
      folders.set(path.slice(0, at), folder.set(path.slice(at + 1), body));
    }
  }
  return new Map([...folders].map(([path, content]) => [path, readPackage(path, content)]));
}

function readPackage(path: string, content: ReadonlyMap<string, Buffer>): Manifest {
  const manifest = readManifest(String(content.get("manifest.json")));
  assert.ok(manifest !== undefined, `no manifest: ${path} with ${[...content.keys()].join()}`);
  const files = filesOf(manifest);
  assert.deepEqual(
    [...content.keys()].toSorted(),
    ["manifest.json", ...files.map((one) => one.path)].toSorted(),
  );
  for (const file of files) {
    assert.equal(sha256Of(content.get(file.path) ?? Buffer.alloc(0)), file.sha256, `${path}/${file.path}`);
  }
  return manifest;
}

function sha256Of(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

/** The objects that the archive keeps of jobs that have not ended. */
export function stagedIn(stub: BucketStub | undefined): string[] {
  return [...(stub?.objects.keys() ?? [])].filter((key) => key.includes("/.dimensioner-archive/work/"));
}
