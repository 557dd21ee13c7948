import { sep } from "node:path";
import { Readable } from "node:stream";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { phrase } from "../../errors/interpolation.ts";
import { errorFacts, throwIfAborted } from "../../media/disk.ts";
import { suggestedName } from "../../media/file-names.ts";
import { type IfExists, checkRoot } from "../../media/place-file.ts";
import { saveToFile } from "../../media/save-to-file.ts";
import type { ArchiveProgress, Finding, ReportHeading } from "../../model/archive-reports.ts";
import type { Download } from "../../model/download.ts";
import type { SavedFile, VerifyResult } from "../../model/shapes.ts";
import { packageVersion } from "../../package/package-files.ts";
import type { Language } from "../../rules/languages.ts";
import { asFileError, plainDisk } from "../../vault/archive-disk.ts";
import { sumsName } from "../../vault/upkeep/export-check.ts";
import { exportedRootsName, writeProof } from "../../vault/export-proof.ts";
import type { Vault } from "../../vault/vault.ts";
import type { ProvenPackage } from "../../vault/log/package-proof.ts";
import { readRoots } from "../../vault/timestamp/timestamp-folder.ts";
import type { CheckedTotals } from "../../vault/upkeep/verify.ts";
import { noteOfTimes } from "../../vault/packages/package-times.ts";
import {
  type Content,
  type ExportFacts,
  type ExportedPackage,
  ZipNames,
  bytesContent,
  collectPackage,
  measure,
  textContent,
  unchanged,
} from "../report/exported-package.ts";
import { readHeading } from "../report/heading.ts";
import { readReportTexts } from "../report/report-texts.ts";
import { titleOf, writeReport } from "../report/report.ts";
import { type ZipEntry, writeZip, zipBytes } from "./zip.ts";

/** A file below a folder. */
interface FileTarget {
  readonly folder: string;
  readonly filename?: string | undefined;
  readonly ifExists: IfExists;
}

/** A file, or memory up to a limit. */
export type ExportTarget = FileTarget | { readonly limitBytes: number };

export interface ExportOptions<TTarget extends ExportTarget = ExportTarget> extends ReportOptions {
  readonly target: TTarget;
  readonly signal: AbortSignal | undefined;
}

/** What the reports say besides the packages. */
export interface AddressedTo {
  readonly heading?: ReportHeading | undefined;
  /** The number of the claim that the export is for, as the customer has it; at most 100 characters. */
  readonly claim?: string | undefined;
}

interface ReportOptions extends AddressedTo {
  readonly language: Language;
  readonly onProgress: (progress: ArchiveProgress) => void;
  /** A PEM file with the root certificates that the signers of time stamps are checked against. */
  readonly timestampRoots?: string | undefined;
  /** For tests: an export differs from another one of the same packages in the time of its verification only. */
  readonly now?: (() => Date) | undefined;
}

interface KeptExport {
  readonly content: Uint8Array<ArrayBuffer>;
  readonly filename: string;
}

/** The ZIP, and what was found when its packages were verified. */
export interface ExportResult<TOutput = SavedFile | KeptExport> {
  readonly verification: VerifyResult;
  readonly output: TOutput;
}

/** What is known of a ZIP before its first byte. */
export interface ExportHead {
  readonly bytes: number;
  readonly filename: string;
}

/** Takes a ZIP while it is written. */
export interface ExportStream {
  /** Called once, when everything was verified. */
  begin(head: ExportHead): void;
  /** Resolves when more may come. */
  write(block: Uint8Array): Promise<void>;
}

const megabyte = 1024 * 1024;
/** Reports are made of many short texts, and each block is a message between two threads. */
const streamedBytes = megabyte / 4;
const contentType = "application/zip";
const progressEveryBytes = 4 * megabyte;

