import { createHash } from "node:crypto";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { type TransferFacts, throwIfAborted } from "../../media/disk.ts";
import { numberedName, safeParts } from "../../media/file-names.ts";
import type { PackageFinding, TimesInDoubt } from "../../model/archive-reports.ts";
import { parseFields, recordLimits } from "../../model/parse-json.ts";
import {
  type ReadDisk,
  asFileError,
  diskFacts,
  holdName,
  manifestFileName,
  measurementFileName,
} from "../../vault/archive-disk.ts";
import type { Vault } from "../../vault/vault.ts";
import type { ProvenPackage } from "../../vault/log/package-proof.ts";
import { type Manifest, filesOf, mostMeasurementBytes } from "../../vault/packages/manifest.ts";
import { openPlain } from "../../vault/packages/package-files.ts";
import { type CheckedTotals, checkIndexed } from "../../vault/upkeep/verify.ts";
import { loadManifestWithin } from "../../vault/walk.ts";

/** A file of an exported package. */
export interface ExportedFile {
  /** In the package's folder. */
  readonly path: string;
  /** In the ZIP. */
  readonly name: string;
  readonly measured: FileDigest;
  /** Fails if it is no longer what was measured. */
  readonly content: Content;
  /** Whether it is what was archived, by its SHA-256. */
  readonly isWhole: boolean;
}

/** A package as it is exported, and what was found when it was verified. */
export interface ExportedPackage {
  readonly indexed: ProvenPackage;
  /** Null if it cannot be read. */
  readonly manifest: Manifest | null;
  /** SHA-256 of the manifest that is there. */
  readonly sha256: string | null;
  readonly findings: readonly PackageFinding[];
  /** Which of its times do not fit together. */
  readonly timesInDoubt: TimesInDoubt[];
  /** How much was checked. */
  readonly totals: Readonly<CheckedTotals>;
  readonly files: readonly ExportedFile[];
  /** The fields of measurement.json; null if there is none, or if it is not what was archived. */
  readonly measurement: Readonly<Record<string, unknown>> | null;
}

interface Opened {
  readonly manifest: Manifest | null;
  readonly sha256: string | null;
}

/** Of a folder whose manifest cannot be read. */
const mostUnlistedFiles = 1_000;

/** Verifies a package of the index and measures its files. Throws ERR_FILE, ERR_STORE and ERR_CANCELLED. */
export async function collectPackage(
  archive: Vault,
  indexed: ProvenPackage,
  { names, facts }: { names: ZipNames; facts: ExportFacts },
): Promise<ExportedPackage> {
  const totals: CheckedTotals = { packages: 0, files: 0, bytes: 0, incomplete: 0 };
  const findings: PackageFinding[] = [];
  let timesInDoubt: TimesInDoubt[] = [];
  const checked = checkIndexed(archive, indexed, totals, facts.signal, (times) => {
    timesInDoubt = times;
  });
  for await (const finding of checked) {
    findings.push(finding);
  }
  const found = await loadManifestWithin(archive.root, `${indexed.path}/${manifestFileName}`, archive.disk);
  const opened: Opened = typeof found === "string" ? { manifest: null, sha256: null } : found;
  const files =
    found === "none" ? [] : await collectFiles(archive, indexed, opened, { findings, names, facts });
  return {
    indexed,
    manifest: opened.manifest,
    sha256: opened.sha256,
    findings,
    timesInDoubt,
    totals,
    files,
    measurement: await readMeasurement(files),
  };
}

async function collectFiles(
  archive: Vault,
  indexed: ProvenPackage,
  { manifest }: Opened,
  { findings, names, facts }: { findings: readonly PackageFinding[]; names: ZipNames; facts: ExportFacts },
): Promise<ExportedFile[]> {
  const { disk } = archive;
  const folder = join(archive.root, indexed.path);
  const listed = new Map(
    manifest === null ? [] : filesOf(manifest).map(({ path, sha256 }) => [path, sha256] as const),
  ).set(manifestFileName, indexed.sha256);
  const unreadable = new Set(
    findings
      .filter(({ kind }) => kind === "missing" || kind === "unreadable")
      .map(({ path }) => path.slice(indexed.path.length + 1)),
  );
  const paths = manifest === null ? await filesIn(folder, disk) : [...listed.keys()];
  const inZip = names.ofPackage(indexed);
  const files: ExportedFile[] = [];
  for (const path of paths.filter((one) => !unreadable.has(one)).toSorted()) {
    const content = fileContent(join(folder, path), disk, facts);
    const measured = await measure(content);
    files.push({
      path,
      name: inZip(path),
      measured,
      content: unchanged(content, measured, archive.addressOf(`${indexed.path}/${path}`), facts),
      isWhole: measured.sha256 === listed.get(path),
    });
  }
  return files;
}

/** The plain files of a folder of which no manifest says what belongs there. */
async function filesIn(folder: string, disk: ReadDisk): Promise<string[]> {
  const names: string[] = [];
  for (const name of (await disk.readdir(folder)).toSorted()) {
    if (names.length < mostUnlistedFiles && !holdName.test(name)) {
      const entry = await disk.lstat(join(folder, name));
      names.push(...(entry.isFile() ? [name] : []));
    }
  }
  return names;
}

