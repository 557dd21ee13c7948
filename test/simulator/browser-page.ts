import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Browser, Page } from "playwright-core";

import type { Simulator } from "../../src/simulator/index.ts";
import { simulatorPage } from "../../tools/simulator-page.ts";

const root = dirname(dirname(import.meta.dirname));

/** Builds the page to where the simulator looks for it; what is up to date there stays. */
export async function buildPage(): Promise<ReadonlyMap<string, Buffer>> {
  const files = await simulatorPage(root);
  for (const [file, content] of files) {
    const path = join(root, "dist", file);
    const before = await readFile(path).catch(() => null);
    if (before?.equals(content) === true) continue;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.${process.pid}`, content);
    await rename(`${path}.${process.pid}`, path);
  }
  return files;
}

export interface OpenPage {
  readonly page: Page;
  /** Page errors, messages on the console and failed requests. */
  readonly problems: string[];
}

/** Opens the simulator's page in a browser context of its own and waits until it shows the state. */
export async function openPage(browser: Browser, sim: Simulator): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width: 900, height: 1000 }, colorScheme: "light" });
  const page = await context.newPage();
  page.setDefaultTimeout(5000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(`page error: ${error.stack ?? error.message}`));
  page.on("console", (message) => problems.push(`console ${message.type()}: ${message.text()}`));
  page.on("response", (response) => {
    if (response.status() >= 400) problems.push(`HTTP ${response.status()}: ${response.url()}`);
  });
  await page.goto(`${sim.control.origin}/`);
  await page.locator("#device-address", { hasText: sim.newer.origin }).waitFor();
  await page.locator("#parcel-cube").waitFor();
  return { page, problems };
}

/** Faults that a person would see or a screen reader would stumble over. */
export function faultsOfPage(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const faults = [];
    const visible = (element) => element.checkVisibility();
    for (const element of document.querySelectorAll("main *, header *")) {
      const { left, right } = element.getBoundingClientRect();
      if (visible(element) && (right > innerWidth + 1 || left < -1)) {
        faults.push("cut off: " + element.outerHTML.slice(0, 120));
      }
    }
    for (const control of document.querySelectorAll("input, select, button, video[controls], [tabindex]")) {
      if (!visible(control) || control.ariaHidden === "true") continue;
      const label = [...(control.labels ?? [])].map((one) => one.textContent.trim()).join("");
      const name = control.ariaLabel || label || control.textContent.trim() || control.querySelector("img")?.alt;
      if (!name) faults.push("no name: " + control.outerHTML.slice(0, 120));
      if (control.tabIndex < 0) faults.push("no keyboard: " + control.outerHTML.slice(0, 120));
    }
    for (const image of document.querySelectorAll("img:not([alt])")) faults.push("no alt: " + image.outerHTML);
    const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
    for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push("twice: " + id);
    return faults;
  })()`);
}
