import axe from "axe-core";
import type { Browser, Page } from "playwright-core";

import { longestWaitMs } from "../support/browser.ts";
import type { Simulator } from "../../src/simulator/index.ts";

export interface OpenPage {
  readonly page: Page;
  /** Page errors, messages on the console and failed requests. */
  readonly problems: string[];
}

/** Opens the simulator's page in a browser context of its own and waits until it shows the state. */
export async function openPage(browser: Browser, sim: Simulator): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width: 900, height: 1000 }, colorScheme: "light" });
  context.setDefaultTimeout(longestWaitMs);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(`page error: ${error.stack ?? error.message}`));
  page.on("console", (message) => problems.push(`console ${message.type()}: ${message.text()}`));
  page.on("response", (response) => {
    if (response.status() >= 400) {
      problems.push(`HTTP ${response.status()}: ${response.url()}`);
    }
  });
  await page.goto(`${sim.control.origin}/`);
  await page.locator("#device-address", { hasText: sim.newer.origin }).waitFor();
  await page.locator("#parcel-cube").waitFor();
  return { page, problems };
}

/**
 * Clicks a switch and waits until the simulator has done it. `page.check()` would fail where the page hears of an earlier
 * state right after the click.
 */
export async function flip(
  page: Page,
  sim: Simulator,
  selector: string,
  isDone: () => boolean,
): Promise<void> {
  const done = sim.nextEvent(isDone);
  await page.click(selector);
  await done;
}

/** What is cut off, or what axe-core finds wrong, contrast included. */
export async function faultsOfPage(page: Page): Promise<string[]> {
  const cutOff = await page.evaluate<string[]>(`[...document.querySelectorAll("main *, header *")]
    .filter((element) => {
      const { left, right } = element.getBoundingClientRect();
      return element.checkVisibility() && (right > innerWidth + 1 || left < -1);
    })
    .map((element) => "cut off: " + element.outerHTML.slice(0, 120))`);
  // Evaluated from outside: the page's own policy lets no foreign script in.
  await page.evaluate(axe.source);
  const wrong = await page.evaluate<string[]>(`axe.run().then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 120)).join(", ")))`);
  return [...cutOff, ...wrong];
}
