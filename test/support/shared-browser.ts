import type { Browser } from "playwright-core";
import { launchBrowser } from "./browser.ts";

/** Shared by the test files of a process: to start one takes longer than many of the tests. */
let browser: Promise<Browser> | undefined;

// Outside of any suite, which means after all of them.
after(async () => {
  await (await browser)?.close();
});

/** A browser that is closed after all tests; who opens a context in it closes it again. */
export function sharedBrowser(): Promise<Browser> {
  browser ??= launchBrowser();
  return browser;
}