/**
 * Exports packages as a ZIP: their folders, the result of their verification, reports for people, and the hashes of all
 * of it. Throws ERR_CONFIG, ERR_INPUT, ERR_FILE, ERR_STORE, ERR_TOO_LARGE and ERR_CANCELLED.
 */
export async function exportPackages(
  vault: Vault,
  packages: readonly ProvenPackage[],
  options: ExportOptions,
): Promise<ExportResult> {
  const { target, ...rest } = options;
  return "folder" in target
    ? saveExport(vault, packages, { ...rest, target })
    : keepExport(vault, packages, { ...rest, target });
}

/** The same into a file. Under its name it is whole, or it is not there. */
export async function saveExport(
  vault: Vault,
  packages: readonly ProvenPackage[],
  options: ExportOptions<FileTarget>,
): Promise<ExportResult<SavedFile>> {
  return endCancelled(options, async (facts) => {
    await refuseArchive(options.target.folder, vault, facts);
    const prepared = await prepareExport(vault, packages, { ...options, facts });
    const bytes = countedBytes(prepared, packages.length, options.onProgress);
    return {
      verification: prepared.verification,
      output: await save(prepared, bytes, options.target, facts),
    };
  });
}

async function keepExport(
  vault: Vault,
  packages: readonly ProvenPackage[],
  options: ExportOptions<{ readonly limitBytes: number }>,
): Promise<ExportResult<KeptExport>> {
  return endCancelled(options, async (facts) => {
    const prepared = await prepareExport(vault, packages, { ...options, facts });
    const bytes = countedBytes(prepared, packages.length, options.onProgress);
    const output = await keep(prepared, bytes, options.target.limitBytes, facts);
    return { verification: prepared.verification, output };
  });
}

/** The same into a stream. If it rejects after `begin`, what was written is not whole. */
export async function streamExport(
  vault: Vault,
  packages: readonly ProvenPackage[],
  options: Omit<ExportOptions, "target">,
  stream: ExportStream,
): Promise<VerifyResult> {
  return endCancelled(options, async (facts) => {
    const prepared = await prepareExport(vault, packages, { ...options, facts });
    stream.begin({ bytes: prepared.bytes, filename: suggestedName(prepared.suggestedBase, "zip") });
    for await (const block of joined(countedBytes(prepared, packages.length, options.onProgress))) {
      await stream.write(block);
    }
    return prepared.verification;
  });
}

async function* joined(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for await (const block of blocks) {
    waiting.push(block);
    bytes += block.byteLength;
    if (bytes >= streamedBytes) {
      yield Buffer.concat(waiting);
      waiting = [];
      bytes = 0;
    }
  }
  yield Buffer.concat(waiting);
}

/** Does the work; after an abort, each of its errors becomes ERR_CANCELLED. */
async function endCancelled<T>(
  { signal }: Pick<ExportOptions, "signal">,
  work: (facts: ExportFacts) => Promise<T>,
): Promise<T> {
  const facts: ExportFacts = { operation: "export", surface: "disk", host: "archive", signal };
  try {
    return await work(facts);
  } catch (error) {
    throwIfAborted(facts);
    throw error;
  }
}

/** A ZIP between the packages would be something that does not belong there. */
async function refuseArchive(folder: string, { kind, root }: Vault, facts: ExportFacts): Promise<void> {
  if (kind === "s3") {
    return;
  }
  const named = await checkRoot(folder, plainDisk, facts);
  const real = await plainDisk.realpath(named).catch((error: unknown) => {
    throw asFileError(error, named);
  });
  if (real === root || real.startsWith(root + sep)) {
    throw new DimensionerError("exportInArchive", errorFacts(facts, "config"), { path: folder });
  }
}

async function* countedBytes(
  { entries, bytes: expectedBytes }: PreparedExport,
  packages: number,
  onProgress: (progress: ArchiveProgress) => void,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  let shown = 0;
  for await (const block of writeZip(entries)) {
    yield block;
    bytes += block.byteLength;
    if (bytes - shown >= progressEveryBytes || bytes === expectedBytes) {
      shown = bytes;
      onProgress({ packages, bytes, expectedPackages: packages, expectedBytes });
    }
  }
}

