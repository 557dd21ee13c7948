import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { writeManifest, type Manifest } from "../../src/vault/packages/manifest.ts";
import { forkAndHear } from "../fork.ts";
import { median } from "../median.ts";
import type { Progress } from "../progress.ts";

/** How fast packages are verified, and how fast `sha256sum` reads the same files. */
export interface VerifyRow {
  readonly runtime: string;
  readonly packages: number;
  /** Of all files that were hashed. */
  readonly bytes: number;
  readonly bytesPerSecond: number;
  /** Processor time for each second: more than 1 if more than one core was used. */
  readonly coresUsed: number;
  /** Null if it is not installed. */
  readonly sumBytesPerSecond: number | null;
}

export interface VerifySizes {
  readonly packages: number;
  readonly videoBytes: number;
  readonly pictureBytes: number;
  readonly rounds: number;
  /** An existing folder on the disk to write to. */
  readonly folder: string;
}

interface Verified {
  readonly bytes: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
}

const pictures = 4;

/** Verifies packages with a video and four pictures each, in turn with `sha256sum`. The files are in the system's cache for both. */
export async function measureVerify(sizes: VerifySizes, progress: Progress): Promise<VerifyRow[]> {
  const root = await mkdtemp(join(sizes.folder, "bench-verify-"));
  try {
    progress(`writing ${sizes.packages} packages`);
    const files = await writePackages(root, sizes);
    const verified: Verified[] = [];
    const sums: number[] = [];
    for (let round = 0; round < sizes.rounds; round += 1) {
      progress(`verifying, round ${round + 1} of ${sizes.rounds}`);
      const { heard, stop } = await forkAndHear<Verified>("verify-process.ts", [root]);
      await stop();
      verified.push(heard);
      const seconds = await sumSeconds(files);
      if (seconds !== null) {
        sums.push(seconds);
      }
    }
    const bytes = verified[0]?.bytes ?? 0;
    return [
      {
        runtime: `Node ${process.versions.node}`,
        packages: sizes.packages,
        bytes,
        bytesPerSecond: bytes / median(verified.map(({ seconds }) => seconds)),
        coresUsed: median(verified.map(({ seconds, cpuSeconds }) => cpuSeconds / seconds)),
        sumBytesPerSecond: sums.length === 0 ? null : bytes / median(sums),
      },
    ];
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

async function sumSeconds(files: readonly string[]): Promise<number | null> {
  const startedAt = performance.now();
  try {
    await promisify(execFile)("sha256sum", files);
    return (performance.now() - startedAt) / 1_000;
  } catch {
    return null;
  }
}

/** Writes packages as the archive does, and returns the paths of their media. */
async function writePackages(
  root: string,
  { packages, videoBytes, pictureBytes }: VerifySizes,
): Promise<string[]> {
  const files: string[] = [];
  for (let index = 0; index < packages; index += 1) {
    const path = `${index}`;
    await mkdir(join(root, path));
    const items: Manifest["items"] = [];
    for (let place = 0; place <= pictures; place += 1) {
      const isVideo = place === pictures;
      const name = isVideo ? "video.mp4" : `${place}.jpg`;
      const content = randomBytes(isVideo ? videoBytes : pictureBytes);
      await writeFile(join(root, path, name), content);
      files.push(join(root, path, name));
      const type = isVideo ? "video/mp4" : "image/jpeg";
      items.push({
        path: name,
        source: "message",
        contentId: null,
        description: null,
        contentTypeAnnounced: type,
        contentTypeFound: type,
        bytes: content.length,
        sha256: sha256Of(content),
        url: null,
      });
    }
    await writeFile(join(root, path, "manifest.json"), writeManifest(manifestOf(index, items)));
  }
  return files;
}

function manifestOf(index: number, items: Manifest["items"]): Manifest {
  const archived = new Date(index).toISOString();
  return {
    schemaVersion: 1,
    software: { name: "bench", version: "0" },
    job: `job-${index}`,
    store: "bench",
    source: "message",
    cloud: null,
    transactionId: `${index}`,
    references: {
      transactionReference: `ORDER-${index}`,
      customReference1: null,
      customReference2: null,
      customReference3: null,
      barcodeReference: null,
    },
    device: null,
    times: { deviceLocal: null, deviceUtc: null, accepted: archived, archived },
    legalForTrade: null,
    complete: true,
    missing: [],
    items,
    measurement: null,
    raw: null,
  };
}

function sha256Of(content: Buffer | string): string {
  return createHash("sha256").update(content).digest("hex");
}
