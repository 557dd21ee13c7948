import type { Browser, Page } from "playwright-core";
import { openConfigDialog, openDialog } from "../../test/editor/dialog.ts";
import { openEditor } from "../../test/support/browser.ts";
import { nodeNamed } from "../demo/examples.ts";
import type { DemoEnvironment } from "../demo/environment.ts";

/** The five nodes of example 02 after a run, with their buttons and statuses. */
export function flow(browser: Browser, demo: DemoEnvironment, dark: boolean): Promise<Buffer> {
  return inEditor(browser, demo, dark, { width: 1600, height: 640 }, async (page) => {
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
export function imageOnCanvas(browser: Browser, demo: DemoEnvironment, dark: boolean): Promise<Buffer> {
  return inEditor(browser, demo, dark, { width: 1280, height: 735 }, async (page) => {
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
export function deviceDialog(browser: Browser, demo: DemoEnvironment, dark: boolean): Promise<Buffer> {
  return inEditor(browser, demo, dark, { width: 1280, height: 920 }, async (page) => {
    await openConfigDialog(page, nodeNamed(demo.flows, "Dock 1").id);
    await page.locator(".dimensioner-test").click();
    await page.locator('.dimensioner-answer[data-state="good"]').waitFor();
    return dialog(page);
  });
}

/** The dialog of example 02's remote trigger, with the cloud's devices to choose from. */
export function pickerDialog(browser: Browser, demo: DemoEnvironment, dark: boolean): Promise<Buffer> {
  return inEditor(browser, demo, dark, { width: 1280, height: 920 }, async (page) => {
    const { id } = nodeNamed(demo.flow, "Measure the parcel");
    await show(page, id);
    await openDialog(page, id);
    await page.locator(".dimensioner-pick").click();
    await page.locator(".dimensioner-picker select").waitFor();
    return dialog(page);
  });
}

/** The simulator's page, with a parcel on the table, what was filmed and the requests of the run. */
export async function simulatorPage(browser: Browser, demo: DemoEnvironment, dark: boolean): Promise<Buffer> {
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
  browser: Browser,
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

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The box around these nodes and the other elements, with a margin, but nothing beyond the canvas. */
async function around(page: Page, ids: readonly string[], others: readonly string[] = []): Promise<Box> {
  const marginPx = 40;
  const boxOf = async (selector: string): Promise<Box> => {
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
