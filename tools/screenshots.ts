/**
 * The pictures of the pages:  npm run screenshots
 *
 * Runs examples on the simulator, opens the editor, the simulator's page and dashboards in a browser, light and dark, and writes
 * docs/screenshots/*.webp. Builds nothing: build the package first.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { exportPackages, findPackages } from "../src/index.ts";
import { readZip } from "../test/archive/read-zip.ts";
import { openConfigDialog, openDialog } from "../test/editor/dialog.ts";
import { launchBrowser, openEditor } from "../test/support/browser.ts";
import { nodeNamed } from "../test/support/examples.ts";
import { runFlow } from "../test/support/run-flow.ts";
import { startDemo, type DemoEnvironment, type DemoOptions } from "./demo/environment.ts";

const folder = join(import.meta.dirname, "..", "docs", "screenshots");
/** The order matters: when the simulator's page is shown, its list has the requests of the runs and no others. */
const views = {
  simulator: simulatorPage,
  flow,
  "image-on-canvas": imageOnCanvas,
  device: deviceDialog,
  "device-picker": pickerDialog,
};

/** How a screen of each kind is called in the names of the pictures. */
const screens = {
  station: { width: 1920, height: 1080 },
  "station-tablet": { width: 768, height: 1024 },
  "station-phone": { width: 390, height: 844 },
} as const;

/** 1 loses nothing, which is the smallest for dialogs; with photos, 0.9 is, below which small letters get visible edges. */
const qualities = [0.9, 1];

await mkdir(folder, { recursive: true });
const browser = await launchBrowser();
try {
  await withDemo(
    {
      examples: ["02", "13"],
      settings: { paletteCategories: ["dimensioner", "common", "function", "network", "sequence"] },
    },
    async (demo) => {
      await pressAll(demo);
      for (const [name, take] of Object.entries(views)) {
        for (const theme of ["light", "dark"] as const) {
          await save(`${name}-${theme}`, await take(demo, theme === "dark"));
        }
      }
      await save("report", await evidenceReport(demo));
    },
  );
  await withDemo({ examples: ["30", "31"], packages: ["@flowfuse/node-red-dashboard"] }, takeDashboards);
} finally {
  await browser.close();
}

