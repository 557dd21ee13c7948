import type { Browser } from "playwright-core";
import { atEnd } from "./at-end.ts";
import { launchBrowser } from "./browser.ts";

/** Shared by the test files of a process: to start one takes longer than many of the tests. */
let shared: Promise<Browser> | undefined;

/** A browser that is closed after all test files of this process; who opens a context in it closes it again. */
export async function sharedBrowser(): Promise<Browser> {
  const browser = await (shared ??= launchBrowser());
  if (browser.isConnected()) {
    return browser;
  }
  // It has crashed in an earlier test, which has failed; this one gets another.
  shared = launchBrowser();
  return shared;
}

// The last one: one that has crashed is gone. Of one that has not started, the tests that needed it have told.
atEnd(async () => {
  const browser = await shared?.catch(() => undefined);
  await browser?.close();
});
