import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ScanSources } from "../../src/runtime/scan/scan-sources.ts";

/** What the scans of a source need of the message that brings them. */
type Given = Parameters<ScanSources["collect"]>[2];

describe("scans that wait until those before them were sent", () => {
  const jobs: Given[] = [];
  const job = (): Given => {
    const { signal } = new AbortController();
    const given: Given = { signal, waitSignal: signal, status: { say: () => ({}) } };
    jobs.push(given);
    return given;
  };
  /** 5,000 scans with their numbers. */
  const text = (chunk: number): string =>
    Array.from({ length: 5_000 }, (_, index) => `${chunk}-${index}\r`).join("");

  for (const how of ["divided", "whole"] as const) {
    it(`are limited, and the oldest of them are dropped and counted: ${how}`, async () => {
      const sources = new ScanSources(1_000);
      const take = (chunk: number) =>
        how === "divided"
          ? sources.collect("scanner", text(chunk), job())
          : sources.pass(
              "scanner",
              text(chunk)
                .split("\r")
                .slice(0, -1)
                .map((body) => ({ raw: `${body}\r`, body })),
              job(),
            );
      jobs.length = 0;
      const chunks = 100;
      const taken = Array.from({ length: chunks }, (_, chunk) => take(chunk));
      const received: string[] = [];
      for (const [index, frames] of taken.entries()) {
        received.push(...(await frames).map(({ body }) => body));
        jobs[index]?.onSent?.();
        await nextTurn();
      }
      // As many as may wait, the newest.
      assert.deepEqual(
        [received.length, received[0], received.at(-1)],
        [20_000, `${chunks - 4}-0`, `${chunks - 1}-4999`],
      );
      assert.equal(sources.dropped, chunks * 5_000 - received.length);
    });
  }

  it("are dropped in the order of their arrival, where a scan goes on in the next message", async () => {
    const sources = new ScanSources(60_000);
    jobs.length = 0;
    const taken = [0, 1, 2, 3, 4].map((chunk) => sources.collect("scanner", `${text(chunk)}en`, job()));
    taken.push(sources.collect("scanner", "d\r", job()));
    const received: string[] = [];
    for (const [index, frames] of taken.entries()) {
      received.push(...(await frames).map(({ body }) => body));
      jobs[index]?.onSent?.();
      await nextTurn();
    }
    assert.deepEqual([received.length, received.at(-1)], [20_000, "end"]);
  });

  it("of a usual scanner are all sent, also many at once from its memory", async () => {
    const sources = new ScanSources(1_000);
    jobs.length = 0;
    const taken = [0, 1, 2].map((chunk) => sources.collect("scanner", text(chunk), job()));
    const counts: number[] = [];
    for (const [index, frames] of taken.entries()) {
      counts.push((await frames).length);
      jobs[index]?.onSent?.();
    }
    assert.deepEqual([counts, sources.dropped], [[5_000, 5_000, 5_000], 0]);
  });

  it("that are too long together are limited as well", async () => {
    const sources = new ScanSources(1_000);
    jobs.length = 0;
    const long = `${"x".repeat(8_000)}\r`.repeat(100);
    const taken = Array.from({ length: 5 }, () => sources.collect("scanner", long, job()));
    const received: number[] = [];
    for (const [index, frames] of taken.entries()) {
      received.push((await frames).length);
      jobs[index]?.onSent?.();
      await nextTurn();
    }
    assert.ok(received.reduce((sum, count) => sum + count, 0) <= 100 + 250, received.join());
    assert.ok(sources.dropped >= 150);
  });
});
