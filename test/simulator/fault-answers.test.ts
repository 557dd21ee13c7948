import assert from "node:assert/strict";

import type { Fault, Simulator } from "../../src/simulator/index.ts";
import {
  asList,
  asObject,
  exchange,
  headerOf,
  jsonOf,
  measure,
  requestText,
  useSimulators,
} from "./support.ts";

const videoPath = "/api/v1/video/download";

function statusOf(text: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);
}

function bodyOf(bytes: Buffer): Buffer {
  return bytes.subarray(bytes.indexOf("\r\n\r\n") + 4);
}

describe("simulator: faults", () => {
  const start = useSimulators();
  const withFault = async (fault: Fault): Promise<Simulator> => {
    const sim = await start({ mode: "video-with-measurement" });
    sim.faults.add({ fault });
    return sim;
  };

  /** A simulator with a saved video, whose next download is struck. */
  const withVideo = async (fault: Fault): Promise<{ sim: Simulator; whole: Buffer }> => {
    const sim = await start({ mode: "video-only" });
    for (const action of ["start", "stop"]) {
      await fetch(`${sim.newer.origin}/api/v1/video/${action}`, { method: "POST" });
    }
    const whole = Buffer.concat([...(sim.newer.readSavedVideo() ?? [])]);
    sim.faults.add({ path: videoPath, fault });
    return { sim, whole };
  };

  describe("of the body's length", () => {
    const cases: readonly [Fault, (size: number) => number, string][] = [
      [{ kind: "cut", atByte: 0 }, () => 0, "fin"],
      [{ kind: "cut", atByte: 1 }, () => 1, "fin"],
      [{ kind: "cut" }, (size) => Math.floor(size / 2), "fin"],
      [{ kind: "cut", atByte: -1 }, (size) => size - 1, "fin"],
      [{ kind: "cut", atFraction: 0.25, end: "reset" }, (size) => Math.floor(size / 4), "reset"],
      [{ kind: "cut", atByte: 9, end: "hold" }, () => 9, "open"],
      [{ kind: "wrong-length", by: 5 }, (size) => size, "fin"],
      [{ kind: "wrong-length", by: -5, end: "hold" }, (size) => size, "open"],
      [{ kind: "no-framing" }, (size) => size, "fin"],
      [{ kind: "no-framing", atByte: -3 }, (size) => size - 3, "fin"],
    ];
    for (const [fault, expected, end] of cases) {
      it(JSON.stringify(fault), async () => {
        const { sim, whole } = await withVideo(fault);
        const got = await exchange(sim.newer.port, requestText(videoPath), end === "open" ? 150 : undefined);
        const body = bodyOf(got.bytes);
        assert.equal(got.end, end);
        assert.equal(body.length, expected(whole.length));
        assert.deepEqual(body, whole.subarray(0, body.length));
        const by = fault.kind === "wrong-length" ? fault.by : 0;
        const declared = fault.kind === "no-framing" ? undefined : String(whole.length + by);
        assert.equal(headerOf(got.text, "content-length"), declared);
        assert.equal(headerOf(got.text, "transfer-encoding"), undefined);
      });
    }

    it("cut within chunks: the last chunk never comes", async () => {
      const { sim } = await withVideo({ kind: "cut", framing: "chunked", atByte: 100 });
      const { text, end } = await exchange(sim.newer.port, requestText(videoPath));
      assert.equal(headerOf(text, "transfer-encoding"), "chunked");
      assert.match(text, /\r\n\r\n64\r\n/);
      assert.doesNotMatch(text, /0\r\n\r\n$/);
      assert.equal(end, "fin");
    });
  });

  describe("of time", () => {
    it("drip: a few bytes at a time", async () => {
      const sim = await withFault({ kind: "drip", bytes: 100, everyMs: 5 });
      const begin = Date.now();
      assert.equal((await measure(sim))["errorCode"], 0);
      assert.ok(Date.now() - begin >= 20);
    });

    it("drip: the rest without pauses, once the fault is removed", async () => {
      const sim = await start();
      const id = sim.faults.add({ times: 0, fault: { kind: "drip", everyMs: 60_000 } });
      const measured = measure(sim);
      await sim.nextEvent(() => sim.newer.actions.measures === 1);
      sim.faults.remove(id);
      assert.equal((await measured)["errorCode"], 0);
    });

    it("drip ends with a client that goes", async () => {
      const sim = await withFault({ kind: "drip", everyMs: 5 });
      const gone = new AbortController();
      const response = await fetch(`${sim.newer.origin}/api/v1/measure`, { signal: gone.signal });
      gone.abort();
      await assert.rejects(response.text());
      assert.equal((await sim.settled({ id: 1 })).outcome, "fault:drip");
    });

    it("slow-headers: the status line itself drips", async () => {
      const sim = await withFault({ kind: "slow-headers", bytes: 30, everyMs: 5 });
      const begin = Date.now();
      assert.equal((await measure(sim))["errorCode"], 0);
      assert.ok(Date.now() - begin >= 20);
    });

    it("provisional: a few ahead of the answer, or without end", async () => {
      const sim = await withFault({ kind: "provisional", count: 3, everyMs: 5 });
      const { text, end } = await exchange(sim.newer.port, requestText("/api/v1/measure"));
      assert.equal(text.split("HTTP/1.1 103 Early Hints\r\n").length, 4);
      assert.match(text, /\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
      assert.equal(end, "fin");
      sim.faults.add({ fault: { kind: "provisional", everyMs: 0 } });
      const gone = new AbortController();
      const asked = fetch(`${sim.newer.origin}/api/v1/measure`, { signal: gone.signal });
      const { id } = await sim.nextRequest();
      gone.abort();
      await assert.rejects(asked);
      assert.equal((await sim.settled({ id })).outcome, "fault:provisional");
      assert.equal(sim.newer.actions.measures, 2);
    });

    it("delay: before the answer, or before the machine acts, for its time or until the fault is removed", async () => {
      for (const before of ["answer", "action"] as const) {
        const sim = await withFault({ kind: "delay", ms: 40, before });
        await measure(sim);
        assert.equal(sim.newer.actions.measures, 1);
        for (const end of ["remove", "clear"] as const) {
          const measuredBefore: number = sim.newer.actions.measures;
          const id = sim.faults.add({ times: 0, fault: { kind: "delay", ms: 600_000, before } });
          const answered = measure(sim);
          await sim.nextRequest();
          await new Promise((resolve) => setImmediate(resolve));
          assert.equal(sim.newer.actions.measures - measuredBefore, before === "answer" ? 1 : 0);
          sim.faults[end](id);
          await answered;
          assert.equal(sim.newer.actions.measures - measuredBefore, 1);
        }
      }
    });
  });

  describe("of the answer's content", () => {
    it("body: another text, type and framing", async () => {
      const fault = { kind: "body", text: "<html>", contentType: "text/html", framing: "chunked" } as const;
      const sim = await withFault(fault);
      const response = await fetch(`${sim.newer.origin}/api/v1/measure`);
      assert.deepEqual([response.status, await response.text()], [200, "<html>"]);
      assert.equal(response.headers.get("content-type"), "text/html");
      assert.equal(response.headers.get("transfer-encoding"), "chunked");
    });

    it("body: where none is due, and none where one is due", async () => {
      const sim = await withFault({ kind: "body", base64: "e30=" });
      const started = await fetch(`${sim.newer.origin}/api/v1/video/start`, { method: "POST" });
      assert.deepEqual([started.status, await started.text()], [200, "{}"]);
      assert.equal(sim.newer.actions.starts, 1);
      sim.faults.add({ fault: { kind: "status", status: 204, acts: true } });
      const measured = await fetch(`${sim.newer.origin}/api/v1/measure`);
      assert.deepEqual([measured.status, await measured.text()], [204, ""]);
      assert.equal(sim.newer.actions.measures, 1);
    });

    it("body: a million items and huge JSON, made while they are sent", async () => {
      const sim = await withFault({ kind: "body", jsonItems: 3, item: { a: 1 } });
      const url = `${sim.newer.origin}/api/v1/measure`;
      assert.deepEqual(await jsonOf(await fetch(url)), [{ a: 1 }, { a: 1 }, { a: 1 }]);
      for (const [wanted, items] of [
        [0, 0],
        [1, 1],
        [20_000, 20_000],
      ] as const) {
        sim.faults.add({ fault: { kind: "body", jsonItems: wanted } });
        assert.equal(asList(await jsonOf(await fetch(url))).length, items);
      }
      sim.faults.add({ fault: { kind: "body", jsonBytes: 500_000 } });
      const text = await (await fetch(url)).text();
      assert.ok(text.length >= 500_000 && text.length < 501_000);
      assert.ok(asList(JSON.parse(text)).length > 1000);
      sim.faults.add({ fault: { kind: "body", jsonBytes: 10 * 2 ** 30 } });
      const huge = new AbortController();
      const response = await fetch(url, { signal: huge.signal });
      assert.ok(Number(response.headers.get("content-length")) >= 10 * 2 ** 30);
      huge.abort();
    });

    it("json-patch: fields set, added and removed, at any depth; the rest keeps its text", async () => {
      const set = {
        measurementFidelity: 0.2,
        "measuredObjects.0.errorCode": 5,
        "measuredObjects.0.length": 1.2345678,
        extra: { deep: [1] },
        "nowhere.at.all": 1,
      };
      const remove = ["objectId", "measuredObjects.0.width", "a.b"];
      const sim = await withFault({ kind: "json-patch", set, remove });
      sim.newer.setParcel({ lengthCm: 33.5, widthCm: 21, heightCm: 12.5, weightKg: 1.5 });
      const response = await fetch(`${sim.newer.origin}/api/v1/measure`);
      const text = await response.text();
      const result = asObject(JSON.parse(text));
      const [object] = asList(result["measuredObjects"]);
      assert.deepEqual([result["measurementFidelity"], result["extra"]], [0.2, { deep: [1] }]);
      assert.deepEqual([object?.["errorCode"], object?.["length"]], [5, 1.2345678]);
      assert.equal("objectId" in result || "width" in (object ?? {}), false);
      assert.match(text, /"weight":1\.50/);
      sim.faults.add({ fault: { kind: "json-patch", set: { x: 1 } } });
      assert.equal((await fetch(`${sim.newer.origin}/api/v1/video/start`, { method: "POST" })).status, 200);
    });

    it("status: Retry-After as a date", async () => {
      const sim = await withFault({ kind: "status", status: 503, retryInMs: 5000 });
      const before = Date.now();
      const date = (await fetch(`${sim.newer.origin}/api/v1/measure`)).headers.get("retry-after");
      const [at, after] = [Date.parse(date ?? ""), Date.now()];
      // The format has no fractions of a second.
      assert.ok(before + 4000 <= at && at <= after + 5000, `${date}`);
    });

    it("status: redirects, rate limits, large and HTML bodies", async () => {
      const sim = await start();
      const next = async (fault: Fault): Promise<Response> => {
        sim.faults.add({ fault });
        return fetch(`${sim.newer.origin}/api/v1/measure`, { redirect: "manual" });
      };
      const moved = await next({
        kind: "status",
        status: 307,
        headers: { Location: "http://127.0.0.1:9/x" },
      });
      assert.deepEqual([moved.status, moved.headers.get("location")], [307, "http://127.0.0.1:9/x"]);
      const limited = await next({ kind: "status", status: 429, headers: { "retry-after": "rubbish" } });
      assert.deepEqual([limited.status, limited.headers.get("retry-after")], [429, "rubbish"]);
      const html = await next({ kind: "status", status: 500, body: "<h1>", bodyBytes: 2_000_000 });
      const text = await html.text();
      assert.deepEqual([text.length, text.slice(0, 4)], [2_000_000, "<h1>"]);
      const cookies = await next({
        kind: "status",
        status: 401,
        headers: { "set-cookie": ["a=1", "b=2"] },
        body: "no",
      });
      assert.deepEqual(cookies.headers.getSetCookie(), ["a=1", "b=2"]);
      assert.equal(sim.newer.actions.measures, 0);
    });
  });

  describe("of the headers", () => {
    const download = async (
      fault: Fault,
      headers = "",
    ): Promise<{ text: string; body: Buffer; whole: Buffer; status: number }> => {
      const { sim, whole } = await withVideo(fault);
      const { text, bytes } = await exchange(
        sim.newer.port,
        requestText(videoPath, "GET", `${headers}Connection: close\r\n`),
      );
      return { text, body: bodyOf(bytes), whole, status: statusOf(text) };
    };

    it("partial: 206 to a plain GET", async () => {
      const { status, text, body, whole } = await download({ kind: "partial" });
      const half = Math.ceil(whole.length / 2);
      assert.equal(status, 206);
      assert.deepEqual(body, whole.subarray(0, half));
      assert.equal(headerOf(text, "content-range"), `bytes 0-${half - 1}/${whole.length}`);
      const tail = await download({ kind: "partial", from: 10, to: 10 ** 9 });
      assert.deepEqual(tail.body, tail.whole.subarray(10));
    });

    it("wrong-range: not what is sent", async () => {
      const shifted = await download({ kind: "wrong-range" }, "Range: bytes=100-199\r\n");
      assert.equal(headerOf(shifted.text, "content-range"), `bytes 101-200/${shifted.whole.length}`);
      assert.deepEqual(shifted.body, shifted.whole.subarray(100, 200));
      const given = await download({ kind: "wrong-range", value: "pages 1" }, "Range: bytes=100-199\r\n");
      assert.equal(headerOf(given.text, "content-range"), "pages 1");
      const plain = await download({ kind: "wrong-range", shift: 3 });
      assert.equal(
        headerOf(plain.text, "content-range"),
        `bytes 3-${plain.whole.length + 2}/${plain.whole.length}`,
      );
    });

    it("range-ignored: the whole with 200", async () => {
      const { status, body, whole } = await download({ kind: "range-ignored" }, "Range: bytes=100-199\r\n");
      assert.equal(status, 200);
      assert.deepEqual(body, whole);
    });

    it("etag: changed or absent, minding If-Range or not", async () => {
      const range = 'Range: bytes=100-\r\nIf-Range: "old"\r\n';
      const changed = await download({ kind: "etag", value: '"new"' }, range);
      assert.deepEqual([changed.status, headerOf(changed.text, "etag")], [200, '"new"']);
      const same = await download({ kind: "etag", value: '"old"' }, range);
      assert.deepEqual([same.status, same.body.length], [206, same.whole.length - 100]);
      const deaf = await download({ kind: "etag", value: '"new"', ignoreIfRange: true }, range);
      assert.deepEqual([deaf.status, headerOf(deaf.text, "etag")], [206, '"new"']);
      const absent = await download({ kind: "etag", value: null, ignoreIfRange: true }, range);
      assert.deepEqual([absent.status, headerOf(absent.text, "etag")], [206, undefined]);
      const weak = await download(
        { kind: "etag", value: 'W/"old"' },
        'Range: bytes=1-\r\nIf-Range: W/"old"\r\n',
      );
      assert.equal(weak.status, 200);
    });

    it("content-type and headers: another, none, more", async () => {
      const type = await download({ kind: "content-type", value: "text/plain" });
      assert.equal(headerOf(type.text, "content-type"), "text/plain");
      assert.equal(
        headerOf((await download({ kind: "content-type", value: null })).text, "content-type"),
        undefined,
      );
      const more = await download({ kind: "headers", set: { ETag: "rubbish", "x-more": "1" } });
      assert.deepEqual([headerOf(more.text, "etag"), headerOf(more.text, "x-more")], ["rubbish", "1"]);
      assert.deepEqual(more.body, more.whole);
    });
  });
});
