/**
 * What proves the packages of an export, in its folder `proof`: their lines in the log, the way from each line to the checkpoints that a
 * time stamp signs, and these time stamps. No line of another package is in it; a way is only hashes.
 */
import type { X509Certificate } from "node:crypto";
import { join } from "node:path";
import type { ArchiveNote, Finding, Unchecked } from "../model/archive-reports.ts";
import { type ReadDisk, exists } from "./archive-disk.ts";
import { checkScript } from "./check-script.ts";
import { exportedPackagesName, sumsName } from "./export-check.ts";
import { readFrom } from "./files/appended-lines.ts";
import { readEvent } from "./log/events.ts";
import { readLine, textOfLines } from "./log/log-files.ts";
import type { ProvenPackage, StampProof } from "./log/package-proof.ts";
import { leafHash, rootByPath } from "./log/tree.ts";
import type { SeenPackages } from "./seen-packages.ts";
import { TimestampFolder, filesOfTimestamp } from "./timestamp-folder.ts";
import { verifyKept } from "./timestamps.ts";

const proofName = "proof";
const names = {
  readMe: "README.txt",
  script: "check.py",
  log: "log",
  roots: "timestamp-roots.pem",
} as const;
/** Beside each checkpoint: a line for each line of the log, with its number and the hashes from it to the root. */
const pathsName = "paths";
const pathsShape = /^(0|[1-9]\d{0,14})((?: [0-9a-f]{64})*)$/;

/** A file of the folder `proof`. */
export interface ProofFile {
  /** From the folder of the export, with slashes. */
  readonly name: string;
  readonly content: Buffer;
}

/** The folder of a time stamp in an export, with a slash at its end. */
function folderOfStamp({ kept }: StampProof): string {
  // It goes into commands, so it has no character that a shell could execute.
  return `${proofName}/${kept.name.replaceAll(/[^\w-]/g, "_")}/`;
}

/** The file of the root certificates that were trusted for an export. */
export const exportedRootsName = `${proofName}/${names.roots}`;

/** The command by which OpenSSL checks the time stamp of a checkpoint, in the folder of the extracted export. */
export function commandOf(stamp: StampProof, roots: string): string {
  const folder = folderOfStamp(stamp);
  return `openssl ts -verify -data ${folder}checkpoint -in ${folder}response.tsr -CAfile ${roots}`;
}

/** Writes what proves packages. `roots`: the certificates that were trusted, in PEM form; empty if none were given. */
export function writeProof(packages: readonly ProvenPackage[], roots: string): ProofFile[] {
  const lines = packages
    .flatMap(({ proof: { line } }) => line ?? [])
    .toSorted((one, other) => one.n - other.n);
  const log = textOfLines(lines.map(({ n, text }) => ({ n, line: text })));
  const stamps = new Map<string, { readonly stamp: StampProof; readonly paths: Map<number, string> }>();
  for (const { proof } of packages) {
    for (const stamp of [proof.first, proof.newest]) {
      if (stamp !== null && proof.line !== null) {
        const known = stamps.get(stamp.kept.name) ?? { stamp, paths: new Map<number, string>() };
        stamps.set(stamp.kept.name, known);
        known.paths.set(proof.line.n, [proof.line.n, ...stamp.path].join(" "));
      }
    }
  }
  const all = [...stamps.values()];
  const files = all.flatMap(({ stamp, paths }) => [
    ...filesOfTimestamp(stamp.kept).map(([name, content]) => ({
      name: `${folderOfStamp(stamp)}${name}`,
      content,
    })),
    {
      name: `${folderOfStamp(stamp)}${pathsName}`,
      content: Buffer.from([...paths.values()].map((line) => `${line}\n`).join("")),
    },
  ]);
  const commands = all.flatMap(({ stamp }) => [
    commandOf(stamp, "roots.pem"),
    `openssl ts -reply -in ${folderOfStamp(stamp)}response.tsr -text`,
  ]);
  return [
    { name: `${proofName}/${names.readMe}`, content: Buffer.from(readMe(commands, roots !== "")) },
    { name: `${proofName}/${names.script}`, content: Buffer.from(checkScript) },
    { name: `${proofName}/${names.log}`, content: log },
    ...files,
    ...(roots === "" || all.length === 0 ? [] : [{ name: exportedRootsName, content: Buffer.from(roots) }]),
  ];
}

function readMe(commands: readonly string[], hasRoots: boolean): string {
  const roots = hasRoots
    ? `${exportedRootsName} has the certificates that were trusted when this export was made. Whoever checks it gets them
   from the operator of the time stamp server instead, as roots.pem.`
    : "roots.pem is the root certificate of the operator of the time stamp server, who publishes it.";
  const stamps =
    commands.length === 0
      ? "   No time stamp covers these packages: what has been changed before the export cannot be noticed."
      : `${commands.map((one) => `   ${one}`).join("\n")}

   ${roots}`;
  return `How anybody can check this export, in a terminal in its folder
================================================================

1. That each file is the one that was exported:

   Linux    sha256sum -c ${sumsName}
   macOS    shasum -a 256 -c ${sumsName}

2. That each file is the one that its manifest.json lists, that each manifest.json is the one that a line of the
   archive's log names, and that this line is one of those that a checkpoint is of. The script needs Python 3 and
   nothing else, and is short enough to be read first:

   python3 ${proofName}/${names.script}        (Windows: py ${proofName}\\${names.script})

3. That a time stamp server has signed the checkpoint, and when:
   (the first command says whether it has, the second one says when)

${stamps}

What this shows: the files of the packages are what they were at the time of the earliest of these time stamps.
The reports are for reading. They repeat what the packages say, and only ${sumsName} covers them.

The format: ${proofName}/${names.log} has lines of the archive's log, each with its number before it. A log is a Merkle tree as RFC 6962
has it, a line one of its leaves. A checkpoint has three lines: whose log, how many lines, and their root in base64 (C2SP's
tlog-checkpoint). In ${pathsName} beside it are the numbers of lines, each with the hashes that lead from it to that root. Of other
packages, nothing but such hashes is here.
`;
}

