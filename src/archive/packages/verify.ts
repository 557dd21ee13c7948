import { join } from "node:path";
import { systemCode } from "../../media/disk.ts";
import { holdName, manifestFileName, plainDisk, stateFolderName } from "../archive-disk.ts";
import { ChainCheck } from "./chain-check.ts";
import type { Checked, Finding, Unchecked, Verdict } from "./finding.ts";
import { filesOf } from "./manifest.ts";
import { hashFile } from "./package-files.ts";
import { PruneLog } from "./prune-log.ts";
import { findRoot, straysOf, walkPackages, type WalkEntry } from "./walk-packages.ts";

/** So many things that belong to no package, and no package yet: this is no archive. */
const mostStrays = 1_000;

/** A folder to verify, and the archive that it belongs to. */
interface Place {
  readonly root: string;
  /** The folder that is checked. */
  readonly start: string;
  /** The archive's own folder, with its index, is there. */
  readonly hasState: boolean;
}

/**
 * Checks an archive, one of its folders, or one package: every file against its manifest, every manifest against the one
 * that follows it, the folders for what does not belong there, and the index for packages that are gone. It says what is wrong,
 * and apart from that what nothing in the folder can show. Memory grows by some 400 bytes a package. Throws what the system says
 * when the folder itself can't be read.
 */
export class Verification {
  readonly checked: Checked = { packages: 0, files: 0, bytes: 0, incomplete: 0, expected: null };
  /** Filled once `run` has ended. */
  readonly unchecked: Unchecked[] = [];
  readonly #folder: string;
  /** Manifests of deleted packages, as of a size of their log. */
  #pruned: { bytes: number; hashes: ReadonlySet<string> } = { bytes: 0, hashes: new Set() };

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The verdict once `run` has ended with so many findings. */
  verdict(findings: number): Verdict {
    if (findings > 0) {
      return "wrong";
    }
    return this.unchecked.length > 0 ? "unchecked" : "ok";
  }

  async *run(): AsyncGenerator<Finding> {
    const place = await this.#open();
    const { root, start, hasState } = place;
    const isPruned = (sha256: string): Promise<boolean> => this.#isPruned(root, sha256);
    const chain = new ChainCheck(root, hasState ? isPruned : undefined);
    yield* this.#walk(place, chain);
    const { findings, unchecked } = chain.end(false);
    yield* findings;
    if (this.checked.packages === 0) {
      const problem = hasState
        ? "there is no package here"
        : "there is no package here, and no index: this is not an archive, or all of it is gone";
      this.unchecked.push({ kind: "no-packages", path: start.slice(root.length + 1), problem });
    }
    this.unchecked.push(...unchecked);
  }

  async #open(): Promise<Place> {
    const found = await findRoot(this.#folder);
    const start = await plainDisk.realpath(this.#folder);
    if (!(await plainDisk.stat(start)).isDirectory()) {
      throw new Error(`${this.#folder} is not a folder`);
    }
    await plainDisk.readdir(start);
    return { start, root: await plainDisk.realpath(found.root), hasState: found.hasState };
  }

  async *#walk({ root, start, hasState }: Place, chain: ChainCheck): AsyncGenerator<Finding> {
    let isArchive = hasState;
    const strays: Finding[] = [];
    for await (const entry of walkPackages(root, start)) {
      if (entry.kind === "package") {
        isArchive = true;
        yield* this.#checkPackage(entry);
        yield* chain.check(entry);
      } else if (entry.kind === "stray") {
        strays.push(findingOf(entry));
      } else {
        yield findingOf(entry);
      }
      if (isArchive) {
        yield* strays.splice(0);
      } else if (strays.length > mostStrays) {
        return;
      }
    }
  }

  async *#checkPackage(entry: Extract<WalkEntry, { kind: "package" }>): AsyncGenerator<Finding> {
    const { path, folder, manifest } = entry;
    this.checked.packages += 1;
    const files = filesOf(manifest);
    for (const file of files) {
      const filePath = path === "" ? file.path : `${path}/${file.path}`;
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
  }

  /** The log of deleted packages is read when the first package is missed, and again where it has grown since. */
  async #isPruned(root: string, sha256: string): Promise<boolean> {
    if (this.#pruned.hashes.has(sha256)) {
      return true;
    }
    const log = new PruneLog(join(root, stateFolderName));
    const bytes = await log.size();
    if (bytes !== this.#pruned.bytes) {
      this.#pruned = { bytes, hashes: await log.find() };
    }
    return this.#pruned.hashes.has(sha256);
  }
}

function findingOf(entry: Exclude<WalkEntry, { kind: "package" }>): Finding {
  const { path } = entry;
  switch (entry.kind) {
    case "damaged":
      return {
        kind: "manifest",
        path,
        problem: "the manifest can't be read: damaged, or of a later version",
      };
    case "stray":
      return { kind: "stray", path, problem: "this belongs to no package" };
    case "archive":
      return { kind: "stray", path, problem: "this is an archive of its own: check it by itself" };
    case "unreadable":
      return { kind: "unreadable", path, problem: entry.problem };
  }
}

function sayError(error: unknown): string {
  const code = systemCode(error);
  return code === "EACCES" || code === "EPERM" ? "no permission to read it" : (code ?? String(error));
}
