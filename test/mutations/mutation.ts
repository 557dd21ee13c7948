import { cp, mkdtemp, readFile, symlink, writeFile } from "node:fs/promises";
import { readdirSync, readFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applyPatch, parsePatch } from "diff";

/** A promise that a patch breaks on purpose, and the test that has to notice. */
export interface Mutation {
  /** The file in test/mutations without its extension. */
  readonly name: string;
  /** "P1" */
  readonly promise: string;
  /** What the patch does to the code, in words. */
  readonly breaks: string;
  /** The test file that fails, from the root of the project. */
  readonly test: string;
  readonly patch: string;
}

/** What the tests in a copy of the project have found. */
export interface Found {
  readonly passes: number;
  readonly failures: readonly string[];
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
 * Reads test/mutations/*.patch. Above the diff each has three lines:
 *
 *     Promise: P1
 *     Breaks: a command whose connection is lost is sent again
 *     Red: test/matrix/commands.test.ts
 */
export function readMutations(): Mutation[] {
  const names = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".patch"));
  return names.sort().map((file) => {
    const patch = readFileSync(join(import.meta.dirname, file), "utf8");
    const field = (name: string): string => {
      const value = new RegExp(`^${name}: (.+)$`, "m").exec(patch)?.[1];
      if (value === undefined) {
        throw new Error(`${file} has no line “${name}: …”.`);
      }
      return value.trim();
    };
    const name = file.slice(0, -".patch".length);
    return { name, promise: field("Promise"), breaks: field("Breaks"), test: field("Red"), patch };
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

/** Runs the test of a mutation in a copy of the project with it, up to the first test that fails; then takes it back. */
export async function testMutated(mutation: Mutation, copy: string): Promise<Found> {
  const changed = await mutate(mutation);
  try {
    for (const [path, content] of changed) {
      await writeFile(join(copy, path), content);
    }
    return await runMocha(copy, mutation);
  } finally {
    for (const path of changed.keys()) {
      await cp(join(root, path), join(copy, path));
    }
  }
}

async function runMocha(folder: string, { name, test }: Mutation): Promise<Found> {
  const report = join(folder, `${name}.json`);
  const options = ["--bail", "--exit", `--timeout=${longestTestMs}`, "--reporter=json"];
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
    failures: failures.map(({ fullTitle, err }) => `${fullTitle}\n${err.name ?? ""}: ${err.message}`),
    output,
  };
}
