import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applyPatch, parsePatch } from "diff";
import { runMocha } from "./mocha.ts";
import type { NodeBinary } from "./node-binaries.ts";
import { failedOnce, passedOnce, type Outcome, type Step } from "./outcome.ts";
import type { Run } from "./run.ts";

/** A promise broken on purpose: a small patch, and the test that has to notice. */
export interface Mutation {
  /** The file in test/mutations without its extension. */
  readonly name: string;
  /** "P1" */
  readonly promise: string;
  /** What the patch does to the code, in words. */
  readonly breaks: string;
  /** The test file that goes red, from the root of the project. */
  readonly test: string;
  readonly patch: string;
}

const folder = join("test", "mutations");
/** What a test may need, and nothing that has to be built first. */
const copied = ["examples", "icons", "nodes", "src", "test", "tools", "package.json", "tsconfig.base.json"];
const longestTestsMs = 120_000;
/** A test that hangs has noticed, too: nobody needs to wait for long. */
const longestTestMs = 8_000;

/**
 * Reads test/mutations/*.patch. Above the diff each has three lines:
 *
 *     Promise: P1
 *     Breaks: a command whose connection is lost is sent again
 *     Red: test/matrix/commands.test.ts
 */
export async function readMutations(root: string): Promise<Mutation[]> {
  const names = (await readdir(join(root, folder))).filter((name) => name.endsWith(".patch")).sort();
  return Promise.all(
    names.map(async (file) => {
      const patch = await readFile(join(root, folder, file), "utf8");
      const field = (name: string): string => {
        const value = new RegExp(`^${name}: (.+)$`, "m").exec(patch)?.[1];
        if (value === undefined) {
          throw new Error(`${file} has no line “${name}: …”.`);
        }
        return value.trim();
      };
      const name = file.slice(0, -".patch".length);
      return { name, promise: field("Promise"), breaks: field("Breaks"), test: field("Red"), patch };
    }),
  );
}

/** The files that a mutation changes, by path, with their changed content. Throws where the patch does not fit. */
export async function mutate(root: string, { name, patch }: Mutation): Promise<Map<string, string>> {
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

/** Passes when the test that holds the promise goes red in a copy with the mutation. */
export function mutationStep(root: string, mutation: Mutation, node: NodeBinary, run: Run): Step {
  const { name, promise, breaks, test } = mutation;
  return {
    name: `${promise}: ${breaks} (${name})`,
    async run(): Promise<Outcome> {
      const changed = await mutate(root, mutation);
      const copy = await mkdtemp(join(tmpdir(), "mutation-"));
      try {
        await Promise.all(copied.map((one) => cp(join(root, one), join(copy, one), { recursive: true })));
        await symlink(join(root, "node_modules"), join(copy, "node_modules"));
        for (const [path, content] of changed) {
          await writeFile(join(copy, path), content);
        }
        const suite = {
          node,
          files: [test],
          ignore: [],
          coverage: false,
          bail: true,
          longestTestMs,
          timeoutMs: longestTestsMs,
        };
        const { passed, failed, details } = await runMocha(copy, suite, run);
        if (failed === 0) {
          return failedOnce(
            `${test} has ${passed} tests, and none of them notices. The promise is not held.`,
          );
        }
        // A copy in which nothing runs is red too, and says nothing.
        return passed + failed > 1 || details.some((detail) => detail.includes("AssertionError"))
          ? passedOnce
          : failedOnce(`${test} did not run:\n${details.join("\n")}`);
      } finally {
        await rm(copy, { recursive: true, force: true, maxRetries: 3 });
      }
    },
  };
}
