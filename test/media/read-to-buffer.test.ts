import assert from "node:assert/strict";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import { readToBuffer } from "../../src/media/read-to-buffer.ts";
import { bmp, jpeg, png } from "./samples.ts";
import { blocks, facts, failing, rejectsWith, sending } from "./support.ts";

const megabyte = 1024 * 1024;
const lost = new DimensionerError("connectionLost", { surface: "cloud", operation: "x" }, { host: "h" });
const options = { ...facts, suggestedBase: "annotated/42" };

describe("reading a download into a buffer", () => {
  it("gives bytes, type and a safe name with the extension of the content", async () => {
    const media = await readToBuffer(
      sending([png.subarray(0, 3), png.subarray(3)], { contentType: "image/jpeg" }),
      options,
    );
    assert.ok(media.payload.equals(png));
    assert.deepEqual([media.contentType, media.filename], ["image/png", "annotated_42.png"]);
    const unsaid = await readToBuffer(sending([bmp]), options);
    assert.deepEqual([unsaid.contentType, unsaid.filename], ["image/bmp", "annotated_42.bmp"]);
    const unknown = await readToBuffer(sending([Buffer.from("?")]), options);
    assert.deepEqual(
      [unknown.contentType, unknown.filename],
      ["application/octet-stream", "annotated_42.bin"],
    );
  });

  it("puts small and large chunks together in order", async () => {
    const whole = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 31) >> 3));
    const sizes = [1, 1, 5000, 3, 100_000, 4095, 4096, 2, 0, 180_000, 20_000];
    let at = 0;
    const chunks = sizes.map((size) => whole.subarray(at, (at += size)));
    const { payload } = await readToBuffer(sending(chunks), options);
    assert.ok(payload.equals(whole));
  });

  it("starts anew with the transfer", async () => {
    const download = failing([Buffer.from("<html>"), Buffer.alloc(10_000)], lost, sending([jpeg]));
    const { payload, filename } = await readToBuffer(download, options);
    assert.ok(payload.equals(jpeg));
    assert.equal(filename, "annotated_42.jpg");
  });

  it("refuses what is empty or a web page", async () => {
    await rejectsWith(readToBuffer(sending([]), options), "ERR_BAD_RESPONSE", "responseEmpty");
    const page = readToBuffer(sending([Buffer.from("<html>")]), options);
    const error = await rejectsWith(page, "ERR_BAD_RESPONSE", "responseHtml");
    assert.equal(error.details.outcome, null);
  });

  it("ends the download at the limit, with the limit in the sentence", async () => {
    let sent = 0;
    const endless = (function* () {
      for (;;) {
        sent += 65_536;
        yield Buffer.alloc(65_536);
      }
    })();
    const work = readToBuffer(sending(endless), { ...options, limitBytes: 2 * megabyte });
    const error = await rejectsWith(work, "ERR_TOO_LARGE", "tooLarge");
    assert.match(error.message, /larger than 2 MB/);
    assert.ok(sent <= 2 * megabyte + 65_536, `${sent}`);
    const exact = await readToBuffer(sending(blocks(1000)), { ...options, limitBytes: 1000 });
    assert.equal(exact.payload.length, 1000);
    const odd = readToBuffer(sending(blocks(1001)), { ...options, limitBytes: 1000 });
    assert.match((await rejectsWith(odd, "ERR_TOO_LARGE", "tooLarge")).message, /1000 bytes/);
  });

  it("has a limit of 256 MB where none is given", async () => {
    const work = readToBuffer(sending(blocks(256 * megabyte + 1)), options);
    assert.match((await rejectsWith(work, "ERR_TOO_LARGE", "tooLarge")).message, /256 MB/);
  });

  it("refuses what is announced as too large before it reads any of it", async () => {
    let read = 0;
    const announced = sending(
      (function* () {
        read += 1;
        yield Buffer.alloc(31);
      })(),
      { contentLength: 31 },
    );
    await rejectsWith(readToBuffer(announced, { ...options, limitBytes: 30 }), "ERR_TOO_LARGE", "tooLarge");
    assert.equal(read, 0);
  });

  it("hands on the transport's error untouched", async () => {
    const failed = failing([jpeg], lost, () => Promise.reject(lost));
    for (const start of [failed, () => Promise.reject(lost)]) {
      await assert.rejects(readToBuffer(start, options), (error) => error === lost);
    }
  });

  it("gives nothing after an abort", async () => {
    const controller = new AbortController();
    const aborted = (function* () {
      yield jpeg;
      controller.abort();
    })();
    const work = readToBuffer(sending(aborted), { ...options, signal: controller.signal });
    await rejectsWith(work, "ERR_CANCELLED", "cancelledClose");
  });
});
