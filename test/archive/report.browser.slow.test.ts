import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { inflateSync } from "node:zlib";
import type { Page } from "playwright-core";
import { exportPackages } from "../../src/index.ts";
import { faultsOfPage } from "../simulator/browser-page.ts";
import { longestWaitMs } from "../support/browser.ts";
import { sharedBrowser } from "../support/shared-browser.ts";
import { readZip } from "./read-zip.ts";
import { databaseOf } from "./store.ts";
import { intentOf, openArchive } from "./support.ts";

const pictures = join(import.meta.dirname, "..", "..", "src", "simulator", "catalogue");
const measurement = JSON.stringify({
  length: 33.5,
  width: 21,
  height: 12.5,
  dimsUnitOfMeasure: "cm",
  weight: 1.27,
  weightUnitOfMeasure: "kg",
});

/** Archives a parcel with what the simulator's catalogue has, and one with texts that nobody wants. */
async function archiveParcels(root: string): Promise<void> {
  const { runner, close } = await openArchive(root, undefined);
  const medium = async (name: string, description: string) => ({
    content: await readFile(join(pictures, name)),
    contentType: name.endsWith("mp4") ? "video/mp4" : "image/jpeg",
    contentId: null,
    description,
    filename: name,
  });
  const color = await medium("cube.color.jpg", "ColorImageJpeg");
  const media = [
    await medium("cube.annotated.jpg", "AnnotatedColorImageJpeg"),
    color,
    await medium("cube.mp4", "ColorVideoMp4"),
  ];
  const long = `<b>${"x".repeat(10_000)}`;
  for (const [id, reference] of [
    ["1", "ORDER-4711"],
    ["2", long],
  ] as const) {
    const references = {
      transactionReference: reference,
      customReference1: "\u202Egnp.exe",
      customReference2: long,
      customReference3: null,
      barcodeReference: "4006381333931",
    };
    const intent = intentOf(id, { origin: null, raw: "{}", measurement, references, legalForTrade: true });
    const submission = await runner.submitMedia({ ...intent, folder: [id] }, media, null);
    await submission.end();
    submission.messageSent();
  }
  const many = intentOf("3", { origin: null, raw: "{}", measurement: null });
  const submission = await runner.submitMedia(
    { ...many, folder: ["3"] },
    [
      ...Array.from({ length: 10 }, (_, index) => ({
        ...color,
        content: withComment(color.content, index),
        filename: `${index}.jpg`,
      })),
      { ...color, content: tallPicture(), contentType: "image/bmp", filename: "tall.bmp" },
    ],
    null,
  );
  await submission.end();
  submission.messageSent();
  await close();
}

/** The same JPEG in other bytes. */
function withComment(jpeg: Buffer, comment: number): Buffer {
  return Buffer.concat([jpeg.subarray(0, 2), Buffer.of(0xff, 0xfe, 0, 3, comment), jpeg.subarray(2)]);
}

/** A BMP that is twenty times as high as it is wide. */
function tallPicture(): Buffer {
  const [width, height, headBytes] = [16, 320, 54];
  const bytes = headBytes + width * height * 3;
  const content = Buffer.alloc(bytes, 0x80);
  content.fill(0, 0, headBytes);
  content.write("BM", 0, "latin1");
  content.writeUInt32LE(bytes, 2);
  content.writeUInt32LE(headBytes, 10);
  content.writeUInt32LE(40, 14);
  content.writeInt32LE(width, 18);
  content.writeInt32LE(height, 22);
  content.writeUInt16LE(1, 26);
  content.writeUInt16LE(24, 28);
  return content;
}

/** How often pictures are drawn on all pages of a PDF: one that is cut by the end of a page is drawn on two of them. */
function drawnPictures(paper: Buffer): number {
  const text = paper.toString("latin1");
  const images = new Set(
    text
      .split("endobj")
      .filter((one) => /\/Subtype\s*\/Image/.test(one))
      .map((one) => `X${/(\d+) 0 obj\b/.exec(one)?.[1]}`),
  );
  let drawn = 0;
  for (const { index, 0: head } of text.matchAll(/\/FlateDecode[^]{0,60}?>>\s*stream\r?\n/g)) {
    const end = text.indexOf("endstream", index);
    try {
      const content = inflateSync(paper.subarray(index + head.length, end)).toString("latin1");
      drawn += [...content.matchAll(/\/(X\d+) Do\b/g)].filter(([, name = ""]) => images.has(name)).length;
    } catch {
      // A picture or a font.
    }
  }
  return drawn;
}

