import type { Browser } from "playwright-core";
import { launchBrowser, openEditor, type Editor } from "../support/browser.ts";
import { startNodeRed, type NodeRed } from "../support/node-red.ts";

/** One Node-RED with its editor open in a browser. */
export interface Bench extends Pick<Editor, "page" | "problems"> {
  readonly major: 4 | 5;
  readonly nodeRed: NodeRed;
}

export interface Both {
  /** Runs the same work in both editors at once: most of the time they wait for their own animations. */
  run(work: (bench: Bench) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/** Starts Node-RED 4.1 and 5.0 with the same flows, and opens the editor of each. */
export async function openBoth(flows: readonly object[]): Promise<Both> {
  const browser = await launchBrowser();
  const benches = await Promise.all(([4, 5] as const).map((major) => openBench(browser, major, flows)));
  return {
    async run(work) {
      const ended = await Promise.allSettled(benches.map(work));
      ended.forEach((one, index) => {
        if (one.status === "rejected") {
          throw new Error(`in Node-RED ${benches[index]?.major}: ${String(one.reason?.stack ?? one.reason)}`);
        }
      });
    },
    async close() {
      await browser.close();
      await Promise.all(benches.map(({ nodeRed }) => nodeRed.stop()));
    },
  };
}

async function openBench(browser: Browser, major: 4 | 5, flows: readonly object[]): Promise<Bench> {
  const nodeRed = await startNodeRed({ major, flows });
  const { page, problems } = await openEditor(browser, nodeRed.url);
  page.setDefaultTimeout(10_000);
  return { major, nodeRed, page, problems };
}