async function readMeasurement(
  files: readonly ExportedFile[],
): Promise<Readonly<Record<string, unknown>> | null> {
  const file = files.find(({ path }) => path === measurementFileName);
  if (file === undefined || !file.isWhole || file.measured.bytes > mostMeasurementBytes) {
    return null;
  }
  const blocks: Uint8Array[] = [];
  for await (const block of file.content()) {
    blocks.push(block);
  }
  return parseFields(String(Buffer.concat(blocks)), recordLimits);
}

/** A longer path could not be extracted on a Windows computer whose paths have at most 260 characters. */
const longestFolder = 120;
const longestShortName = 60;

/** Gives each file of a ZIP a name that every system accepts, and that no other file has in capital or small letters. */
export class ZipNames {
  readonly #taken = new Set<string>();
  /** The folders of packages, in small letters. */
  readonly #packages = new Set<string>();
  /** How these and the folders above them are spelled, in small letters. */
  readonly #spellings = new Map<string, string>();

  /** A name as it is, or with a number. */
  free(name: string): string {
    for (let number = 0; ; number += 1) {
      const cut = name.lastIndexOf("/") + 1;
      const free = name.slice(0, cut) + numberedName(name.slice(cut), number);
      if (!this.#taken.has(free.toLowerCase())) {
        this.#taken.add(free.toLowerCase());
        return free;
      }
    }
  }

  /**
   * A package has the folder that it has in the archive, or a short one if that would be too long, or if it or one above it is in the
   * export already in other letters: Windows would make one folder of both, and a package that is not where the list of hashes has it,
   * or whose files had numbers in their names, could not be verified.
   */
  ofPackage({ path, sha256 }: Pick<ProvenPackage, "path" | "sha256">): (file: string) => string {
    const parts = safeParts(path, diskFacts);
    const last = parts.at(-1) ?? "";
    const short = `${last.slice(0, longestShortName).trim().toWellFormed()}~${sha256.slice(0, 8)}`;
    const joined = parts.join("/");
    const isShort = joined.length > longestFolder || this.#isTaken(joined);
    const folder = isShort ? short : joined;
    this.#packages.add(folder.toLowerCase());
    for (const one of withParents(folder)) {
      this.#spellings.set(one.toLowerCase(), one);
    }
    return (file) => this.free(`packages/${folder}/${safeParts(file, diskFacts).join("/")}`);
  }

  #isTaken(folder: string): boolean {
    const isOther = (one: string): boolean => (this.#spellings.get(one.toLowerCase()) ?? one) !== one;
    return this.#packages.has(folder.toLowerCase()) || withParents(folder).some(isOther);
  }
}

/** A folder, and those above it. */
function withParents(folder: string): string[] {
  const parts = folder.split("/");
  return parts.map((_part, index) => parts.slice(0, index + 1).join("/"));
}

const blockBytes = 256 * 1024;

/** Something that can be read several times. */
export type Content = () => AsyncIterable<Uint8Array>;

/** What a content was when it was read first. */
export interface FileDigest {
  readonly bytes: number;
  readonly crc32: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

/** What an export says of its errors, and its signal. */
export type ExportFacts = TransferFacts;

/** Reads a content to its end. */
export async function measure(content: Content): Promise<FileDigest> {
  const running = new RunningMeasure();
  for await (const block of content()) {
    running.add(block);
  }
  return running.measured();
}

/** The same content again. Throws ERR_FILE if it is not what it was: then nothing that was said of it is true. */
export function unchanged(content: Content, before: FileDigest, path: string, facts: ExportFacts): Content {
  return async function* checked() {
    const running = new RunningMeasure();
    for await (const block of content()) {
      running.add(block);
      yield block;
    }
    const { bytes, sha256 } = running.measured();
    if (bytes !== before.bytes || sha256 !== before.sha256) {
      const { operation } = facts;
      throw new DimensionerError("exportChanging", { surface: "disk", operation }, { path });
    }
  };
}

class RunningMeasure {
  readonly #hash = createHash("sha256");
  #crc32 = 0;
  #bytes = 0;

  add(block: Uint8Array): void {
    this.#hash.update(block);
    this.#crc32 = crc32(block, this.#crc32);
    this.#bytes += block.byteLength;
  }

  /** To be called once. */
  measured(): FileDigest {
    return { bytes: this.#bytes, crc32: this.#crc32, sha256: this.#hash.digest("hex") };
  }
}

/** A file in blocks; empty if it is missing. No link is followed. Throws ERR_FILE, ERR_STORE and ERR_CANCELLED. */
function fileContent(path: string, disk: ReadDisk, facts: ExportFacts): Content {
  return async function* read() {
    const file = await openPlain(path, disk).catch((error: unknown) => {
      throw asFileError(error, path);
    });
    if (file === undefined) {
      return;
    }
    try {
      for (let position = 0; ;) {
        throwIfAborted(facts);
        // A new block each time: the one before it may still wait to be written.
        const block = Buffer.allocUnsafe(blockBytes);
        const { bytesRead } = await file.read(block, 0, blockBytes, position);
        if (bytesRead === 0) {
          return;
        }
        position += bytesRead;
        yield block.subarray(0, bytesRead);
      }
    } finally {
      await file.close();
    }
  };
}

export function bytesContent(bytes: Uint8Array): Content {
  return async function* whole() {
    yield bytes;
  };
}

/** A text, which may be made piece by piece. */
export function textContent(text: () => Iterable<string> | AsyncIterable<string>): Content {
  return async function* encode() {
    for await (const piece of text()) {
      yield Buffer.from(piece);
    }
  };
}