interface ExportProofChecks {
  /** The folder of the extracted export. */
  readonly folder: string;
  readonly disk: ReadDisk;
  readonly seen: SeenPackages;
  /** Those that whoever verifies trusts; never the ones in the export. */
  readonly roots: readonly X509Certificate[];
  readonly unchecked: Unchecked[];
  readonly notes: ArchiveNote[];
}

/**
 * Checks an extracted export by itself: that each package has a line whose hash is that of its manifest, that each line leads to the root of
 * each checkpoint that says so, and that each checkpoint is time-stamped. What no time stamp covers is added to `unchecked`, and so are the
 * signers if no root certificates are given. To be called when all packages were seen.
 */
export async function* checkExportProof(checks: ExportProofChecks): AsyncGenerator<Finding> {
  const { folder, disk, seen, roots, unchecked, notes } = checks;
  const at = (name: string): string => join(folder, proofName, name);
  const lines = new Map<number, string>();
  const found = (name: string, problem: string): Finding => ({
    kind: "log",
    path: `${proofName}/${name}`,
    problem,
  });
  for (const text of await linesOf(at(names.log), disk)) {
    const read = readLine(text);
    const event = read === undefined ? undefined : readEvent(read.line);
    if (read === undefined || event?.what !== "archived") {
      yield found(names.log, "a line of it cannot be read: it was changed");
      continue;
    }
    if (lines.has(read.n)) {
      yield found(names.log, `the line ${read.n} is there twice`);
      continue;
    }
    lines.set(read.n, read.line);
    const [there] = await seen.select("SELECT 1 FROM seen WHERE sha256 = ? AND job = ?", [
      event.sha256,
      event.package,
    ]);
    if (there === undefined) {
      const problem = `the package of the line ${read.n}, ${event.path}, is not in this export as the line has it`;
      yield { kind: "missing-package", path: `${proofName}/${names.log}`, problem };
    }
  }
  const hashes = new Set([...lines.values()].map((line) => sha256In(line)));
  for await (const { path, sha256 } of seen.pages(
    "SELECT seen_order, path, sha256 FROM seen WHERE seen_order > ? LIMIT ?",
  )) {
    if (!hashes.has(String(sha256))) {
      const problem =
        "no line of the log in this export names this manifest: it is not the one that was archived";
      yield { kind: "not-logged", path: `${exportedPackagesName}/${String(path)}`, problem };
    }
  }
  const covered = new Set<number>();
  const signers = new Set<string>();
  const stamps = new TimestampFolder(join(folder, proofName), disk);
  for (const name of await stamps.names()) {
    if (!(await exists(at(`${name}/${pathsName}`), disk))) {
      continue;
    }
    const foundHere = (problem: string): Finding => ({
      kind: "timestamp",
      path: `${proofName}/${name}`,
      problem,
    });
    const stamp = await stamps.read(name);
    if (stamp === undefined) {
      yield foundHere("the time stamp cannot be read: a file of it is missing or damaged");
      continue;
    }
    const verified = verifyKept(stamp, roots);
    if (typeof verified === "string") {
      yield foundHere(`the time stamp is not valid: ${verified}`);
      continue;
    }
    const { size, root } = stamp.checkpoint;
    const before = covered.size;
    for (const text of await linesOf(at(`${name}/${pathsName}`), disk)) {
      const [, number = "", path = ""] = pathsShape.exec(text) ?? [];
      const line = lines.get(number === "" ? -1 : Number(number));
      const hashes = path
        .split(" ")
        .slice(1)
        .map((hash) => Buffer.from(hash, "hex"));
      const reached =
        line === undefined ? undefined : rootByPath(leafHash(line), Number(number), size, hashes);
      if (reached?.equals(root) === true) {
        covered.add(Number(number));
      } else {
        yield found(
          `${name}/${pathsName}`,
          `the line ${number} of the log does not lead to the checkpoint: it was changed`,
        );
      }
    }
    if (verified.root === null) {
      signers.add(verified.signer);
    }
    const checked =
      verified.root === null
        ? "not checked against a root certificate"
        : `root certificate: “${verified.root}”`;
    const text = `a time stamp of ${verified.at.toISOString()}, by “${verified.signer}” (${checked}), covers packages here${covered.size > before ? `, ${covered.size - before} of them first` : ""}`;
    notes.push({ kind: "timestamp", path: `${proofName}/${name}`, text });
  }
  if (signers.size > 0) {
    const problem = `who has signed the time stamps: they name ${[...signers].map((one) => `“${one}”`).join(", ")}, but no root certificate was given to check this against`;
    unchecked.push({ kind: "timestamp-signer", path: proofName, problem });
  }
  const open = [...lines.keys()].filter((n) => !covered.has(n)).length;
  if (open > 0) {
    const problem = `since when ${open === 1 ? "1 package is" : `${open} packages are`} as they are here: no time stamp covers ${open === 1 ? "it" : "them"}`;
    unchecked.push({ kind: "no-timestamps", path: proofName, problem });
  }
}

function sha256In(line: string): string | undefined {
  const event = readEvent(line);
  return event?.what === "archived" ? event.sha256 : undefined;
}

async function linesOf(path: string, disk: ReadDisk): Promise<string[]> {
  const all: string[] = [];
  for await (const { lines } of readFrom(path, disk, 0)) {
    all.push(...lines);
  }
  return all;
}
