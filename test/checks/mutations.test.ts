import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { mutate, readMutations } from "../mutations/mutation.ts";

const root = dirname(dirname(import.meta.dirname));

const needsBuild = "it runs files of dist/, which a copy with a mutation does not have";
const isSlow =
  "a run takes minutes, because it waits for what never comes, or counts what thousands of messages leave";
/** Why npm run test:mutations breaks nothing for these tests of promises. */
const withoutMutation: Readonly<Record<string, string>> = {
  "P2 test/nodes/cut-messages.process.test.ts": needsBuild,
  "P3 test/sweep/sweep.slow.test.ts": isSlow,
  "P4 test/archive/kill.slow.test.ts": needsBuild,
  "P7 test/leaks/leaks.slow.test.ts": isSlow,
  "P11 test/archive/kill.slow.test.ts": needsBuild,
  "P13 test/nodes/transaction-in-store.process.slow.test.ts": needsBuild,
  "P22 test/evidence/page.browser.test.ts": needsBuild,
  "P23 test/nodes/archive-restart.slow.test.ts": needsBuild,
};

/** The promise sheet, docs/promises.md: number and the files that it names. */
async function readPromises(): Promise<ReadonlyMap<string, readonly string[]>> {
  const page = await readFile(join(root, "docs", "promises.md"), "utf8");
  const rows = [...page.matchAll(/^\| (P\d+) +\|.*\|(.*)\|$/gm)];
  return new Map(
    rows.map(([, promise = "", tests = ""]) => [
      promise,
      [...tests.matchAll(/\]\(\.\.\/([^)#]+)\)/g)].map(([, path = ""]) => path),
    ]),
  );
}

describe("the promise sheet", () => {
  it("has a promise in each row, each held by tests that are named as files", async () => {
    const promises = await readPromises();
    assert.ok(promises.size >= 13, String(promises.size));
    for (const [promise, files] of promises) {
      assert.ok(files.length > 0, `${promise} names no test`);
      for (const file of files) {
        assert.match(file, /^test\/.+\.test\.ts$/, promise);
        assert.ok(existsSync(join(root, file)), `${promise}: ${file} is not there`);
      }
    }
  });

  it("has every promise broken on purpose, in code that is there, and noticed by a test that it names", async () => {
    const promises = await readPromises();
    const mutations = readMutations();
    assert.deepEqual(
      [...promises.keys()].filter((promise) => !mutations.some((one) => one.promise === promise)),
      [],
    );
    for (const mutation of mutations) {
      const changed = await mutate(mutation);
      assert.ok(changed.size > 0, mutation.name);
      for (const [path, content] of changed) {
        assert.notEqual(
          content,
          await readFile(join(root, path), "utf8"),
          `${mutation.name} changes nothing`,
        );
      }
      const named = promises.get(mutation.promise) ?? [];
      for (const test of mutation.tests) {
        assert.ok(named.includes(test), `${mutation.promise} does not name ${test}`);
      }
    }
  });

  it("has a mutation for each test that holds a promise, or a reason why not", async () => {
    const promises = await readPromises();
    const pairs = [...promises].flatMap(([promise, files]) => files.map((file) => `${promise} ${file}`));
    const broken = readMutations().flatMap(({ promise, tests }) => tests.map((test) => `${promise} ${test}`));
    assert.deepEqual(
      pairs.filter((pair) => !broken.includes(pair)).toSorted(),
      Object.keys(withoutMutation).toSorted(),
    );
  });
});
