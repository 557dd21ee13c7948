import { relative } from "node:path";
import { inspect } from "node:util";

/**
 * Mocha's reporter for `npm test`: a line for each file when it has ended, each failure at once, and at the end
 * `N passed, N failed`. A suite that leaves something open is ended after `longestRestMs`, and has failed.
 */
export default function ProgressReporter(
  runner: Mocha.Runner,
  options: { readonly reporterOptions?: { readonly longestRestMs?: string } },
): void {
  const longestRestMs = Number(options.reporterOptions?.longestRestMs ?? 60_000);
  const total = { passed: 0, failed: 0, skipped: 0 };
  let file: string | undefined;
  let passed = 0;
  let startedAt = performance.now();

  const endFile = () => {
    if (file !== undefined) {
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      console.log(`${file}: ${passed} passed (${seconds} s)`);
    }
    passed = 0;
    startedAt = performance.now();
  };
  runner.on("suite", (suite) => {
    const next = nameOf(suite);
    if (next !== undefined && next !== file) {
      endFile();
      file = next;
    }
  });
  runner.on("pass", () => {
    passed++;
    total.passed++;
  });
  runner.on("pending", (test) => {
    total.skipped++;
    console.log(`skipped ${nameOf(test) ?? ""}: ${test.fullTitle()}`);
  });
  runner.on("fail", (test, error: unknown) => {
    total.failed++;
    // Prints the causes of the error as well.
    const text = inspect(error, { depth: 3 }).replace(/^/gm, "     ");
    console.log(`FAIL ${nameOf(test) ?? ""}: ${test.fullTitle()}\n${text}`);
  });
  runner.on("end", () => {
    endFile();
    console.log(`${total.passed} passed, ${total.failed} failed`);
    // Does not keep the process alive: when it is called, something else has.
    setTimeout(() => {
      const open = process.getActiveResourcesInfo().join(", ");
      console.log(`FAIL All tests have ended, but the process has not. Something is left open: ${open}.`);
      // After mocha's own listener, which sets the exit code by the number of failures.
      process.once("exit", () => (process.exitCode = 1));
      process.exit();
    }, longestRestMs).unref();
  });
}

/** The file of a test, a hook or a suite, from the root of the project. */
function nameOf({
  file,
  parent,
}: {
  readonly file?: string | undefined;
  readonly parent?: Mocha.Suite | undefined;
}) {
  const path = file ?? parent?.file;
  return path === undefined ? undefined : relative(process.cwd(), path);
}
