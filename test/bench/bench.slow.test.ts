import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOptions } from "../../bench/options.ts";
import { measureCalls } from "../../bench/parts/calls.ts";
import { measureDownloads } from "../../bench/parts/downloads.ts";
import { measureJob } from "../../bench/parts/job.ts";
import { measureVerify } from "../../bench/parts/verify.ts";
import { measureYears } from "../../bench/parts/years.ts";
import { drawChart } from "../../bench/report/chart.ts";
import { writeReport } from "../../bench/report/report.ts";
import { table } from "../../bench/report/table.ts";
import { targets } from "../../bench/report/targets.ts";
import { merge, readResults, type Results } from "../../bench/results.ts";
import { findRuntimes, repository } from "../../bench/runtimes.ts";

const silent = (): void => undefined;
const machine = { cpu: "a processor", cores: 2, memoryGb: 8, os: "an OS", versions: { curl: "1.0" } };

describe("bench", () => {
  const [runtime] = findRuntimes();
  assert.ok(runtime !== undefined);

  it("measures a call by each contender in a real Node-RED, and stops all that it started", async () => {
    const rows = await measureCalls(runtime, { inFlight: [2], rounds: 1, windowMs: 50 }, silent);
    assert.deepEqual(
      rows.map(({ call, contender }) => `${call} ${contender}`),
      [
        ...["ours", "core", "undici"].map((one) => `media-list ${one}`),
        ...["ours", "stored", "core", "undici"].map((one) => `measure ${one}`),
      ],
    );
    for (const row of rows) {
      assert.ok(
        row.callsPerSecond > 0 && row.cpuUsPerCall > 0 && row.p99Ms >= row.p50Ms,
        JSON.stringify(row),
      );
    }
  });

  it("verifies packages in turn with sha256sum, and leaves no file", async () => {
    const folder = await mkdtemp(join(tmpdir(), "bench-test-"));
    try {
      const sizes = { packages: 2, videoBytes: 100_000, pictureBytes: 10_000, rounds: 1, folder };
      const [row] = await measureVerify(sizes, silent);
      assert.equal(row?.bytes, 2 * 140_000);
      assert.ok(row.bytesPerSecond > 0 && row.coresUsed > 0, JSON.stringify(row));
      assert.deepEqual(await readdir(folder), []);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("measures a job in turn with a bare script, and an archive of several sizes, and leaves no file", async () => {
    const folder = await mkdtemp(join(tmpdir(), "bench-test-"));
    try {
      const jobs = await measureJob({ jobs: 3, rounds: 1, folder }, silent);
      assert.deepEqual(
        jobs.map(({ atOnce, archive, bare }) => [atOnce, archive.cpuMs > 0, bare.cpuMs > 0]),
        [
          [1, true, true],
          [16, true, true],
        ],
      );
      const years = await measureYears({ packages: [8, 16], more: 4, rounds: 1, folder }, silent);
      assert.deepEqual(
        years.map(({ packages }) => packages),
        [8, 16],
      );
      for (const row of years) {
        assert.ok(
          Object.values(row).every((value) => value > 0),
          JSON.stringify(row),
        );
      }
      assert.deepEqual(await readdir(folder), []);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("measures a download by each contender that is there, and leaves no file", async () => {
    const folder = await mkdtemp(join(tmpdir(), "bench-test-"));
    try {
      const sizes = [{ bytes: 2 ** 20, atOnce: 2, rounds: 1 }];
      const rows = await measureDownloads([runtime], { folder, sizes }, silent);
      const own = rows.filter((row) => row.runtime !== null);
      assert.equal(own.length, 2);
      for (const row of own) {
        assert.ok(
          row.problem === null && row.seconds !== null && row.memoryBytes !== null,
          JSON.stringify(row),
        );
      }
      for (const row of rows.filter(({ problem }) => problem !== null)) {
        assert.match(row.problem ?? "", /is not installed$/);
      }
      assert.deepEqual(await readdir(folder), []);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe("the report of the bench", () => {
  it("is written from bench/results.json, and so is the chart", async () => {
    const results = await readResults();
    assert.ok(results !== null);
    const docs = (name: string) => readFile(join(repository, "docs", name), "utf8");
    assert.equal(await docs("benchmarks.md"), writeReport(results));
    assert.equal(await docs("benchmarks.svg"), drawChart(results));
  });

  it("adds to what the same machine measured before, and forgets another machine's", () => {
    const scan = { on: "2026-01-01", rows: [] };
    const load = { on: "2026-01-02", rows: [] };
    const before: Results = { machine, parts: { scan } };
    assert.deepEqual(merge(before, { machine, parts: { load } }).parts, { scan, load });
    assert.deepEqual(merge(before, { machine: { ...machine, cores: 4 }, parts: { load } }).parts, { load });
    assert.deepEqual(merge(null, { machine, parts: { load } }).parts, { load });
  });

  it("says of each target what was measured and whether that is enough", () => {
    const row = { runtime: "R", problem: null, nodeTypes: 12, installedBytes: 15.5e6 };
    const rows = [{ ...row, package: "@dimflow/node-red-dimensioner 1.0.0", loadMs: 99 }];
    const found = targets({ machine, parts: { load: { on: "2026-01-01", rows } } });
    assert.deepEqual(
      found.map(({ got, isReached }) => [got, isReached]),
      [
        ["99 ms", true],
        ["15.5 MB", false],
      ],
    );
  });

  it("lines its tables up", () => {
    assert.equal(
      table(
        ["a", "figure"],
        [
          ["text", "1"],
          ["b", null],
        ],
      ),
      "| a    | figure |\n| ---- | -----: |\n| text |      1 |\n| b    |      – |",
    );
  });
});

describe("the options of the bench", () => {
  it("name parts, all of them when none is named", () => {
    assert.deepEqual(readOptions(["--only", "calls, load"]).only, ["calls", "load"]);
    assert.deepEqual(readOptions([]).only, readOptions(["--only", readOptions([]).only.join(",")]).only);
    assert.ok(readOptions([]).only.includes("together"));
  });

  it("refuse what there is not", () => {
    assert.throws(() => readOptions(["--only", "speed"]), /no part “speed”/);
    assert.throws(() => readOptions(["--fast"]), /--fast/);
  });
});
