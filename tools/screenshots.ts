/**
 * The pictures of the README:  npm run screenshots
 *
 * Runs the examples on the simulator, opens the editor and the simulator's page in a browser, light and dark, and
 * writes docs/screenshots/*.png. Builds nothing: build the package first. Needs ffmpeg.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launchBrowser } from "../test/support/browser.ts";
import { nodeNamed } from "./demo/examples.ts";
import { runFlow } from "./demo/run-flow.ts";
import { startDemo, type DemoEnvironment } from "./demo/environment.ts";
import {
  deviceDialog,
  flow,
  imageOnCanvas,
  measureDialog,
  pickerDialog,
  simulatorPage,
} from "./screenshots/views.ts";
import { smaller } from "./screenshots/smaller.ts";

const folder = join(import.meta.dirname, "..", "docs", "screenshots");
const themes = ["light", "dark"] as const;

await mkdir(folder, { recursive: true });
const browser = await launchBrowser();
try {
  await withStage(5, async (demo) => {
    // First, while its list of requests is that of the run and nothing else.
    for (const theme of themes) {
      await save(`simulator-${theme}`, await simulatorPage(browser, demo, theme === "dark"));
    }
    for (const theme of themes) {
      const dark = theme === "dark";
      await save(`flow-${theme}`, await flow(browser, demo, dark));
      await save(`image-on-canvas-${theme}`, await imageOnCanvas(browser, demo, dark));
      await save(`measure-${theme}`, await measureDialog(browser, demo, dark));
      await save(`device-${theme}`, await deviceDialog(browser, demo, dark));
      await save(`device-picker-${theme}`, await pickerDialog(browser, demo, dark));
    }
  });
  // Node-RED 4.1 has one theme, and another layout of the editor.
  await withStage(4, async (demo) => save("flow-node-red-4", await flow(browser, demo, false)));
} finally {
  await browser.close();
}

/** Starts all of it in a folder with a name that may be seen, runs one parcel, and ends it. */
async function withStage(major: 4 | 5, take: (demo: DemoEnvironment) => Promise<void>): Promise<void> {
  const archive = await mkdtemp(join(tmpdir(), "parcels-"));
  const settings = { paletteCategories: ["dimensioner", "common", "function", "network", "sequence"] };
  const demo = await startDemo({ archive, parcel: "shoe-box", major, settings });
  try {
    await runFlow({
      url: demo.nodeRed.url,
      nodes: demo.flow,
      press: "Scan a parcel",
      until: ["Archived: measurement and pictures", "Archived: video"].map(
        (name) => nodeNamed(demo.flow, name).name ?? name,
      ),
      timeoutMs: 60_000,
    });
    await take(demo);
  } finally {
    await demo.close();
    await rm(archive, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function save(name: string, png: Buffer): Promise<void> {
  const small = smaller(png);
  await writeFile(join(folder, `${name}.png`), small);
  console.log(`docs/screenshots/${name}.png`.padEnd(44), `${Math.round(small.length / 1024)} KB`);
}
