import type { ArchiveProgress, Finding } from "../../model/archive-reports.ts";
import type { VerifyResult } from "../../model/shapes.ts";
import { packageVersion } from "../../package/package-files.ts";
import type { ArchiveFiles } from "../../vault/files/archive-files.ts";
import { sumsName } from "../../vault/maintenance/export-check.ts";
import type { CheckedTotals } from "../../vault/maintenance/package-check.ts";
import { readReportTexts } from "../report/catalogs.ts";
import type { Language } from "../../rules/languages.ts";
import { ExportedTimestamps } from "../report/exported-timestamps.ts";
import { titleOf } from "../report/package-section.ts";
import { writeReport } from "../report/report.ts";
import {
  bytesContent,
  measure,
  textContent,
  unchanged,
  type Content,
  type ExportFacts,
} from "../report/content.ts";
import { collectPackage, type ExportedPackage } from "../report/exported-package.ts";
import type { ChainedPackage } from "../report/neighbours.ts";
import { ZipNames } from "../report/zip-names.ts";
import { zipBytes, type ZipEntry } from "./zip.ts";

export interface PrepareOptions {
  readonly language: Language;
  readonly onProgress: (progress: ArchiveProgress) => void;
  readonly facts: ExportFacts;
  /** A PEM file with the root certificates that the signers of time stamps are checked against. */
  readonly timestampRoots?: string | undefined;
  /** For tests: an export differs from another one of the same packages in the time of its verification only. */
  readonly now?: (() => Date) | undefined;
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

interface Part {
  readonly name: string;
  readonly content: Content;
}

/**
 * Verifies packages, and writes about each of them. What is wrong with a package does not end the export: the reports say
 * it first. Throws ERR_FILE, ERR_STORE and ERR_CANCELLED.
 */
export async function prepareExport(
  files: ArchiveFiles,
  packages: readonly ChainedPackage[],
  { language, onProgress, facts, timestampRoots, now = () => new Date() }: PrepareOptions,
): Promise<PreparedExport> {
  const texts = await readReportTexts(language);
  const names = new ZipNames();
  const timestamps = await ExportedTimestamps.open(files, timestampRoots, facts.signal);
  const collected: ExportedPackage[] = [];
  // In the order of the chain, whatever the order in which the index has found them.
  for (const indexed of packages.toSorted(byTime)) {
    collected.push(await collectPackage(files, indexed, { names, facts, timestamps }));
    const { packages: done, bytes } = totalsOf(collected);
    onProgress({ packages: done, bytes, expectedPackages: packages.length, expectedBytes: null });
  }
  const verifiedAt = now();
  const verification = resultOf(collected, verifiedAt);
  const page = (about: readonly ExportedPackage[], base: string): Content =>
    textContent(() =>
      writeReport({ packages: about, verification: resultOf(about, verifiedAt), texts, base }),
    );
  const parts: Part[] = [
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
    ...[...timestamps.files()].map(({ name, content }) => ({
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
  parts: readonly Part[],
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
    notes: [],
    ...totalsOf(packages),
    expected: packages.length,
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

function byTime(a: ChainedPackage, b: ChainedPackage): number {
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