async function save(
  { bytes: contentLength, suggestedBase }: PreparedExport,
  bytes: AsyncGenerator<Uint8Array>,
  target: FileTarget,
  facts: ExportFacts,
): Promise<SavedFile> {
  const body = Readable.from(bytes, { objectMode: false, highWaterMark: megabyte });
  const { operation, surface, host } = facts;
  const download: Download = {
    contentType,
    contentLength,
    framing: "length",
    suggestedName: suggestedBase,
    source: { operation, surface, host },
    body,
    // What has failed once would fail again.
    restart: () => Promise.reject(body.errored ?? new Error("The export has ended.")),
  };
  // A ZIP is no medium, so it is none of an unknown format either.
  const { recognized: _, ...saved } = await saveToFile(
    () => Promise.resolve(download),
    { ...target, suggestedBase },
    { ...facts, disk: plainDisk },
  );
  return saved;
}

async function keep(
  { bytes: total, suggestedBase }: PreparedExport,
  bytes: AsyncGenerator<Uint8Array>,
  limitBytes: number,
  facts: ExportFacts,
): Promise<KeptExport> {
  if (total > limitBytes) {
    const limit = phrase("megabytes", { count: Math.floor(limitBytes / megabyte) });
    throw new DimensionerError("exportTooLarge", errorFacts(facts, "disk"), { limit });
  }
  const content = new Uint8Array(total);
  let at = 0;
  for await (const block of bytes) {
    content.set(block, at);
    at += block.byteLength;
  }
  return { content, filename: suggestedName(suggestedBase, "zip") };
}

export interface PrepareOptions extends ReportOptions {
  readonly facts: ExportFacts;
}

/** An export that is ready to be written. */
export interface PreparedExport {
  readonly entries: readonly ZipEntry[];
  /** Of the whole ZIP. */
  readonly bytes: number;
  readonly verification: VerifyResult;
  /** A name for the ZIP, without its extension. */
  readonly suggestedBase: string;
}

interface NamedContent {
  readonly name: string;
  readonly content: Content;
}

/**
 * Verifies packages, and writes about each of them. What is wrong with a package does not end the export: the reports say
 * it first. Throws ERR_CONFIG, ERR_INPUT, ERR_FILE, ERR_STORE and ERR_CANCELLED.
 */
async function prepareExport(
  vault: Vault,
  packages: readonly ProvenPackage[],
  { language, onProgress, facts, timestampRoots, now = () => new Date(), ...given }: PrepareOptions,
): Promise<PreparedExport> {
  const heading = await readHeading(given.heading, given.claim);
  const texts = await readReportTexts(language);
  const names = new ZipNames();
  const roots = (await readRoots(timestampRoots)).map(String).join("");
  const collected: ExportedPackage[] = [];
  // The oldest first, whatever the order in which the index has found them.
  for (const indexed of packages.toSorted(byTime)) {
    collected.push(await collectPackage(vault, indexed, { names, facts }));
    const { packages: done, bytes } = totalsOf(collected);
    onProgress({ packages: done, bytes, expectedPackages: packages.length, expectedBytes: null });
  }
  const verifiedAt = now();
  const verification = resultOf(collected, verifiedAt);
  const page = (about: readonly ExportedPackage[], base: string): Content =>
    textContent(() =>
      writeReport({
        packages: about,
        verification: resultOf(about, verifiedAt),
        heading,
        texts,
        base,
        roots: roots === "" ? null : exportedRootsName,
      }),
    );
  const parts: NamedContent[] = [
    { name: names.free("report.html"), content: page(collected, "") },
    ...(collected.length === 1
      ? []
      : collected.map((one, index) => ({
          name: names.free(`reports/${index + 1}-${simple(titleOf(one))}.html`),
          content: page([one], "../"),
        }))),
    {
      name: names.free("verification.json"),
      content: textContent(() => [`${JSON.stringify(verification, null, 2)}\n`]),
    },
    ...writeProof(packages, roots).map(({ name, content }) => ({
      name: names.free(name),
      content: bytesContent(content),
    })),
  ];
  const newest = new Date(collected.at(-1)?.indexed.archivedAt ?? 0);
  const entries = await finish(parts, collected, newest, facts);
  return { entries, bytes: zipBytes(entries), verification, suggestedBase: baseOf(collected) };
}

