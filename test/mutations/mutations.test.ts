import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { copyProject, readMutations, testMutated } from "./mutation.ts";

/**
 * The tests' own test:  npm run test:mutations  (-- --grep p01 for some of them)
 *
 * Each promise of docs/promises.md is broken on purpose in a copy of the sources; the test that holds it has to fail.
 */
describe("a broken promise is noticed", function () {
  this.timeout(600_000);
  let copy: string;

  before(async () => {
    copy = await copyProject();
  });
  after(() => rm(copy, { recursive: true, force: true, maxRetries: 3 }));

  for (const mutation of readMutations()) {
    const { name, promise, breaks, test } = mutation;
    it(`${promise}: ${breaks} (${name})`, async () => {
      const { passes, failures, output } = await testMutated(mutation, copy);
      // A copy in which nothing runs would fail, too, without having noticed anything.
      const hasRun =
        passes + failures.length > 1 || failures.some((failure) => failure.includes("AssertionError"));
      assert.ok(
        passes === 0 || failures.length > 0,
        `${test} has ${passes} tests, and none of them notices.`,
      );
      assert.ok(hasRun, `${test} did not run:\n${failures.join("\n")}\n${output}`);
    });
  }
});
