import { join } from "node:path";
import { systemCode } from "../../media/disk.ts";
import { plainDisk, holdName, journalFileName, manifestFileName, stateFolderName } from "../archive-disk.ts";
import { decodeLine, readLines } from "../journal/journal-lines.ts";
import { filesOf } from "./manifest.ts";
import { hashFile, openPlain } from "./package-files.ts";
import { PruneLog } from "./prune-log.ts";
import { decodeRecord } from "./records.ts";
import { findRoot, straysOf, walkPackages, type Met } from "./walk-packages.ts";

/** Something that is not as it was archived. */
export interface Finding {
  readonly kind:
    | "changed"
    | "incomplete"
    | "journal"
    | "manifest"
    | "missing"
    | "missing-package"
    | "previous-changed"
    | "previous-missing"
    | "stray"
    | "unreadable";
  /** Below the archive's root, with slashes. */
  readonly path: string;
  /** A sentence for people. */
  readonly problem: string;
}

/** How far a verification has come. */
export interface Checked {
  packages: number;
  files: number;
  bytes: number;
  incomplete: number;
  /** How many packages the journal knows: for a progress bar; null where there is no journal. */
  expected: number | null;
}

interface Missing {
  readonly sha256: string;
  readonly finding: Finding;
}

const mostMissing = 1_000;

/**
 * Checks an archive, one of its folders, or one package: every file against its manifest, every manifest against the
 * one that follows it, the folders for what does not belong there, and the journal for packages that are gone. Memory
 * does not depend on how much there is. Throws what the system says when the folder itself can't be read.
 */
export class Verification {
  readonly checked: Checked = { packages: 0, files: 0, bytes: 0, incomplete: 0, expected: null };
  readonly #folder: string;
  #root = "";
  #hasState = false;
  #log: PruneLog | undefined;
  /** What may have been pruned: that is looked up for many at once. */
  #missing: Missing[] = [];

  constructor(folder: string) {
    this.#folder = folder;
  }

