import assert from "node:assert/strict";
import type { Page } from "playwright-core";

import { openCatalogue } from "../../src/simulator/catalogue/index.ts";
import { captionedFilm, glyphs } from "../../src/simulator/film-caption.ts";
import { longestWaitMs } from "../support/browser.ts";
import { sharedBrowser } from "../support/shared-browser.ts";
import { bytesOf, cloudGet, measure, mediaOf, useSimulators, video } from "./support.ts";

const picturesInSecond = 12;
const halfPicture = 0.5 / picturesInSecond;
const width = 320;
const captionHeight = 16;

/** Some pictures of a film as the browser plays them, as RGBA. */
async function play(page: Page, film: Buffer, pictures: readonly number[]): Promise<Buffer[]> {
  const times = pictures.map((picture) => picture / picturesInSecond + halfPicture);
  const played = await page.evaluate<string[]>(`(async () => {
    const bytes = Uint8Array.fromBase64("${film.toString("base64")}");
    const video = document.createElement("video");
    document.body.replaceChildren(video);
    const isShown = (time) => new Promise((resolve, reject) => {
      const look = (_, { mediaTime }) =>
        Math.abs(mediaTime + ${halfPicture} - time) < ${halfPicture} ? resolve() : video.requestVideoFrameCallback(look);
      video.requestVideoFrameCallback(look);
      video.onerror = () => reject(new Error(video.error.message));
    });
    const isLoaded = isShown(${halfPicture});
    video.src = URL.createObjectURL(new Blob([bytes], { type: "video/mp4" }));
    await isLoaded;
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
    const context = canvas.getContext("2d", { willReadFrequently: true });
    const shown = [];
    for (const time of ${JSON.stringify(times)}) {
      const isThere = isShown(time);
      video.currentTime = time;
      await isThere;
      context.drawImage(video, 0, 0);
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
      shown.push(new Uint8Array(data.buffer).toBase64());
    }
    return shown;
  })()`);
  return played.map((picture) => Buffer.from(picture, "base64"));
}

/** What a person reads above a picture. */
function read(picture: Buffer): string {
  const digits = new Map(Object.entries(glyphs).map(([character, rows]) => [rows, character]));
  const isBright = (x: number, y: number): boolean => picture.readUInt8(4 * (y * width + x)) > 128;
  const characters = Array.from({ length: 26 }, (_, position) => {
    const rows = Array.from({ length: 7 }, (__, row) => {
      const points = Array.from({ length: 5 }, (___, column) =>
        isBright(4 + 12 * position + 2 * column, 1 + 2 * row) ? "1" : "0",
      );
      return parseInt(points.join(""), 2).toString(32);
    }).join("");
    return rows === "0000000" ? " " : (digits.get(rows) ?? `<${rows}>`);
  });
  return characters.join("");
}

/** The greatest difference between the colors of two pictures. */
function difference(one: Buffer, other: Buffer): number {
  assert.equal(one.length, other.length);
  return one.reduce((most, value, at) => Math.max(most, Math.abs(value - (other[at] ?? 0))), 0);
}

describe("simulator: the caption of a film", () => {
  const start = useSimulators();
  let page: Page;
  before(async function () {
    page = await (await sharedBrowser()).newPage();
    page.setDefaultTimeout(longestWaitMs);
    const plays = `document.createElement("video").canPlayType('video/mp4; codecs="avc1.42c00c"')`;
    if ((await page.evaluate(plays)) === "") {
      this.skip();
    }
  });
  after(() => page.context().close());

  const catalogue = openCatalogue();
  for (const parcel of catalogue.parcels) {
    it(`counts the seconds from the beginning, and leaves the ${parcel.name} below as it is`, async () => {
      const film = catalogue.read(parcel, "video");
      const pictures = [0, 3, 4, 15, 16, 29];
      // In the time zone of this computer, where a day and a year end meanwhile.
      const captioned = captionedFilm(film, new Date("2026-12-31T23:59:58.700"));
      const shown = await play(page, captioned, pictures);
      assert.deepEqual(shown.map(read), [
        "● REC  2026-12-31 23:59:58",
        "● REC  2026-12-31 23:59:58",
        "● REC  2026-12-31 23:59:59",
        "● REC  2026-12-31 23:59:59",
        "● REC  2027-01-01 00:00:00",
        "● REC  2027-01-01 00:00:01",
      ]);
      // Colors run a little across the edge: each is stored for four points.
      const edge = 4 * width * 2;
      const above = 4 * width * captionHeight;
      for (const [index, original] of (await play(page, film, pictures)).entries()) {
        const below = shown[index]?.subarray(above + edge) ?? Buffer.alloc(0);
        assert.equal(difference(below, original.subarray(edge)), 0, `picture ${pictures[index]}`);
      }
    });
  }

  it("says when the recording began, however late and often the film is fetched", async () => {
    const sim = await start({ mode: "video-with-measurement" });
    assert.equal(await video(sim, "start"), 200);
    const began = sim.newer.state.recording?.startedAt;
    assert.ok(began);
    // No later moment has the same caption.
    while (Math.floor(Date.now() / 1000) === Math.floor(began.getTime() / 1000)) {
      await new Promise(setImmediate);
    }
    await measure(sim);
    const { id = "" } = sim.cloud.transactions[0] ?? {};
    const item = (await mediaOf(sim, id)).find(({ contentType }) => contentType === "video/mp4");
    const fetched = async (range: string): Promise<Buffer> => {
      const path = `/api/transactionmedia/${id}/${String(item?.["contentId"])}`;
      return bytesOf(await cloudGet(sim, path, { range }));
    };
    const whole = await fetched("bytes=0-");
    const [first] = await play(page, whole, [0]);
    assert.ok(first);
    const local = new Date(began.getTime() - began.getTimezoneOffset() * 60_000);
    assert.equal(read(first), `● REC  ${local.toISOString().slice(0, 19).replace("T", " ")}`);
    assert.deepEqual(Buffer.concat([await fetched("bytes=0-9999"), await fetched("bytes=10000-")]), whole);
  });
});