/** Adds the files of the packages, and the hashes of everything. */
async function finish(
  parts: readonly NamedContent[],
  packages: readonly ExportedPackage[],
  newest: Date,
  facts: ExportFacts,
): Promise<ZipEntry[]> {
  const sums: string[] = [];
  const entries: ZipEntry[] = [];
  for (const { name, content } of parts) {
    const { sha256, ...measured } = await measure(content);
    sums.push(`${sha256}  ${name}\n`);
    const same = unchanged(content, { sha256, ...measured }, name, facts);
    entries.push({ name, ...measured, modifiedAt: newest, content: same });
  }
  for (const { files, indexed } of packages) {
    for (const { name, measured, content } of files) {
      const { sha256, ...rest } = measured;
      sums.push(`${sha256}  ${name}\n`);
      entries.push({ name, ...rest, modifiedAt: new Date(indexed.archivedAt), content });
    }
  }
  const list = textContent(() => sums);
  const { sha256: _sha256, ...measured } = await measure(list);
  return [...entries, { name: sumsName, ...measured, modifiedAt: newest, content: list }];
}

function resultOf(packages: readonly ExportedPackage[], verifiedAt: Date): VerifyResult {
  const findings = distinct(packages.flatMap((one) => one.findings));
  const { name, version } = packageVersion();
  return {
    verdict: findings.length > 0 ? "wrong" : "ok",
    findings,
    findingCount: findings.length,
    unchecked: [],
    notes: packages
      .filter(({ timesInDoubt }) => timesInDoubt.length > 0)
      .map(({ indexed, timesInDoubt }) => noteOfTimes(indexed.path, timesInDoubt)),
    logs: [],
    ...totalsOf(packages),
    expected: packages.length,
    part: null,
    verifiedAtUtc: verifiedAt.toISOString(),
    software: `${name} ${version}`,
  };
}

/** One time stamp covers many packages, and is named once. */
function distinct(findings: readonly Finding[]): Finding[] {
  return [...new Map(findings.map((one) => [`${one.kind} ${one.path} ${one.problem}`, one])).values()];
}

function totalsOf(packages: readonly ExportedPackage[]): CheckedTotals {
  const sum = (of: keyof CheckedTotals): number => packages.reduce((all, { totals }) => all + totals[of], 0);
  return {
    packages: sum("packages"),
    files: sum("files"),
    bytes: sum("bytes"),
    incomplete: sum("incomplete"),
  };
}

function byTime(a: ProvenPackage, b: ProvenPackage): number {
  return a.archivedAt === b.archivedAt ? (a.id < b.id ? -1 : 1) : a.archivedAt < b.archivedAt ? -1 : 1;
}

/** All packages of one reference are named by it, others by their number and the day of the newest. */
function baseOf(packages: readonly ExportedPackage[]): string {
  const titles = new Set(packages.map((one) => simple(titleOf(one))));
  const [title = "", ...others] = titles;
  const day = packages.at(-1)?.indexed.archivedAt.slice(0, 10) ?? "";
  return others.length === 0 ? `evidence-${title}` : `evidence-${day}-${packages.length}`;
}

/** Letters, digits and a few others, which no system and no mail program changes. */
function simple(text: string): string {
  return text
    .replace(/[^\p{L}\p{N}._-]+/gu, "_")
    .slice(0, 60)
    .toWellFormed();
}
