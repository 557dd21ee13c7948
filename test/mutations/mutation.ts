import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { readdirSync, readFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applyPatch, parsePatch } from "diff";

/** A promise that a patch breaks on purpose, and the tests that have to notice. */
export interface Mutation {
  /** The file in test/mutations without its extension. */
  readonly name: string;
  /** "P1" */
  readonly promise: string;
  /** What the patch does to the code, in words. */
  readonly breaks: string;
  /** The test files that fail, from the root of the project. */
  readonly tests: readonly string[];
  readonly patch: string;
}

/** What the tests in a copy of the project have found. */
interface Found {
  readonly passes: number;
  readonly failures: readonly { readonly title: string; readonly error: string }[];
  /** What the process printed, for when it did not run at all. */
  readonly output: string;
}

const root = join(import.meta.dirname, "..", "..");
/** What a test may need, and nothing that has to be built first. */
const copied = [
  ".mocharc.json",
  "examples",
  "icons",
  "nodes",
  "src",
  "test",
  "tools",
  "package.json",
  "tsconfig.base.json",
];
/** A test that hangs has noticed the mutation as well, so this limit is shorter than one for a slow computer. */
const longestTestMs = 60_000;

/**
 * Reads test/mutations/*.patch. Above the diff each has three lines, the last one for each test that has to fail:
 *
 *     Promise: P1
 *     Breaks: a command whose connection is lost is sent again
 *     Red: test/matrix/commands.test.ts
 */
export function readMutations(): Mutation[] {
  const names = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".patch"));
  return names.sort().map((file) => {
    const patch = readFileSync(join(import.meta.dirname, file), "utf8");
    const fields = (name: string): [string, ...string[]] => {
      const [first, ...more] = [...patch.matchAll(new RegExp(`^${name}: (.+)$`, "gm"))].map(
        ([, value = ""]) => value.trim(),
      );
      if (first === undefined) {
        throw new Error(`${file} has no line “${name}: …”.`);
      }
      return [first, ...more];
    };
    const name = file.slice(0, -".patch".length);
    return { name, promise: fields("Promise")[0], breaks: fields("Breaks")[0], tests: fields("Red"), patch };
  });
}

/** The files that a mutation changes, by path, with their changed content. Throws where the patch does not fit. */
export async function mutate({ name, patch }: Mutation): Promise<Map<string, string>> {
  const changed = new Map<string, string>();
  for (const part of parsePatch(patch)) {
    const path = part.newFileName?.replace(/^b\//, "") ?? "";
    const content = applyPatch(await readFile(join(root, path), "utf8"), part);
    if (content === false) {
      throw new Error(
        `${name}.patch does not fit ${path} any more. Break the promise anew: the code has changed.`,
      );
    }
    changed.set(path, content);
  }
  return changed;
}

/** Copies the project to a folder of its own, which the caller removes. */
export async function copyProject(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), "mutation-"));
  await Promise.all(copied.map((one) => cp(join(root, one), join(copy, one), { recursive: true })));
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

/** Runs a test file in a copy of the project with a mutation, up to the first test that fails; then takes it back. */
export async function testMutated(mutation: Mutation, test: string, copy: string): Promise<Found> {
  const changed = await mutate(mutation);
  try {
    for (const [path, content] of changed) {
      await writeFile(join(copy, path), content);
    }
    return await runTest(test, copy);
  } finally {
    for (const path of changed.keys()) {
      await cp(join(root, path), join(copy, path));
    }
  }
}

/** Runs a test file in a copy of the project, or those of its tests that have a title, up to the first one that fails. */
export async function runTest(test: string, folder: string, title?: string): Promise<Found> {
  const report = join(folder, "report.json");
  await rm(report, { force: true });
  const options = ["--bail", "--exit", `--timeout=${longestTestMs}`, "--reporter=json"];
  if (title !== undefined) {
    options.push("--fgrep", title);
  }
  const mocha = join("node_modules", "mocha", "bin", "mocha.js");
  const child = spawn(process.execPath, [mocha, test, ...options, `--reporter-option=output=${report}`], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const add = (chunk: Buffer) => (output += chunk.toString());
  child.stdout.on("data", add);
  child.stderr.on("data", add);
  await once(child, "close");
  const text = await readFile(report, "utf8").catch(() => "");
  if (text === "") {
    return { passes: 0, failures: [], output };
  }
  const { stats, failures } = JSON.parse(text) as {
    stats: { passes: number };
    failures: { fullTitle: string; err: { name?: string; message: string } }[];
  };
  return {
    passes: stats.passes,
    failures: failures.map(({ fullTitle, err }) => ({
      title: fullTitle,
      error: `${err.name ?? ""}: ${err.message}`,
    })),
    output,
  };
}
