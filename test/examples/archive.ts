import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";

/** What simulated devices and the cloud serve at an address, as it is now. */
export async function served(url: string, token?: string): Promise<Buffer> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await fetch(url, { headers });
  assert.equal(answer.status, 200, url);
  return Buffer.from(await answer.arrayBuffer());
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** All files below a folder, with slashes, in order. */
export async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .toSorted();
}

export async function readJson(file: string): Promise<Record<string, unknown>> {
  const value: unknown = JSON.parse(await readFile(file, "utf8"));
  assert.ok(typeof value === "object" && value !== null);
  return { ...value };
}

/** Expects the package of a parcel that was filmed and measured through the cloud: complete, each file as it was hashed. */
export async function expectWholePackage(folder: string): Promise<void> {
  assert.deepEqual(await filesIn(folder), [
    "AnnotatedColorImageJpeg.jpg",
    "ColorImageJpeg.jpg",
    "ColorVideoMp4.mp4",
    "DepthImage16Bit.bmp",
    "manifest.json",
    "measurement.json",
    "measurement.raw",
  ]);
  const manifest = await readJson(join(folder, "manifest.json"));
  assert.equal(manifest["complete"], true);
  for (const { path, sha256: hash } of manifest["items"] as { path: string; sha256: string }[]) {
    assert.equal(sha256(await readFile(join(folder, path))), hash, path);
  }
}