  async *run(): AsyncGenerator<Finding> {
    const { root, hasState } = await findRoot(this.#folder);
    this.#root = root;
    this.#hasState = hasState;
    this.#log = new PruneLog(join(root, stateFolderName));
    const { path, isWhole } = await this.#start();
    if (isWhole && hasState) {
      yield* this.#checkJournal();
    }
    for await (const met of walkPackages(root, path)) {
      yield* met.kind === "package" ? this.#checkPackage(met) : findingOf(met);
      if (this.#missing.length >= mostMissing) {
        yield* this.#settleMissing();
      }
    }
    yield* this.#settleMissing();
  }

  async #start(): Promise<{ path: string; isWhole: boolean }> {
    const path = await plainDisk.realpath(this.#folder);
    if (!(await plainDisk.stat(path)).isDirectory()) {
      throw new Error(`${this.#folder} is not a folder`);
    }
    await plainDisk.readdir(path);
    this.#root = await plainDisk.realpath(this.#root);
    return { path, isWhole: path === this.#root };
  }

  async *#checkPackage(met: Extract<Met, { kind: "package" }>): AsyncGenerator<Finding> {
    const { path, folder, manifest } = met;
    this.checked.packages += 1;
    const files = filesOf(manifest);
    for (const file of files) {
      const filePath = `${path}/${file.path}`;
      try {
        const found = await hashFile(join(folder, file.path), plainDisk);
        this.checked.files += 1;
        this.checked.bytes += found?.bytes ?? 0;
        if (found === undefined) {
          yield { kind: "missing", path: filePath, problem: "the file is not there" };
        } else if (found.bytes !== file.bytes) {
          const problem = `the file has ${found.bytes} bytes instead of ${file.bytes}`;
          yield { kind: "changed", path: filePath, problem };
        } else if (found.sha256 !== file.sha256) {
          yield { kind: "changed", path: filePath, problem: "the content is not what was archived (sha256)" };
        }
      } catch (error) {
        yield { kind: "unreadable", path: filePath, problem: sayError(error) };
      }
    }
    const named = new Set([manifestFileName, ...files.map((file) => file.path)]);
    for await (const name of straysOf(folder, named)) {
      if (holdName.test(name)) {
        continue;
      }
      yield { kind: "stray", path: `${path}/${name}`, problem: "this does not belong to the package" };
    }
    if (!manifest.complete) {
      this.checked.incomplete += 1;
      const problem = `archived without: ${manifest.missing.join(", ")}`;
      yield { kind: "incomplete", path, problem };
    }
    if (manifest.previous !== null) {
      await this.#checkPrevious(path, manifest.previous);
    }
  }

  async #checkPrevious(path: string, previous: { path: string; sha256: string }): Promise<void> {
    const isInside =
      !previous.path.split(/[/\\]/).includes("..") && !/^(?:[/\\]|[a-z]:)/i.test(previous.path);
    const found = isInside ? await hashFile(join(this.#root, previous.path), plainDisk) : undefined;
    if (found?.sha256 === previous.sha256) {
      return;
    }
    // Either may be right: the package before was pruned, and another one perhaps has its name by now.
    if (found !== undefined) {
      const problem = `the manifest before it, ${previous.path}, is not the one that was there`;
      this.#missing.push({ sha256: previous.sha256, finding: { kind: "previous-changed", path, problem } });
    } else if (this.#hasState) {
      // A package that was copied out of its archive has nothing beside it to be compared with.
      const problem = `the package before it, ${previous.path}, is gone and was not pruned`;
      this.#missing.push({ sha256: previous.sha256, finding: { kind: "previous-missing", path, problem } });
    }
  }

  /** Every package that the journal remembers has to be there, or pruned. */
  async *#checkJournal(): AsyncGenerator<Finding> {
    const path = `${stateFolderName}/${journalFileName}`;
    const file = await openPlain(join(this.#root, path), plainDisk);
    if (file === undefined) {
      yield { kind: "journal", path, problem: "the journal is not there" };
      return;
    }
    this.checked.expected = 0;
    let damaged = 0;
    try {
      for await (const lines of readLines(file)) {
        for (const { text } of lines) {
          const record = decodeRecord(decodeLine(text));
          if (record === undefined) {
            damaged += 1;
          }
          if (record?.type !== "archived") {
            continue;
          }
          this.checked.expected += 1;
          const manifest = join(this.#root, record.path, manifestFileName);
          const isThere = await plainDisk.lstat(manifest).then(
            () => true,
            () => false,
          );
          if (isThere) {
            continue;
          }
          const problem = "the journal has this package, and it is gone without having been pruned";
          const finding: Finding = { kind: "missing-package", path: record.path, problem };
          this.#missing.push({ sha256: record.sha256, finding });
          if (this.#missing.length >= mostMissing) {
            yield* this.#settleMissing();
          }
        }
      }
    } finally {
      await file.close();
    }
    if (damaged > 0) {
      yield { kind: "journal", path, problem: `${damaged} lines are damaged` };
    }
  }

  async *#settleMissing(): AsyncGenerator<Finding> {
    const missing = this.#missing;
    this.#missing = [];
    if (missing.length === 0) {
      return;
    }
    const pruned = (await this.#log?.find(new Set(missing.map(({ sha256 }) => sha256)))) ?? new Set();
    for (const { sha256, finding } of missing) {
      if (!pruned.has(sha256)) {
        yield finding;
      }
    }
  }
}

function* findingOf(met: Exclude<Met, { kind: "package" }>): Generator<Finding> {
  const { path } = met;
  switch (met.kind) {
    case "damaged":
      yield { kind: "manifest", path, problem: "the manifest can't be read: damaged, or of a later version" };
      break;
    case "stray":
      yield { kind: "stray", path, problem: "this belongs to no package" };
      break;
    case "archive":
      yield { kind: "stray", path, problem: "this is an archive of its own: check it by itself" };
      break;
    case "unreadable":
      yield { kind: "unreadable", path, problem: met.problem };
      break;
  }
}

function sayError(error: unknown): string {
  const code = systemCode(error);
  return code === "EACCES" || code === "EPERM" ? "no permission to read it" : (code ?? String(error));
}
