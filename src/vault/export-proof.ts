/**
 * What proves the packages of an export, in its folder `proof`: their lines in the log, the way from each line to the checkpoints that a
 * time stamp signs, and these time stamps. No line of another package is in it; a way is only hashes.
 */
import type { X509Certificate } from "node:crypto";
import { join } from "node:path";
import type { ArchiveNote, Finding, Unchecked } from "../model/archive-reports.ts";
import { ProblemError } from "../errors/interpolation.ts";
import { type ReadDisk, exists, isReal } from "./archive-disk.ts";
import { openPlain } from "./packages/package-files.ts";
import { exportedPackagesName, sumsName } from "./upkeep/export-check.ts";
import { readLines } from "./plain-files.ts";
import { readEvent } from "./log/events.ts";
import { readLine, textOfLines } from "./log/log-files.ts";
import type { LaterLine, ProvenPackage, StampProof } from "./log/package-proof.ts";
import { leafHash, rootByPath } from "./log/tree.ts";
import type { SeenPackages } from "./upkeep/seen-packages.ts";
import { TimestampFolder, filesOfTimestamp } from "./timestamp/timestamp-folder.ts";
import { verifyKept } from "./timestamp/timestamps.ts";

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
    .flatMap(({ proof: { line, later, ...cover } }): readonly Omit<LaterLine, "event">[] =>
      line === null ? later : [{ ...line, ...cover }, ...later],
    )
    .toSorted((one, other) => one.n - other.n);
  const log = textOfLines(lines.map(({ n, text }) => ({ n, line: text })));
  const stamps = new Map<string, { readonly stamp: StampProof; readonly paths: Map<number, string> }>();
  for (const { n, first, newest } of lines) {
    for (const stamp of [first, newest]) {
      if (stamp !== null) {
        const known = stamps.get(stamp.kept.name) ?? { stamp, paths: new Map<number, string>() };
        stamps.set(stamp.kept.name, known);
        known.paths.set(n, [n, ...stamp.path].join(" "));
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

2. That nothing was added, that each file is the one that its manifest.json lists, that each manifest.json is the one
   that a line of the archive's log names, and that this line is one of those that a checkpoint is of. The script
   needs Python 3 and nothing else, and is short enough to be read first:

   python3 ${proofName}/${names.script}        (Windows: py ${proofName}\\${names.script})

3. That a time stamp server has signed the checkpoint, and when:
   (the first command says whether it has, the second one says when)

${stamps}

What this shows: the files of the packages are what they were at the time of the earliest of these time stamps.
The other lines of the log say what happened to the packages later: holds, and numbers that were added.
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
  /** Which of them say that a package was archived, and whose they are. */
  const archived = new Set<number>();
  const archivedIds = new Set<string>();
  const found = (name: string, problem: string): Finding => ({
    kind: "log",
    path: `${proofName}/${name}`,
    problem,
  });
  // What a link leads to is no part of the export.
  const isThere = await isReal(join(folder, proofName), disk);
  let last = -1;
  for (const text of isThere ? await linesOf(at(names.log), disk) : []) {
    const read = readLine(text);
    const event = read === undefined ? undefined : readEvent(read.line);
    if (read === undefined || event === undefined || !("package" in event)) {
      yield found(names.log, unreadLine);
      continue;
    }
    if (lines.has(read.n)) {
      yield found(names.log, `the line ${read.n} is there twice`);
      continue;
    }
    if (read.n < last) {
      yield found(
        names.log,
        `the line ${read.n} comes after the line ${last}: the lines are not in their order`,
      );
    }
    last = read.n;
    lines.set(read.n, read.line);
    if (event.what === "archived") {
      archived.add(read.n);
      archivedIds.add(event.package);
    } else if (!archivedIds.has(event.package)) {
      yield found(
        names.log,
        `the line ${read.n} is about a package of which no line before says that it was archived`,
      );
      continue;
    }
    const [there] = await seen.select("SELECT 1 FROM seen WHERE sha256 = ? AND job = ?", [
      event.sha256,
      event.package,
    ]);
    if (there === undefined) {
      const problem = `the package of the line ${read.n}, ${event.path}, is not in this export as the line has it`;
      yield { kind: "missing-package", path: `${proofName}/${names.log}`, problem };
    }
  }
  const places = new Map<string, string>();
  for (const line of lines.values()) {
    const event = readEvent(line);
    if (event?.what === "archived") {
      places.set(event.sha256, event.path);
    }
  }
  for await (const row of seen.pages(
    "SELECT seen_order, path, sha256 FROM seen WHERE seen_order > ? LIMIT ?",
  )) {
    const [folder, sha256] = [String(row["path"]), String(row["sha256"])];
    const place = places.get(sha256);
    const problem =
      place === undefined
        ? "no line of the log in this export names this manifest: it is not the one that was archived"
        : isFolderOf(folder, place, sha256)
          ? undefined
          : `the log has this package in ${place}: it was moved or copied`;
    if (problem !== undefined) {
      yield { kind: "not-logged", path: `${exportedPackagesName}/${folder}`, problem };
    }
  }
  const covered = new Set<number>();
  /** How many lines the time stamps here are of. */
  let signed = 0;
  const coveredPackages = (): number => [...archived].filter((n) => covered.has(n)).length;
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
    signed = Math.max(signed, size);
    const first = coveredPackages();
    for (const text of await linesOf(at(`${name}/${pathsName}`), disk)) {
      const [, number, path = ""] = pathsShape.exec(text) ?? [];
      if (number === undefined) {
        yield found(`${name}/${pathsName}`, unreadLine);
        continue;
      }
      const line = lines.get(Number(number));
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
    const text = `a time stamp of ${verified.at.toISOString()}, by “${verified.signer}” (${checked}), covers packages here${coveredPackages() > first ? `, ${coveredPackages() - first} of them first` : ""}`;
    notes.push({ kind: "timestamp", path: `${proofName}/${name}`, text });
  }
  if (signers.size > 0) {
    const problem = `who has signed the time stamps: they name ${[...signers].map((one) => `“${one}”`).join(", ")}, but no root certificate was given to check this against`;
    unchecked.push({ kind: "timestamp-signer", path: proofName, problem });
  }
  for (const n of [...lines.keys()].filter((one) => one < signed && !covered.has(one))) {
    yield found(
      names.log,
      `the line ${n} is one of those that a time stamp here is of, and nothing shows it: it was changed`,
    );
  }
  const open = archived.size - coveredPackages();
  const count = lines.size - covered.size - open;
  if (count > 0) {
    const text = `${count === 1 ? "1 line" : `${count} lines`} about holds and added numbers: no time stamp covers ${count === 1 ? "it" : "them"}`;
    notes.push({ kind: "timestamp", path: `${proofName}/${names.log}`, text });
  }
  if (open > 0) {
    const problem = `since when ${open === 1 ? "1 package is" : `${open} packages are`} as they are here: no time stamp covers ${open === 1 ? "it" : "them"}`;
    unchecked.push({ kind: "no-timestamps", path: proofName, problem });
  }
}

/** Whether an export has a package of this path in this folder: too long a path has the beginning of its last part, and that of the hash. */
function isFolderOf(folder: string, path: string, sha256: string): boolean {
  const [there, archived] = [folder.normalize("NFC"), path.normalize("NFC")];
  const [, short, start] = /^([^/]*)~([0-9a-f]{8})$/.exec(there) ?? [];
  const last = archived.slice(archived.lastIndexOf("/") + 1);
  const isShort =
    short !== undefined && sha256.slice(0, 8) === start && last.startsWith(short.replace(/\uFFFD$/, ""));
  return there === archived || isShort;
}

const unreadLine = "a line of it cannot be read: it was changed";

/** The lines of a file; where something is behind the last one, or a line has no end, an empty one that nothing else writes. */
async function linesOf(path: string, disk: ReadDisk): Promise<string[]> {
  const all: string[] = [];
  const file = await openPlain(path, disk);
  try {
    let read = 0;
    for await (const { lines, end } of file === undefined ? [] : readLines(file, 0)) {
      all.push(...lines);
      read = end;
    }
    const { size } = (await file?.stat()) ?? { size: 0 };
    return size > read ? [...all, ""] : all;
  } catch (error) {
    if (error instanceof ProblemError) {
      return [...all, ""];
    }
    throw error;
  } finally {
    await file?.close();
  }
}

/** The script in an export with which anybody checks it without this package; Python 3, and nothing else, runs it. */
const checkScript = String.raw`#!/usr/bin/env python3
"""Checks the packages of this export: their files, their lines in the archive's log, and the way from each line to the
checkpoints. It needs nothing but Python 3 and changes nothing. Time stamps are checked by OpenSSL: see README.txt."""
import base64, hashlib, json, pathlib, re, sys, unicodedata

proof = pathlib.Path(__file__).resolve().parent
problems = []

def sha256(content):
    return hashlib.sha256(content).digest()

def sha256_of(file):
    digest = hashlib.sha256()
    with open(file, "rb") as opened:
        while block := opened.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()

def root_by_path(leaf, number, size, path):  # RFC 9162, section 2.1.3.2
    node, own, last = leaf, number, size - 1
    for other in path:
        if last == 0:
            return None
        if own % 2 == 1 or own == last:
            node = sha256(b"\x01" + other + node)
            while own % 2 == 0 and own != 0:
                own, last = own // 2, last // 2
        else:
            node = sha256(b"\x01" + node + other)
        own, last = own // 2, last // 2
    return node if last == 0 else None

def is_folder_of(folder, path, sha256):  # too long a path has the beginning of its last part, and that of the hash
    folder, path = (unicodedata.normalize("NFC", one) for one in (folder, path))
    short, tilde, start = folder.rpartition("~")
    is_short = tilde and start == sha256[:8] and path.split("/")[-1].startswith(short.rstrip("\ufffd"))
    return folder == path or is_short

def lines_of(file, shape):  # each has the shape, and an end
    *read, rest = file.read_bytes().split(b"\n")
    good = [line for line in read if re.fullmatch(shape, line, re.DOTALL)]
    if rest or len(good) < len(read):
        problems.append(f"{file}: a line of it is not one that an export has")
    return good

def says_once(line):  # JSON in the one way in which the log has it
    event = json.loads(line)
    plain = json.dumps(event, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
    expected = {"at", "package", "path", "sha256", "what"} | fields.get(event.get("what"), {""})
    if plain != line or set(event) - {"reason"} != expected:
        problems.append(f"a line of the log cannot be read: {line[:200]}")
    return event

fields = {"archived": {"archived", "supplements"}, "held": {"person"}, "released": {"person"}}
fields |= {"named": {"number", "person"}, "pruned": {"before", "transactionId"}, "kept": {"transactionId"}}
# Each line: its number in the log, a space, and what it says of one package: first that it was archived.
log = [line.split(b" ", 1) for line in lines_of(proof / "log", rb"(?:0|[1-9]\d{0,14}) \{.*\}")]
lines = dict(log)
if [number for number, _ in log] != [str(number).encode() for number in sorted({int(number) for number in lines})]:
    problems.append("the lines of the log are not in their order, or one is there twice")
events = {number: says_once(line) for number, line in lines.items()}
archived = {number: event["sha256"] for number, event in events.items() if event["what"] == "archived"}
places = {event["sha256"]: event["path"] for number, event in events.items() if number in archived}
waiting = set(places)

packages = proof.parent / "packages"
named = set()
for manifest in sorted(packages.rglob("manifest.json")):
    content = manifest.read_bytes()
    own = sha256(content).hex()
    if own not in waiting:
        problems.append(f"{manifest}: no line of the log names this manifest")
    elif not is_folder_of(manifest.parent.relative_to(packages).as_posix(), places[own], own):
        problems.append(f"{manifest}: the log has this package in {places[own]}")
    waiting.discard(own)
    says = json.loads(content)
    files = {one["path"]: one["sha256"] for one in [*says["items"], says["measurement"], says["raw"]] if one}
    for name, expected in files.items():
        file = manifest.parent / name
        if not file.is_file() or sha256_of(file) != expected:
            problems.append(f"{file}: this is not the file that the manifest names")
    named |= {manifest, *(manifest.parent / name for name in files)}
for file in packages.rglob("*"):
    is_folder = file.is_dir() and file.parent / "manifest.json" not in named
    if file.is_symlink() or not (file in named or is_folder):
        problems.append(f"{file}: no manifest names this file")

# sha256sum passes over a line of another form, and does not look for files that no line lists.
listed, sums = set(), proof.parent / "SHA256SUMS"
for line in re.sub(rb"\r?\n\Z", b"", sums.read_bytes() if sums.is_file() else b"").split(b"\n"):
    read = re.fullmatch(rb"[0-9a-f]{64} [ *](.+?)\r?", line)
    name = unicodedata.normalize("NFC", read[1].decode(errors="replace")) if read else ""
    if re.search(r"\\|\0|^[A-Za-z]:", name) or {"", ".", ".."} & set(name.split("/")):
        problems.append(f"{sums}: a line of it is not one that an export has")
    listed.add(name)
for file in proof.parent.rglob("*"):
    name = unicodedata.normalize("NFC", file.relative_to(proof.parent).as_posix())
    is_listed = name in listed or (file in named and file.name != "manifest.json")
    if file.is_symlink() or not (is_listed or file.is_dir() or file == sums):
        problems.append(f"{file}: SHA256SUMS does not list it, so it was not exported")
if not archived:
    problems.append("there is no package here")
for missing in waiting:
    problems.append(f"the package whose manifest has the SHA-256 {missing} is not here")

covered, signed = set(), 0
for paths in sorted(proof.glob("*/paths")):
    origin, size, root = (paths.parent / "checkpoint").read_text().split("\n")[:3]
    signed = max(signed, int(size))
    for number, *path in (line.decode().split(" ") for line in lines_of(paths, rb"(?:0|[1-9]\d{0,14})(?: [0-9a-f]{64})*")):
        leaf = sha256(b"\x00" + lines.get(number.encode(), b""))
        reached = root_by_path(leaf, int(number), int(size), [bytes.fromhex(one) for one in path])
        if int(number) < int(size) and reached == base64.b64decode(root):
            covered.add(number.encode())
        else:
            problems.append(f"{paths}: the line {number} does not lead to the checkpoint")
for number in lines.keys() - covered:
    if int(number) < signed:
        problems.append(f"the line {number.decode()} is one of those that a checkpoint is of, and nothing shows it")
for number in archived.keys() - covered:
    problems.append(f"the line {number.decode()}: no checkpoint covers it, so nothing shows since when it is as it is")
own = {(event["package"], event["sha256"]) for number, event in events.items() if number in archived}
for number, event in events.items():
    if (event["package"], event["sha256"]) not in own:
        problems.append(f"the line {number.decode()} is about a package that is not here")
    elif number not in archived:
        about = ", ".join(str(event[name]) for name in ("number", "reason", "person") if event.get(name))
        note = "" if number in covered else " (no checkpoint covers this line)"
        print(ascii(f"{event['at']} {event['what']}: {about}{note}")[1:-1])

print("\n".join(problems) or f"Packages: {len(archived)}. Their files, their lines in the log and the checkpoints agree.")
sys.exit(1 if problems else 0)
`;
