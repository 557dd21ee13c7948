import { createHash } from "node:crypto";
import { join } from "node:path";
import { inEnglish, type Problem } from "../../errors/interpolation.ts";
import { fileError } from "../../media/disk.ts";
import { makeSubfolders, syncFolder } from "../../media/target-folder.ts";
import {
  diskFacts,
  exists,
  manifestFileName,
  measurementFileName,
  rawFileName,
  removeTree,
  writeDurably,
  type ArchiveDisk,
} from "../archive-disk.ts";
import { numberedFolder } from "./layout.ts";
import { filesOf, software, writeManifest, type Manifest } from "./manifest.ts";
import type { OpenJob } from "../journal/open-job.ts";
import { hashFile, loadManifest } from "./package-files.ts";
import type { PlacedPackage } from "./records.ts";

/** Whether a package has all that was expected. */
export interface Completeness {
  readonly complete: boolean;
  readonly missing: readonly Problem[];
}

interface Placing extends Completeness {
  readonly previous: PlacedPackage | null;
  /** Called with the package ready, before it gets its name: a kill after it is seen by what it remembers. */
  readonly onNamed: (placed: PlacedPackage) => Promise<void>;
}

const mostNumbers = 100_000;

/**
 * Turns a job's work folder into a package: measurement and manifest are added, all is synced, and then the folder gets
 * its name in one step. Under its final name a package is whole, or it is not there.
 */
export class PackageWriter {
  readonly #root: string;
  readonly #disk: ArchiveDisk;
  readonly #software = software();

  constructor(root: string, disk: ArchiveDisk) {
    this.#root = root;
    this.#disk = disk;
  }

  async write(job: OpenJob, work: string, placing: Placing): Promise<PlacedPackage & { manifest: Manifest }> {
    const disk = this.#disk;
    const { measurement, raw } = job.intent;
    if (measurement !== null) {
      await writeDurably(join(work, measurementFileName), measurement, disk);
    }
    if (raw !== null) {
      await writeDurably(join(work, rawFileName), raw, disk);
    }
    const manifest = this.#manifest(job, placing);
    await this.#removeStrays(work, new Set(filesOf(manifest).map(({ path }) => path)));
    const text = writeManifest(manifest);
    await writeDurably(join(work, manifestFileName), text, disk);
    await syncFolder(work, disk, diskFacts);

    const parts = job.intent.folder;
    const parent = await makeSubfolders(this.#root, parts.slice(0, -1), disk, diskFacts);
    const name = await this.#freeName(parent, parts.at(-1) ?? job.id);
    const path = [...parts.slice(0, -1), name].join("/");
    const sha256 = hashOf(text);
    await placing.onNamed({ path, sha256 });
    await disk.rename(work, join(parent, name));
    await syncFolder(parent, disk, diskFacts);
    await syncFolder(join(work, ".."), disk, diskFacts);
    return { path, sha256, manifest };
  }

  #manifest(job: OpenJob, { complete, missing, previous }: Placing): Manifest {
    const { intent } = job;
    return {
      schemaVersion: 1,
      software: this.#software,
      job: job.id,
      source: intent.source,
      cloud: intent.origin,
      transactionId: intent.transactionId,
      references: intent.references,
      device: intent.device,
      times: {
        deviceLocal: intent.deviceLocalTime,
        deviceUtc: intent.deviceUtcTime,
        accepted: job.acceptedAt.toISOString(),
        archived: new Date().toISOString(),
      },
      legalForTrade: intent.legalForTrade,
      complete,
      missing: missing.map(inEnglish),
      items: [...job.items.values()],
      measurement: describe(measurementFileName, intent.measurement),
      raw: describe(rawFileName, intent.raw),
      previous: previous === null ? null : { ...previous, path: `${previous.path}/${manifestFileName}` },
    };
  }

  /** What an earlier try has left; nothing else is ever in a work folder. */
  async #removeStrays(work: string, expected: ReadonlySet<string>): Promise<void> {
    const strays = (await this.#disk.readdir(work)).filter((name) => !expected.has(name));
    for (const name of strays) {
      await removeTree(join(work, name), this.#disk);
    }
  }

  /** Packages get their names one after the other, so that one that is free stays free. */
  async #freeName(parent: string, name: string): Promise<string> {
    for (let number = 0; number < mostNumbers; number += 1) {
      const numbered = numberedFolder(name, number);
      if (!(await exists(join(parent, numbered), this.#disk))) {
        return numbered;
      }
    }
    throw fileError("fileExists", join(parent, name), diskFacts);
  }
}

/**
 * The manifest of a package whose files are all as they were written, by their hashes: sizes alone say nothing of a flipped bit.
 * Undefined where there is no package, "damaged" where it is not what was archived.
 */
export async function findPackage(
  root: string,
  { path, sha256 }: PlacedPackage,
  disk: ArchiveDisk,
): Promise<Manifest | "damaged" | undefined> {
  const folder = join(root, path);
  const found = await loadManifest(join(folder, manifestFileName), disk);
  if (found === "none") {
    return (await exists(folder, disk)) ? "damaged" : undefined;
  }
  if (found === "damaged" || found.sha256 !== sha256) {
    return "damaged";
  }
  for (const file of filesOf(found.manifest)) {
    const there = await hashFile(join(folder, file.path), disk);
    if (there?.bytes !== file.bytes || there.sha256 !== file.sha256) {
      return "damaged";
    }
  }
  return found.manifest;
}

function describe<const T extends string>(
  path: T,
  text: string | null,
): { path: T; bytes: number; sha256: string } | null {
  return text === null ? null : { path, bytes: Buffer.byteLength(text), sha256: hashOf(text) };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
