import type { Browser } from "playwright-core";

/** 1 loses nothing, which is the smallest for dialogs; with photos, 0.9 is, below which small letters get visible edges. */
const qualities = [0.9, 1];

/** The same picture as WebP, which is smaller. The browser that has taken it writes it, so no other program is needed. */
export async function toWebp(browser: Browser, png: Buffer): Promise<Buffer> {
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
