import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { connected, readExample, type FlowNode } from "../../tools/demo/examples.ts";
import { longestWaitMs } from "../support/browser.ts";
import { startNodeRed, type NodeRed } from "../support/node-red.ts";

const dashboard = "@flowfuse/node-red-dashboard";

export interface StationOptions {
  readonly major: 4 | 5;
  /** Written over the variables of the tab: the settings of the example. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** The example “30 packing station” in a Node-RED that has Dashboard 2, with two newer devices and a cloud behind it. */
export interface StationRun {
  readonly nodeRed: NodeRed;
  /** The device of dock 1 and the cloud. */
  readonly simulator: Simulator;
  /** Its newer device is that of dock 2. */
  readonly second: Simulator;
  readonly nodes: readonly FlowNode[];
  close(): Promise<void>;
}

export async function startStation({ major, settings = {} }: StationOptions): Promise<StationRun> {
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0).toReversed()) {
      await closer();
    }
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), "station-"));
    closers.push(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
    const userDir = join(folder, "node-red");
    const archive = join(folder, "archive");
    await mkdir(archive);
    await mkdir(join(userDir, "node_modules", dirname(dashboard)), { recursive: true });
    const installed = dirname(createRequire(import.meta.url).resolve(`${dashboard}/package.json`));
    await symlink(installed, join(userDir, "node_modules", dashboard), "dir");
    const nodeRed = await startNodeRed({ major, userDir, env: { DIMENSIONER_ARCHIVE: archive } });
    closers.push(() => nodeRed.stop());
    const url = `${nodeRed.url}/dimensioner/transaction`;
    const webhook = { url, header: { name: "x-webhook-secret", value: "simulator" } };
    const simulator = await startSimulator({ encodingMs: 50, mediaDelayMs: 50, webhooks: [webhook] });
    closers.push(() => simulator.close());
    const second = await startSimulator({ encodingMs: 50 });
    closers.push(() => second.close());
    const origins = {
      newer: simulator.newer.origin,
      earlier: second.newer.origin,
      cloud: simulator.cloud.origin,
    };
    const nodes = connected(await readExample("30"), origins).map((node) => withSettings(node, settings));
    await nodeRed.deploy(nodes);
    return { nodeRed, simulator, second, nodes, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Both docks have a newer device here, which records. */
function withSettings(node: FlowNode, settings: Readonly<Record<string, string>>): FlowNode {
  if (node.type === "dimensioner-device") {
    return { ...node, generation: "newer", checkInterval: "1" };
  }
  if (node.type === "dimensioner-archive") {
    return { ...node, settle: "0.2" };
  }
  if (node.type !== "tab") {
    return node;
  }
  const stations = JSON.stringify({
    "dock-1": { device: "Dock 1", video: true, cloud: "Dimensioner cloud" },
    "dock-2": { device: "Dock 2", video: true },
  });
  const all: Readonly<Record<string, string>> = { STATIONS: stations, IGNORE_REPEATS: "0", ...settings };
  const env = node["env"] as { name: string; value: string }[];
  return { ...node, env: env.map((one) => ({ ...one, value: all[one.name] ?? one.value })) };
}

/** A page of a station, as a packer with a scanner that types like a keyboard uses it. */
export class StationPage {
  readonly page: Page;
  /** Page errors, and what the browser's console calls an error. */
  readonly problems: string[] = [];

  private constructor(page: Page) {
    this.page = page;
    page.setDefaultTimeout(longestWaitMs);
    page.on("pageerror", (error) => this.problems.push(`page error: ${error.stack ?? error.message}`));
    page.on("console", (message) => {
      if (message.type() === "error") {
        this.problems.push(`console: ${message.text()}`);
      }
    });
  }

  static async open(
    browser: Browser,
    nodeRed: NodeRed,
    station: string,
    context: Parameters<Browser["newContext"]>[0] = {},
  ): Promise<StationPage> {
    const opened = new StationPage(await (await browser.newContext(context)).newPage());
    await opened.page.goto(`${nodeRed.url}/dashboard/packing?station=${station}`);
    await opened.shows("phase");
    return opened;
  }

  /** The page as somebody opens it who has not read which station to name in its address. */
  static async openAnywhere(browser: Browser, nodeRed: NodeRed): Promise<StationPage> {
    const opened = new StationPage(await (await browser.newContext()).newPage());
    await opened.page.goto(`${nodeRed.url}/dashboard/packing`);
    return opened;
  }

  /** Types with 5 ms between the keys and ends with Enter. */
  async scan(code: string): Promise<void> {
    await this.page.keyboard.type(code, { delay: 5 });
    await this.page.keyboard.press("Enter");
  }

  async press(button: string): Promise<void> {
    await this.page.locator(`[data-test="${button}"]`).click();
  }

  /** Waits until a part of the page is there, with this text if one is given. */
  async shows(part: string, text: string | RegExp = ""): Promise<void> {
    await this.page.locator(`[data-test="${part}"]`, { hasText: text }).first().waitFor();
  }

  async phase(phase: string): Promise<void> {
    await this.page.locator(`[data-test="phase"][data-phase="${phase}"]`).waitFor();
  }

  /** Notes from now on how long it takes from Enter until the page shows that a parcel is being recorded. */
  async watchDelays(): Promise<void> {
    await this.page.evaluate(`(() => {
      window.delays = [];
      let enteredAt = 0;
      addEventListener("keydown", ({ key }) => { if (key === "Enter") { enteredAt = performance.now(); } }, true);
      const lamp = document.querySelector('[data-test="phase"]');
      const note = () => { if (lamp.dataset.phase === "recording") { window.delays.push(performance.now() - enteredAt); } };
      new MutationObserver(note).observe(lamp, { attributes: true, attributeFilter: ["data-phase"] });
    })()`);
  }

  /** In milliseconds. */
  delays(): Promise<number[]> {
    return this.page.evaluate<number[]>("window.delays");
  }

  async text(part: string): Promise<string> {
    return this.page.locator(`[data-test="${part}"]`).innerText();
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}
