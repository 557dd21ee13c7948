import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { lstat, readFile, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CloudClient } from "../../src/cloud/client.ts";
import { missingMedia } from "../../src/cloud/expected-media.ts";
import { type Archive, Archives, type OpeningFindings } from "../../src/jobs/archive.ts";
import type { GivenMedium } from "../../src/jobs/intake.ts";
import { JobRunner, type RunnerOptions } from "../../src/jobs/runner.ts";
import { unknownInstrument } from "../../src/model/instrument.ts";
import type { Simulator } from "../../src/simulator/index.ts";
import type { ArchiveDisk } from "../../src/vault/archive-disk.ts";
import type { Intent } from "../../src/vault/packages/intent.ts";
import { packageFolder } from "../../src/vault/packages/layout.ts";
import { type Manifest, filesOf, readManifest } from "../../src/vault/packages/manifest.ts";
import type { Store } from "../../src/vault/store.ts";
import { storeIn } from "./store.ts";

const token = "simulator";

export function clientOf(sim: Simulator): CloudClient {
  return new CloudClient({ baseUrl: sim.cloud.origin, token });
}

/** A job for a transaction of a cloud; without an origin, for what a message brings. */
export function intentOf(transactionId: string, more: Partial<Intent> = {}): Intent {
  return {
    origin: "https://cloud.example",
    transactionId,
    measuredBy: null,
    sought: null,
    recording: null,
    media: more.expect === undefined ? "all" : "list",
    contentType: null,
    expect: [],
    settleMs: 0,
    waitMs: 0,
    giveUpMs: 0,
    onIncomplete: "error",
    folder: packageFolder("{date}/{reference}-{transactionId}", {
      date: "2026-11-02",
      reference: "ORDER-1",
      transactionId,
      device: null,
    }),
    references: {
      transactionReference: "ORDER-1",
      customReference1: null,
      customReference2: null,
      customReference3: null,
      barcodeReference: null,
    },
    device: null,
    instrument: unknownInstrument,
    deviceLocalTime: null,
    deviceUtcTime: null,
    legalForTrade: null,
    billable: null,
    scan: null,
    measurement: null,
    raw: null,
    keep: {},
    cloudName: null,
    sequence: null,
    ...more,
  };
}

/** One opened archive with a runner. */
export interface Opened {
  readonly archive: Archive;
  readonly runner: JobRunner;
  /** What was found at the opening. */
  readonly findings: OpeningFindings;
  close(): Promise<void>;
}

const quick = {
  retry: { firstMs: 20, longestMs: 100 },
  poll: { firstMs: 20, longestMs: 50, paceMs: 0 },
} as const;

export async function openArchive(
  folder: string,
  client: CloudClient | undefined,
  more: Partial<RunnerOptions> & { archives?: Archives; disk?: ArchiveDisk; store?: Store } = {},
): Promise<Opened> {
  const { disk, archives = new Archives(disk === undefined ? {} : { disk }), store, ...options } = more;
  const use = await archives.open(store ?? storeIn(folder));
  const runner = new JobRunner(use.archive, {
    node: "node",
    concurrency: 2,
    cloud: () => {
      assert.ok(client !== undefined);
      return client;
    },
    device: () => assert.fail("no device was given"),
    findMissing: missingMedia,
    outputFolders: async () => [tmpdir()],
    ...quick,
    ...options,
  });
  return {
    archive: use.archive,
    runner,
    findings: use.findings,
    async close() {
      await runner.close();
      await use.release();
    },
  };
}

/** The work folders of jobs, of whatever store. */
export async function workFolders(root: string): Promise<string[]> {
  const work = join(root, ".dimensioner-archive", "work");
  const stores = await readdir(work);
  return (await Promise.all(stores.map((store) => readdir(join(work, store))))).flat();
}

/** Where a job's media lie while it is open. */
export async function mediaFolder(root: string, job: string): Promise<string | undefined> {
  const work = join(root, ".dimensioner-archive", "work");
  const folders = (await readdir(work)).map((store) => join(work, store, job, "media"));
  return folders.find((folder) => existsSync(folder));
}

/** All packages below a root by their folder's path; asserts that each is whole and that there is nothing else. */
export async function readPackages(root: string): Promise<Map<string, Manifest>> {
  const packages = new Map<string, Manifest>();
  const walk = async (folder: string, path: string): Promise<void> => {
    const names = await readdir(folder);
    if (names.includes("manifest.json")) {
      packages.set(path, await checkPackage(folder, names));
      return;
    }
    for (const name of names) {
      if (path === "" && name === ".dimensioner-archive") {
        continue;
      }
      const isFolder = (await lstat(join(folder, name))).isDirectory();
      assert.ok(isFolder, `a stray: ${path}/${name}`);
      await walk(join(folder, name), path === "" ? name : `${path}/${name}`);
    }
  };
  await walk(root, "");
  return packages;
}

async function checkPackage(folder: string, names: readonly string[]): Promise<Manifest> {
  const manifest = readManifest(await readFile(join(folder, "manifest.json"), "utf8"));
  assert.ok(manifest !== undefined, `${folder}: no manifest`);
  const files = filesOf(manifest);
  for (const { path, bytes, sha256 } of files) {
    const content = await readFile(join(folder, path));
    assert.equal(content.length, bytes, `${folder}/${path}`);
    assert.equal(sha256Of(content), sha256, `${folder}/${path}`);
  }
  const named = ["manifest.json", ...files.map(({ path }) => path)];
  assert.deepEqual(
    names.filter((name) => !named.includes(name)),
    [],
    `strays in ${folder}`,
  );
  return manifest;
}

export function sha256Of(content: Uint8Array | string): string {
  return createHash("sha256").update(content).digest("hex");
}

/** A small JPEG with a text in it. */
export function pictureOf(text: string): Buffer {
  const comment = Buffer.from(text);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(comment.length + 2);
  return Buffer.concat([Buffer.from("ffd8fffe", "hex"), length, comment, Buffer.from("ffd9", "hex")]);
}

/** That picture as a message brings it. */
export function mediumOf(text: string): GivenMedium {
  return {
    content: pictureOf(text),
    contentType: "image/jpeg",
    contentId: null,
    description: null,
    filename: null,
  };
}

/** Waits for something that has no event of its own. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string,
  ms = 120_000,
): Promise<void> {
  const end = performance.now() + ms;
  while (!(await holds())) {
    assert.ok(performance.now() < end, `never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
