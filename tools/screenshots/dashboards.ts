import type { Browser, Page } from "playwright-core";
import type { DemoEnvironment } from "../demo/environment.ts";

/** How a screen of each kind is called in the names of the pictures. */
const screens = {
  station: { width: 1920, height: 1080 },
  "station-tablet": { width: 768, height: 1024 },
  "station-phone": { width: 390, height: 844 },
} as const;

type Save = (name: string, png: Buffer) => Promise<void>;

/** Packs parcels at both stations of example 30, and takes pictures of its page and of that of example 31. */
export async function takeDashboards(browser: Browser, demo: DemoEnvironment, save: Save): Promise<void> {
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
      await both(station, name, size, save);
    }
    const supervisor = await open("supervisor");
    await supervisor.locator("tbody tr", { hasText: "395212340000004173" }).waitFor();
    demo.simulator.newer.setPower(false);
    await supervisor.locator('[data-test="alarm"]').waitFor();
    await both(supervisor, "supervisor", { width: 1920, height: 1280 }, save);
  } finally {
    await context.close();
  }
}

async function both(page: Page, name: string, size: { width: number; height: number }, save: Save) {
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
