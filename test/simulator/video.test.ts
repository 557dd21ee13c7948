import assert from "node:assert/strict";

import type { Mode, Simulator, StartOptions } from "../../src/simulator/index.ts";
import { bytesOf, cloudGet, measure, mediaOf, useSimulators, video } from "./support.ts";

const videoOnly = { mode: "video-only" } as const;
/** Longer than any of the tests. */
const never = 60_000;
const withMeasurement = { mode: "video-with-measurement" } as const;

function getVideo(sim: Simulator, how = "download", headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${sim.newer.origin}/api/v1/video/${how}`, { headers });
}

async function typesOf(sim: Simulator, index: number): Promise<unknown[]> {
  const id = sim.cloud.transactions[index]?.id ?? "none";
  return (await mediaOf(sim, id)).map((item) => item["contentType"]);
}

describe("simulator: video", () => {
  const start = useSimulators();
  const recording = async (options: StartOptions): Promise<Simulator> => {
    const sim = await start({ ...videoOnly, ...options });
    assert.equal(await video(sim, "start", "?transactionReference=order"), 200);
    return sim;
  };
  const recorded = async (options: StartOptions): Promise<Simulator> => {
    const sim = await recording(options);
    assert.equal(await video(sim, "stop"), 200);
    return sim;
  };

  for (const mode of ["measurement-only", "legal-for-trade"] satisfies Mode[]) {
    it(`answers every video request with 401 in ${mode}`, async () => {
      const sim = await start({ mode });
      for (const action of ["start", "stop", "cancel"]) {
        assert.equal(await video(sim, action), 401);
      }
      for (const how of ["", "stream", "download"]) {
        assert.equal((await getVideo(sim, how)).status, 401);
      }
      assert.deepEqual(sim.newer.actions, { measures: 0, starts: 0, stops: 0, cancels: 0 });
    });
  }

  it("Video Only: stop saves the video and stores it with the start's references", async () => {
    const sim = await recorded({});
    assert.equal(sim.newer.state.recording, null);
    assert.equal((await getVideo(sim)).status, 200);
    assert.deepEqual(await typesOf(sim, 0), ["video/mp4"]);
    const [transaction] = sim.cloud.transactions;
    assert.deepEqual([transaction?.kind, transaction?.transactionReference], ["video", "order"]);
    const [item] = await mediaOf(sim, transaction?.id ?? "");
    const url = `/api/transactionmedia/${transaction?.id}/${String(item?.["contentId"])}`;
    const inCloud = await bytesOf(await cloudGet(sim, url));
    assert.deepEqual(inCloud, await bytesOf(await getVideo(sim)));
    assert.deepEqual(inCloud, Buffer.concat([...(sim.newer.readSavedVideo() ?? [])]));
  });

  it("is encoding for a while, then saved, then in the cloud", async () => {
    const encoding = await recorded({ encodingMs: never });
    assert.equal(encoding.newer.state.encoding, true);
    assert.equal((await getVideo(encoding)).status, 404);

    const saved = await recording({ encodingMs: 30, mediaDelayMs: never });
    const isSaved = saved.nextEvent(() => saved.newer.state.savedVideo !== null);
    await video(saved, "stop");
    await isSaved;
    assert.equal(saved.newer.state.encoding, false);
    assert.equal((await getVideo(saved)).status, 200);
    assert.equal(saved.cloud.transactions.length, 0);

    const uploaded = await recording({ encodingMs: 30, mediaDelayMs: 30 });
    const isUploaded = uploaded.nextEvent(({ type }) => type === "media");
    await video(uploaded, "stop");
    await isUploaded;
    assert.deepEqual(await typesOf(uploaded, 0), ["video/mp4"]);
  });

  it("start clears the saved video, but what goes to the cloud still goes", async () => {
    const sim = await recording({ mediaDelayMs: 30 });
    const uploaded = sim.nextEvent(({ type }) => type === "media");
    await video(sim, "stop");
    await video(sim, "start");
    assert.equal((await getVideo(sim)).status, 404);
    await uploaded;
    assert.equal(sim.cloud.transactions[0]?.transactionReference, "order");
  });

  it("shows whose it is: a second start overwrites the first one's recording", async () => {
    const sim = await start({ mode: "video-with-measurement" });
    const measured = (reference: string): Promise<Response> =>
      fetch(`${sim.newer.origin}/api/v1/measure?TransactionReference=${reference}`);
    await video(sim, "start", "?transactionReference=first");
    await video(sim, "start", "?transactionReference=second");
    sim.newer.setParcel(null);
    await measured("first");
    const saved = Buffer.from(await (await getVideo(sim)).arrayBuffer()).toString("latin1");
    assert.match(saved, /recording \S+ for second$/);
  });

  it("start during the encoding: the old video never becomes the saved one", async () => {
    const sim = await recording({ encodingMs: 30 });
    const uploaded = sim.nextEvent(({ type }) => type === "media");
    await video(sim, "stop");
    await video(sim, "start");
    await uploaded;
    assert.equal(sim.newer.state.savedVideo, null);
    assert.notEqual(sim.newer.state.recording, null);
  });

  it("cancel clears everything, at every stage", async () => {
    const started = await recording({});
    assert.equal(await video(started, "cancel"), 200);
    assert.equal(started.newer.state.recording, null);
    const encoding = await recorded({ encodingMs: never });
    await video(encoding, "cancel");
    assert.equal(encoding.newer.state.encoding, false);
    const uploading = await recorded({ mediaDelayMs: never });
    await video(uploading, "cancel");
    assert.equal((await getVideo(uploading)).status, 404);
    assert.equal(uploading.newer.state.savedVideo, null);
  });

  it("what was cancelled before its upload never reaches the cloud", async () => {
    // On a machine under load the cancel can come after the upload, which shows nothing: again with more time for it.
    for (let mediaDelayMs = 50; ; mediaDelayMs *= 5) {
      const sim = await recording({ mediaDelayMs });
      const stoppedAt = performance.now();
      await video(sim, "stop");
      await video(sim, "cancel");
      if (performance.now() - stoppedAt > mediaDelayMs) {
        continue;
      }
      await video(sim, "start", "?transactionReference=second");
      const uploaded = sim.nextEvent(({ type }) => type === "media");
      await video(sim, "stop");
      await uploaded;
      const references = sim.cloud.transactions.map(({ transactionReference }) => transactionReference);
      return assert.deepEqual(references, ["second"]);
    }
  });

  it("Video with Measurement: a measurement ends the recording and takes the video along", async () => {
    const sim = await start(withMeasurement);
    await video(sim, "start", "?transactionReference=start");
    await measure(sim, "?transactionReference=measured");
    assert.equal(sim.newer.state.recording, null);
    assert.equal((await getVideo(sim)).status, 404);
    assert.deepEqual(await typesOf(sim, 0), ["image/jpeg", "image/jpeg", "image/bmp", "video/mp4"]);
    assert.equal(sim.cloud.transactions.length, 1);
    assert.equal(sim.cloud.transactions[0]?.transactionReference, "measured");
  });

  it("Video with Measurement: references of the start are overwritten even by none", async () => {
    const sim = await start(withMeasurement);
    await video(sim, "start", "?transactionReference=start");
    await measure(sim);
    assert.equal(sim.cloud.transactions[0]?.transactionReference, null);
  });

  it("Video with Measurement: the video stays on the device while measurements fail", async () => {
    const sim = await start(withMeasurement);
    await video(sim, "start");
    sim.newer.setParcel(null);
    await measure(sim);
    const saved = await bytesOf(await getVideo(sim));
    await measure(sim);
    assert.deepEqual(await bytesOf(await getVideo(sim)), saved);
    assert.deepEqual([await typesOf(sim, 0), await typesOf(sim, 1)], [[], []]);
    sim.newer.setParcel("cube");
    await measure(sim);
    assert.equal((await getVideo(sim)).status, 404);
    assert.ok((await typesOf(sim, 2)).includes("video/mp4"));
  });

  it("Video with Measurement: a success during the encoding after a failure takes the video too", async () => {
    const sim = await start({ ...withMeasurement, encodingMs: 40 });
    await video(sim, "start");
    sim.newer.setParcel(null);
    await measure(sim);
    sim.newer.setParcel("cube");
    const uploaded = sim.nextEvent(
      (event) => event.type === "media" && event.item.contentType === "video/mp4",
    );
    await measure(sim);
    await uploaded;
    assert.ok((await typesOf(sim, 1)).includes("video/mp4"));
    assert.equal(sim.newer.state.savedVideo, null);
  });

  it("Video with Measurement: stop is refused and changes nothing", async () => {
    const sim = await start(withMeasurement);
    await video(sim, "start");
    assert.equal(await video(sim, "stop"), 401);
    assert.notEqual(sim.newer.state.recording, null);
    const other = await start({ ...withMeasurement, stopInVideoWithMeasurement: 409 });
    assert.equal(await video(other, "stop"), 409);
  });

  it("a new start replaces the video of a failed measurement", async () => {
    for (const encodingMs of [0, 60_000]) {
      const sim = await start({ ...withMeasurement, encodingMs });
      await video(sim, "start");
      sim.newer.setParcel(null);
      await measure(sim);
      await video(sim, "start");
      assert.deepEqual([sim.newer.state.savedVideo, sim.newer.state.encoding], [null, false]);
    }
  });

  it("what the API leaves open is an option: start while recording, stop and cancel while idle", async () => {
    const restart = await start(videoOnly);
    await video(restart, "start", "?transactionReference=1");
    await video(restart, "start", "?transactionReference=2");
    assert.equal(restart.newer.state.recording?.references.transactionReference, "2");
    const goOn = await start({ ...videoOnly, startWhileRecording: "continue" });
    await video(goOn, "start", "?transactionReference=1");
    assert.equal(await video(goOn, "start", "?transactionReference=2"), 200);
    assert.equal(goOn.newer.state.recording?.references.transactionReference, "1");
    const strict = await start({
      ...videoOnly,
      startWhileRecording: 409,
      stopWhileIdle: 410,
      cancelWhileIdle: 411,
    });
    assert.deepEqual([await video(strict, "stop"), await video(strict, "cancel")], [410, 411]);
    await video(strict, "start");
    assert.equal(await video(strict, "start"), 409);
    assert.equal(await video(restart, "stop"), 200);
    assert.deepEqual([await video(restart, "stop"), await video(restart, "cancel")], [200, 200]);
    assert.equal(restart.newer.actions.stops, 1);
  });

  it("scans at the device start, reset, measure and stop as the mode says", async () => {
    const sim = await start(withMeasurement);
    assert.equal(await sim.newer.scanAtDevice("VIDEO_START"), "recording-started");
    assert.equal(await sim.newer.scanAtDevice("VIDEO_RESET"), "recording-cancelled");
    assert.equal(await sim.newer.scanAtDevice("VIDEO_START"), "recording-started");
    assert.equal(await sim.newer.scanAtDevice("395212340000005323"), "measured");
    assert.deepEqual([sim.newer.state.recording, sim.newer.state.parcel?.lengthCm], [null, 20]);
    assert.equal(sim.cloud.transactions[0]?.barcodeReference, "395212340000005323");
    sim.newer.setMode("video-only");
    assert.equal(await sim.newer.scanAtDevice("42"), "nothing");
    await sim.newer.scanAtDevice("VIDEO_START");
    assert.equal(await sim.newer.scanAtDevice("42"), "recording-stopped");
    assert.equal(sim.cloud.transactions[1]?.barcodeReference, "42");
    sim.newer.setMode("measurement-only");
    assert.equal(await sim.newer.scanAtDevice("VIDEO_START"), "nothing");
    assert.equal(await sim.newer.scanAtDevice("42"), "measured");
  });

  it("download is whole with length and strong ETag, and gives parts on demand", async () => {
    const sim = await recorded({});
    const response = await getVideo(sim);
    const etag = response.headers.get("etag") ?? "";
    const whole = await bytesOf(response);
    assert.match(etag, /^"[0-9a-f]+"$/);
    assert.equal(response.headers.get("content-type"), "video/mp4");
    assert.equal(response.headers.get("content-length"), String(whole.length));
    const part = async (headers: Record<string, string>): Promise<[number, string | null, Buffer]> => {
      const answer = await getVideo(sim, "download", headers);
      return [answer.status, answer.headers.get("content-range"), await bytesOf(answer)];
    };
    const size = whole.length;
    assert.deepEqual(await part({ range: "bytes=10-19" }), [
      206,
      `bytes 10-19/${size}`,
      whole.subarray(10, 20),
    ]);
    assert.deepEqual(await part({ range: "bytes=-5" }), [
      206,
      `bytes ${size - 5}-${size - 1}/${size}`,
      whole.subarray(-5),
    ]);
    assert.deepEqual((await part({ range: "bytes=100-", "if-range": etag }))[2], whole.subarray(100));
    for (const stale of ['"other"', `W/${etag}`, new Date().toUTCString()]) {
      assert.deepEqual(await part({ range: "bytes=100-", "if-range": stale }), [200, null, whole]);
    }
    assert.deepEqual(await part({ range: "bytes=5-4" }), [200, null, whole]);
    const beyond = await getVideo(sim, "download", { range: `bytes=${size}-` });
    assert.deepEqual([beyond.status, beyond.headers.get("content-range")], [416, `bytes */${size}`]);
    assert.equal((await part({ range: "bytes=-0" }))[0], 416);
  });

  it("stream answers 200, or 206 with the whole video where told to", async () => {
    const plain = await recorded({});
    assert.equal((await getVideo(plain, "stream")).status, 200);
    assert.equal((await getVideo(plain, "")).status, 200);
    const partial = await recorded({ streamAnswers206: true });
    const response = await getVideo(partial, "stream");
    const { length } = await bytesOf(response);
    assert.equal(response.status, 206);
    assert.equal(response.headers.get("content-range"), `bytes 0-${length - 1}/${length}`);
  });

  it("two recordings are never the same file; a change of mode keeps the saved one", async () => {
    const sim = await recorded({});
    const first = (await getVideo(sim)).headers.get("etag");
    await video(sim, "start");
    await video(sim, "stop");
    assert.notEqual((await getVideo(sim)).headers.get("etag"), first);
    await video(sim, "start");
    await video(sim, "stop");
    sim.newer.setMode("measurement-only");
    assert.equal((await getVideo(sim)).status, 401);
    sim.newer.setMode("video-only");
    assert.equal((await getVideo(sim)).status, 200);
  });

  it("each measurement becomes a transaction with its images after the delay", async () => {
    const early = await start({ mode: "measurement-only", mediaDelayMs: never });
    await measure(early, "?transactionReference=x");
    assert.deepEqual(await typesOf(early, 0), []);

    const late = await start({ mode: "measurement-only", mediaDelayMs: 30 });
    const uploaded = late.nextEvent(
      (event) => event.type === "media" && event.item.contentType === "image/bmp",
    );
    await measure(late, "?transactionReference=x");
    await uploaded;
    assert.deepEqual(await typesOf(late, 0), ["image/jpeg", "image/jpeg", "image/bmp"]);
  });
});