describe("the evidence report in a browser", () => {
  let folder = "";
  const pages: string[] = [];
  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "report-")));
    const root = join(folder, "archive");
    const to = join(folder, "extracted");
    await mkdir(root);
    await mkdir(to);
    await archiveParcels(root);
    const heading = { name: "Nord", address: "Kai 4", logo: join(pictures, "cube.label.png") };
    const options = { database: databaseOf(root), by: "all", to: folder, heading, claim: "C-1" } as const;
    for (const language of ["en-US", "de", "ja"] as const) {
      const { path } = await exportPackages(root, { ...options, language });
      for (const { name, content } of await readZip(path)) {
        await mkdir(dirname(join(to, language, name)), { recursive: true });
        await writeFile(join(to, language, name), content);
        if (name.endsWith(".html")) {
          pages.push(join(to, language, name));
        }
      }
    }
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function withPage(body: (page: Page, problems: string[]) => Promise<void>): Promise<void> {
    const context = await (await sharedBrowser()).newContext({ viewport: { width: 1200, height: 900 } });
    context.setDefaultTimeout(longestWaitMs);
    try {
      const page = await context.newPage();
      const problems: string[] = [];
      page.on("pageerror", (error) => problems.push(error.message));
      page.on("console", (message) => problems.push(message.text()));
      page.on("request", (request) => {
        if (!/^(?:file|data):/.test(request.url())) {
          problems.push(request.url());
        }
      });
      await body(page, problems);
    } finally {
      await context.close();
    }
  }

  it("shows pictures and videos, loads nothing, and is readable on a desk, a phone and paper", () =>
    withPage(async (page, problems) => {
      for (const file of pages) {
        await page.setViewportSize({ width: 1200, height: 900 });
        await page.goto(pathToFileURL(file).href);
        const shown = await page.evaluate<number[]>(
          "[...document.images].map(({ naturalWidth }) => naturalWidth)",
        );
        assert.ok(shown.length >= 2 && shown.every((width) => width > 0), file);
        assert.equal(await page.evaluate("document.scripts.length"), 0);
        assert.equal(await page.evaluate('document.querySelectorAll("b").length'), 0);
        for (const { media, width } of [
          { media: "screen", width: 1200 },
          { media: "screen", width: 320 },
          // The width of Letter and A4 between their margins.
          { media: "print", width: 708 },
          { media: "print", width: 688 },
        ] as const) {
          await page.emulateMedia({ media });
          await page.setViewportSize({ width, height: 900 });
          const cut = await page.evaluate("document.documentElement.scrollWidth");
          assert.ok(Number(cut) <= width, `${file} ${media} ${width}: ${String(cut)}`);
        }
        await page.emulateMedia({ media: "screen" });
      }
      // A script from outside is what the page's policy forbids, so axe-core comes last.
      assert.deepEqual(problems, []);
    }));

  it("plays a video", () =>
    withPage(async (page, problems) => {
      await page.goto(pathToFileURL(pages[1] ?? "").href);
      await page.waitForFunction("document.querySelector('video').readyState > 0");
      assert.ok(Number(await page.evaluate("document.querySelector('video').duration")) > 0);
      assert.deepEqual(problems, []);
    }));

  it("prints as whole pages of A4 and of Letter", () =>
    withPage(async (page) => {
      await page.goto(pathToFileURL(pages[1] ?? "").href);
      for (const format of ["A4", "Letter"]) {
        const paper = (await page.pdf({ format })).toString("latin1");
        const count = paper.match(/\/Type\s*\/Page\b/g)?.length ?? 0;
        assert.ok(count >= 1 && count <= 5, `${format}: ${count} pages`);
      }
    }));

  it("prints no picture on two pages, nor the logo", () =>
    withPage(async (page) => {
      await page.goto(pathToFileURL(pages[0] ?? "").href);
      const images = await page.evaluate<number>("document.images.length");
      assert.equal(images, 2 + 2 + 11 + 1);
      for (const format of ["A4", "Letter"]) {
        assert.equal(drawnPictures(await page.pdf({ format })), images, format);
      }
    }));

  it("has nothing that axe-core finds wrong", () =>
    withPage(async (page) => {
      for (const file of pages.slice(0, 2)) {
        for (const width of [1200, 320]) {
          await page.setViewportSize({ width, height: 900 });
          await page.goto(pathToFileURL(file).href);
          assert.deepEqual(await faultsOfPage(page), [], file);
        }
      }
    }));
});
