import assert from "node:assert/strict";
import { once } from "node:events";
import { get } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { openCatalogue } from "../../src/simulator/catalogue/index.ts";
import { videoContent } from "../../src/simulator/responses.ts";
import { bytesOf, useSimulators, video } from "./support.ts";

interface Box {
  readonly type: string;
  readonly size: number;
}

setFlagsFromString("--expose-gc");
const collect: unknown = runInNewContext("gc");

/** What is in use, without what has been let go: a busy computer collects that late. */
function usedBytes(): number {
  assert.ok(typeof collect === "function");
  // The first time finds what is let go, and the second time waits until it is gone.
  Reflect.apply(collect, undefined, []);
  Reflect.apply(collect, undefined, []);
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe("simulator: generated video", () => {
  const start = useSimulators();
  const catalogue = openCatalogue();
  const mp4 = (): Buffer => {
    const [parcel] = catalogue.parcels;
    assert.ok(parcel);
    return catalogue.read(parcel, "video");
  };

  function boxes(content: ReturnType<typeof videoContent>): Box[] {
    const found: Box[] = [];
    for (let at = 0; at < content.size;) {
      const head = Buffer.concat([...content.read(at, Math.min(at + 16, content.size))]);
      const short = head.readUInt32BE(0);
      const size = short === 1 ? Number(head.readBigUInt64BE(8)) : short;
      found.push({ type: head.toString("latin1", 4, 8), size });
      at += size;
    }
    return found;
  }

  for (const size of [0, 2 ** 20, 2 ** 32 + 12_345, 12 * 2 ** 30]) {
    it(`is a whole MP4 of ${size === 0 ? "its own length" : `${size} bytes`}`, () => {
      const content = videoContent(mp4, "id-1", size === 0 ? undefined : size);
      if (size > 0) {
        assert.equal(content.size, size);
      }
      const all = boxes(content);
      assert.equal(all[0]?.type, "ftyp");
      assert.equal(all.at(-1)?.type, "free");
      assert.equal(
        all.reduce((sum, box) => sum + box.size, 0),
        content.size,
      );
      assert.deepEqual(Buffer.concat([...content.read(0, mp4().length)]), mp4());
    });
  }

  it("gives the same bytes for a part as within the whole", () => {
    const content = videoContent(mp4, "id-1", 2 ** 20);
    const whole = Buffer.concat([...content.read(0, content.size)]);
    const edge = mp4().length;
    for (const [from, to] of [
      [0, 10],
      [edge - 3, edge + 30],
      [edge + 100, 2 ** 20],
      [5, 5],
    ] satisfies [number, number][]) {
      assert.deepEqual(Buffer.concat([...content.read(from, to)]), whole.subarray(from, to));
    }
  });

  it("has one ETag for one recording and length", () => {
    const etag = (id: string, size: number): string => videoContent(mp4, id, size).etag;
    assert.equal(etag("a", 2 ** 20), etag("a", 2 ** 20));
    assert.notEqual(etag("a", 2 ** 20), etag("b", 2 ** 20));
    assert.notEqual(etag("a", 2 ** 20), etag("a", 2 ** 21));
  });

  it("is sent as the client reads it, without piling up in memory", async () => {
    const videoBytes = 512 * 2 ** 20;
    const sim = await start({ mode: "video-only", videoBytes });
    await video(sim, "start");
    await video(sim, "stop");
    const before = usedBytes();
    let most = before;
    let lookAt = 0;
    const request = get(`${sim.newer.origin}/api/v1/video/download`, { agent: false });
    const [response] = await once(request, "response");
    let bytes = 0;
    for await (const chunk of response) {
      bytes += chunk.length;
      if (bytes >= lookAt) {
        most = Math.max(most, usedBytes());
        lookAt += videoBytes / 16;
      }
    }
    assert.equal(bytes, videoBytes);
    assert.ok(most - before < videoBytes / 8, `${most - before} bytes more`);
  });

  it("serves the end of a huge one at once", async () => {
    const sim = await start({ mode: "video-only", videoBytes: 64 * 2 ** 30 });
    await video(sim, "start");
    await video(sim, "stop");
    const url = `${sim.newer.origin}/api/v1/video/download`;
    const response = await fetch(url, { headers: { range: "bytes=-1048576" } });
    assert.equal((await bytesOf(response)).length, 1_048_576);
    assert.equal(sim.newer.state.savedVideo?.bytes, 64 * 2 ** 30);
  });
});
