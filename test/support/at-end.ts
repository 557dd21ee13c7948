import "./seed.ts";

/**
 * What test files share, such as a browser, is started by the first one that needs it, and closed when the process has run its last
 * file. A process runs many files, each in a run of Mocha's of its own, so a hook of Mocha's would close it after the first.
 */
const closers: (() => unknown)[] = [];

/** Calls `close` after the last test file of this process; what was opened last is closed first. */
export function atEnd(close: () => unknown): void {
  closers.push(close);
}

/** Closes everything. tools/test-files.ts calls it, and Mocha where it runs by itself (`mochaGlobalTeardown`, .mocharc.json). */
export async function mochaGlobalTeardown(): Promise<void> {
  for (let close = closers.pop(); close !== undefined; close = closers.pop()) {
    await close();
  }
}