async function withDemo(
  options: Partial<DemoOptions>,
  use: (demo: DemoEnvironment) => Promise<void>,
): Promise<void> {
  // The folder's name can be seen in a status.
  const archive = await mkdtemp(join(tmpdir(), "parcels-"));
  try {
    const demo = await startDemo({ archive, parcel: "shoe-box", ...options });
    try {
      await use(demo);
    } finally {
      await demo.close();
    }
  } finally {
    await rm(archive, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** One parcel through each of the examples. */
async function pressAll({ nodeRed, flow: first, flows }: DemoEnvironment): Promise<void> {
  const { url } = nodeRed;
  const others = flows.filter((node) => !first.includes(node));
  await runFlow({ url, nodes: others, press: "Scan a parcel", until: ["Saved"], timeoutMs: 60_000 });
  for (const [press, until] of [
    ["Scan: packing begins", "Recording"],
    ["Scan: parcel is packed", "Archived"],
  ] as const) {
    await runFlow({ url, nodes: first, press, until: [until], timeoutMs: 60_000 });
  }
}

async function save(name: string, png: Buffer): Promise<void> {
  const picture = await toWebp(png);
  await writeFile(join(folder, `${name}.webp`), picture);
  console.log(`docs/screenshots/${name}.webp`.padEnd(44), `${Math.round(picture.length / 1024)} KB`);
}

/** The five nodes of example 02 after a run, with their buttons and statuses. */
function flow(demo: DemoEnvironment, dark: boolean): Promise<Buffer> {
  return inEditor(demo, dark, { width: 1600, height: 640 }, async (page) => {
    const names = [
      "Scan: packing begins",
      "Start the video",
      "Recording",
      "Scan: parcel is packed",
      "Measure the parcel",
      "Archive the evidence",
      "Archived",
    ];
    await show(page, nodeNamed(demo.flow, "Measure the parcel").id);
    await page.evaluate("document.activeElement.blur()");
    await settled(page);
    return page.screenshot({
      clip: await around(
        page,
        names.map((name) => nodeNamed(demo.flow, name).id),
      ),
    });
  });
}

/**
 * The last image of a parcel on the canvas, after a click on the badge above a fetch image node. Only in Node-RED 5.
 */
function imageOnCanvas(demo: DemoEnvironment, dark: boolean): Promise<Buffer> {
  return inEditor(demo, dark, { width: 1280, height: 735 }, async (page) => {
    const { id } = nodeNamed(demo.flows, "Save the annotated image");
    await show(page, id);
    await page.locator(`[id="${id}"] .dimensioner-preview-badge:not(.hide) rect`).click();
    const image = page.locator(".red-ui-popover .dimensioner-preview img");
    await image.waitFor();
    await page.waitForFunction(
      'document.querySelector(".red-ui-popover .dimensioner-preview img")?.complete',
    );
    await settled(page);
    return page.screenshot({ clip: await around(page, [id], [".red-ui-popover"]) });
  });
}

/** The dialog of a device, after Test connection. */
function deviceDialog(demo: DemoEnvironment, dark: boolean): Promise<Buffer> {
  return inEditor(demo, dark, { width: 1280, height: 920 }, async (page) => {
    await openConfigDialog(page, nodeNamed(demo.flows, "Dock 1").id);
    await page.locator(".dimensioner-test").click();
    await page.locator('.dimensioner-answer[data-state="good"]').waitFor();
    return dialog(page);
  });
}

/** The dialog of example 02's remote trigger, with the cloud's devices to choose from. */
function pickerDialog(demo: DemoEnvironment, dark: boolean): Promise<Buffer> {
  return inEditor(demo, dark, { width: 1280, height: 920 }, async (page) => {
    const { id } = nodeNamed(demo.flow, "Measure the parcel");
    await show(page, id);
    await openDialog(page, id);
    await page.locator(".dimensioner-pick").click();
    await page.locator(".dimensioner-picker select").waitFor();
    return dialog(page);
  });
}

/** The simulator's page, with a parcel on the table, what was filmed and the requests of the run. */
async function simulatorPage(demo: DemoEnvironment, dark: boolean): Promise<Buffer> {
  const context = await browser.newContext({
    locale: "en-US",
    colorScheme: dark ? "dark" : "light",
    viewport: { width: 1100, height: 900 },
    // The page's policy forbids the evaluation of text, also by the code below.
    bypassCSP: true,
  });
  try {
    const page = await context.newPage();
    await page.goto(`${demo.simulator.control.origin}/`);
    await page.locator("#parcel-cube").waitFor();
    await page.locator('input[name="view"][value="annotated"]').check();
    await page.evaluate("scrollTo(0, 0)");
    await page.waitForFunction(`[...document.images].every((one) => one.complete)`);
    await settled(page);
    return await page.screenshot();
  } finally {
    await context.close();
  }
}

async function inEditor(
  demo: DemoEnvironment,
  dark: boolean,
  viewport: { width: number; height: number },
  take: (page: Page) => Promise<Buffer>,
): Promise<Buffer> {
  const editor = await openEditor(browser, demo.nodeRed.url, { dark, context: { viewport } });
  try {
    return await take(editor.page);
  } finally {
    await editor.close();
  }
}

/** The open dialog only, without the rest of the canvas. */
async function dialog(page: Page): Promise<Buffer> {
  await settled(page);
  const tray = await page.locator(".red-ui-tray").last().boundingBox();
  const header = await page.locator(".red-ui-tray-header").last().boundingBox();
  if (tray === null || header === null) {
    throw new Error("No dialog is open.");
  }
  return page.screenshot({
    clip: { x: header.x, y: tray.y, width: header.width, height: tray.height },
  });
}

/** The box around these nodes and the other elements, with a margin, but nothing beyond the canvas. */
async function around(page: Page, ids: readonly string[], others: readonly string[] = []) {
  const marginPx = 40;
  const boxOf = async (selector: string) => {
    const box = await page.locator(selector).boundingBox();
    if (box === null) {
      throw new Error(`The canvas does not show ${selector}.`);
    }
    return box;
  };
  const canvas = await boxOf("#red-ui-workspace-chart");
  const boxes = await Promise.all([...ids.map((id) => `[id="${id}"]`), ...others].map(boxOf));
  const left = Math.max(canvas.x, Math.min(...boxes.map(({ x }) => x)) - marginPx);
  const top = Math.max(canvas.y, Math.min(...boxes.map(({ y }) => y)) - marginPx / 2);
  const right = Math.min(
    canvas.x + canvas.width,
    Math.max(...boxes.map((box) => box.x + box.width)) + marginPx,
  );
  const bottom = Math.max(...boxes.map((box) => box.y + box.height)) + marginPx / 2;
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** Moves the mouse away and waits until nothing moves any more: menus slide, and buttons change color. */
async function settled(page: Page): Promise<void> {
  await page.mouse.move(0, 0);
  await page.waitForFunction(
    `!window.$?.(":animated").length && document.getAnimations().every((one) => one.playState !== "running")`,
  );
}

/** Shows the tab of a node, from its upper left corner. */
async function show(page: Page, id: string): Promise<void> {
  await page.evaluate(`RED.workspaces.show(RED.nodes.node("${id}").z)`);
  await page.locator(`[id="${id}"]`).waitFor();
}

/** The beginning of the report about the newest package of the demo. A report has no dark theme: it is for paper. */
async function evidenceReport({ nodeRed, archive }: DemoEnvironment): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "report-"));
  const context = await browser.newContext({ viewport: { width: 1040, height: 800 } });
  try {
    const database = join(nodeRed.userDir, "dimensioner");
    const [newest] = await findPackages(archive, { database, by: "all", limit: 1 });
    const value = newest?.packageId ?? "";
    const { path } = await exportPackages(archive, { database, by: "packageId", value, to: folder });
    const [report] = await readZip(path, (name) => name === "report.html");
    const page = await context.newPage();
    await page.setContent(report?.content.toString() ?? "");
    return await page.screenshot();
  } finally {
    await context.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Packs parcels at both stations of example 30, and takes pictures of its page and of that of example 31. */
async function takeDashboards(demo: DemoEnvironment): Promise<void> {
  const context = await browser.newContext({ reducedMotion: "reduce", locale: "en-US" });
  try {
    const open = async (path: string): Promise<Page> => {
      const page = await context.newPage();
      await page.goto(`${demo.nodeRed.url}/dashboard/${path}`);
      return page;
    };
    const second = await open("packing?station=dock-2");
    await phase(second, "idle");
    await scan(second, "OP-BEN");
    await scan(second, "1Z999AA10123456784");
    await phase(second, "measured");

    const station = await open("packing?station=dock-1");
    await phase(station, "idle");
    await scan(station, "OP-ANNA");
    for (const [parcel, code] of [
      ["shoe-box", "395212340000004173"],
      ["cube", "395212340000004180"],
      ["tube-box", "395212340000004197"],
    ] as const) {
      demo.simulator.newer.setParcel(parcel);
      await scan(station, code);
      await phase(station, "recording");
      // Not by another scan: the station ignores a repeated scan of the same code for a while.
      await station.locator('[data-test="measure"]').click();
      await phase(station, "measured");
      await station.locator('[data-test="billable"]').waitFor();
    }
    await station.locator('[data-test="entry"][data-evidence="saved"]').nth(1).waitFor();
    for (const [name, size] of Object.entries(screens)) {
      await both(station, name, size);
    }
    const supervisor = await open("supervisor");
    await supervisor.locator("tbody tr", { hasText: "395212340000004173" }).waitFor();
    demo.simulator.newer.setPower(false);
    await supervisor.locator('[data-test="alarm"]').waitFor();
    await both(supervisor, "supervisor", { width: 1920, height: 1280 });
  } finally {
    await context.close();
  }
}

async function both(page: Page, name: string, size: { width: number; height: number }) {
  await page.bringToFront();
  await page.setViewportSize(size);
  for (const theme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: theme });
    await page.evaluate("scrollTo(0, 0)");
    await page.waitForFunction(
      `[...document.images].every((one) => one.complete || one.loading === "lazy") &&
        document.getAnimations().every((one) => one.playState !== "running")`,
    );
    await save(`${name}-${theme}`, await page.screenshot());
  }
}

/** As a scanner that types like a keyboard. */
async function scan(page: Page, code: string): Promise<void> {
  await page.bringToFront();
  await page.keyboard.type(code, { delay: 5 });
  await page.keyboard.press("Enter");
  await page.waitForFunction(`document.querySelector('[data-test="sending"]').innerText === ""`);
}

async function phase(page: Page, name: string): Promise<void> {
  await page.locator(`[data-test="phase"][data-phase="${name}"]`).waitFor();
}

/** The same picture as WebP, which is smaller. The browser that has taken it writes it, so no other program is needed. */
async function toWebp(png: Buffer): Promise<Buffer> {
  const page = await browser.newPage();
  try {
    const base64 = await page.evaluate<string>(`(async () => {
      const response = await fetch("data:image/png;base64,${png.toString("base64")}");
      const picture = await createImageBitmap(await response.blob());
      const canvas = new OffscreenCanvas(picture.width, picture.height);
      canvas.getContext("2d").drawImage(picture, 0, 0);
      const options = ${JSON.stringify(qualities)}.map((quality) => ({ type: "image/webp", quality }));
      const written = await Promise.all(options.map((one) => canvas.convertToBlob(one)));
      const [smallest] = written.sort((one, other) => one.size - other.size);
      return new Uint8Array(await smallest.arrayBuffer()).toBase64();
    })()`);
    return Buffer.from(base64, "base64");
  } finally {
    await page.close();
  }
}
