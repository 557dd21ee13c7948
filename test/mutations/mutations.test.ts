import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { copyProject, readMutations, runTest, testMutated } from "./mutation.ts";

/**
 * The tests' own test:  npm run test:mutations  (-- --grep p01 for some of them)
 *
 * Each promise of docs/promises.md is broken on purpose in a copy of the sources; the tests that hold it have to fail.
 */
describe("a broken promise is noticed", function () {
  this.timeout(600_000);
  let copy: string;

  before(async () => {
    copy = await copyProject();
  });
  after(() => rm(copy, { recursive: true, force: true, maxRetries: 3 }));

  for (const mutation of readMutations()) {
    const { name, promise, breaks, tests } = mutation;
    for (const test of tests) {
      it(`${promise}: ${breaks} (${name}, ${test})`, async () => {
        const { passes, failures, output } = await testMutated(mutation, test, copy);
        const [failure] = failures;
        // A copy in which nothing runs has not noticed anything.
        assert.ok(passes > 0 || failure !== undefined, `${test} did not run:\n${output}`);
        assert.ok(failure !== undefined, `${test} has ${passes} tests, and none of them notices.`);
        assert.doesNotMatch(failure.error, /^(?:Syntax|Reference)Error: /);
        await assertPasses(test, failure.title);
      });
    }
  }

  /** Asserts that a test that fails with a mutation has nothing to notice without one. */
  async function assertPasses(test: string, title: string): Promise<void> {
    let found = await runTest(test, copy, title);
    if (found.passes + found.failures.length === 0) {
      // A hook, or a title that is another one each time.
      found = await runTest(test, copy);
    }
    assert.deepEqual(found.failures, [], `${test} also fails without the mutation.`);
    assert.ok(found.passes > 0, `${test} did not run without the mutation:\n${found.output}`);
  }
});
