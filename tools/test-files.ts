/**
 * A process that runs test files, one after the other, as tools/test.ts names them. Each has a run of Mocha's of its own, and all of
 * them share what is expensive: loaded modules, a browser, a Node-RED, a database (test/support/at-end.ts).
 */
import { inspect } from "node:util";
import Mocha from "mocha";
import { mochaGlobalTeardown } from "../test/support/at-end.ts";
import { triedAgain } from "../test/support/several-tries.ts";

/** What a test file has found. */
export interface FileResult {
  readonly file: string;
  readonly passed: number;
  readonly failures: readonly { readonly title: string; readonly error: string }[];
  /** Titles of tests that were skipped. */
  readonly skipped: readonly string[];
  /** What had to be started more than once. */
  readonly notes: readonly string[];
}

process.on("message", ({ file }: { readonly file?: string }) => {
  void (file === undefined ? end() : runFile(file).then((result) => process.send?.(result)));
});

process.on("unhandledRejection", (reason) => console.error("Nobody handles this rejection:", reason));

async function runFile(file: string): Promise<FileResult> {
  const failures: { title: string; error: string }[] = [];
  const skipped: string[] = [];
  const notes: string[] = [];
  const takeNote = ({ name, message }: Error) => name === triedAgain && notes.push(message);
  process.on("warning", takeNote);
  let passed = 0;
  const fail = (title: string, error: unknown) =>
    failures.push({ title, error: typeof error === "string" ? error : inspect(error, { depth: 3 }) });
  try {
    const mocha = new Mocha({ timeout: 180_000, forbidOnly: true, reporter: Mocha.reporters.Base });
    mocha.addFile(file);
    await mocha.loadFilesAsync();
    await new Promise<void>((resolve) => {
      const runner = mocha.run(() => resolve());
      runner.on("pass", () => (passed += 1));
      runner.on("pending", (test) => skipped.push(test.fullTitle()));
      runner.on("fail", (test, error: unknown) => fail(test.fullTitle(), error));
    });
    // Else the listeners of all runs pass a rejection that nobody handles to one another, in every order that there is.
    mocha.dispose();
    if (passed + failures.length + skipped.length === 0) {
      fail("the whole file", "It has no test.");
    }
  } catch (error) {
    fail("the whole file", error);
  }
  process.off("warning", takeNote);
  return { file, passed, failures, skipped, notes };
}

/** Closes what the files shared. What then still keeps this process alive was left open by one of them. */
async function end(): Promise<void> {
  try {
    await mochaGlobalTeardown();
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  }
  process.disconnect();
  setTimeout(() => {
    console.error(`Left open: ${process.getActiveResourcesInfo().join(", ")}`);
    process.exit(1);
  }, 60_000).unref();
}
