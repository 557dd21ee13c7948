import assert from "node:assert/strict";
import { withPackages } from "../../src/evidence/packages.ts";
import { exportPackages } from "../../src/evidence/export/export-packages.ts";
import { timesInDoubt } from "../../src/vault/packages/package-times.ts";
import { withFolder } from "../media/support.ts";
import { fillArchive, verify } from "./packages.ts";
import { bundleVerb, runChild } from "./processes.ts";
import { databaseOf } from "./store.ts";

type Dated = Parameters<typeof timesInDoubt>[0];

const right: Dated["times"] = {
  deviceLocal: "2026-11-28T11:00:00+01:00",
  deviceUtc: "2026-11-28T10:00:00Z",
  accepted: "2026-11-28T10:00:05.000Z",
  archived: "2026-11-28T10:00:09.000Z",
};
const ownStart = {
  recording: "own",
  by: null,
  transactionReference: "ORDER-1",
  at: "2026-11-28T09:59:00.000Z",
} as const;

describe("the times of a package", () => {
  const pairs = (times: Partial<Dated["times"]>, more: Partial<Dated> = {}) =>
    timesInDoubt({ times: { ...right, ...times }, ...more }).map(({ first, second }) => `${first} ${second}`);

  it("fit together in spite of time zones, of seconds, and of a device that has no clock", () => {
    assert.deepEqual(pairs({}), []);
    assert.deepEqual(pairs({}, { recording: ownStart }), []);
    assert.deepEqual(pairs({ deviceLocal: null, deviceUtc: null }), []);
    assert.deepEqual(pairs({ deviceLocal: "2026-11-28T23:00:00" }), []);
    assert.deepEqual(pairs({ deviceUtc: "2026-11-28T10:00:50Z", deviceLocal: null }), []);
    assert.deepEqual(pairs({ deviceUtc: "no time", deviceLocal: "" }), []);
    assert.deepEqual(
      pairs({ deviceUtc: "2026-09-01T10:00:00Z", deviceLocal: null }),
      [],
      "it was waited for",
    );
  });

  for (const [what, expected, times, more] of [
    [
      "received a year after it was archived",
      ["measured archived", "accepted archived"],
      { archived: "2025-11-28T10:00:09.000Z" },
    ],
    [
      "received years before it was archived",
      ["accepted archived", "measured accepted"],
      { accepted: "2020-01-01T00:00:00.000Z" },
    ],
    [
      "measured after it was archived",
      ["measured archived"],
      { deviceUtc: "2027-11-28T10:00:00Z", deviceLocal: null },
    ],
    [
      "measured two minutes after it was archived",
      ["measured archived"],
      { deviceUtc: "2026-11-28T10:02:09Z", deviceLocal: null },
    ],
    [
      "measured a year before",
      ["measured archived"],
      { deviceUtc: "2025-11-28T10:00:00Z", deviceLocal: null },
    ],
    [
      "measured in the year 1",
      ["measured archived"],
      { deviceUtc: "0001-01-01T00:00:00Z", deviceLocal: null },
    ],
    ["measured in 1970", ["measured archived"], { deviceUtc: "1970-01-01T00:00:00Z", deviceLocal: null }],
    ["measured in 2038", ["measured archived"], { deviceUtc: "2038-01-19T03:14:07Z", deviceLocal: null }],
    ["measured in 9999", ["measured archived"], { deviceUtc: "9999-12-31T23:59:59Z", deviceLocal: null }],
    ["measured at two times", ["measuredLocal measured"], { deviceLocal: "2026-11-28T12:00:00+01:00" }],
    ["measured on two days", ["measuredLocal measured"], { deviceLocal: "2026-11-30T11:00:00" }],
    [
      "archived after it was to be kept",
      ["archived retained"],
      { retainedUntil: "2026-11-01T00:00:00.000Z" },
    ],
    [
      "recorded after it was measured",
      ["recorded measured"],
      { deviceUtc: "2026-11-28T09:50:00Z", deviceLocal: null },
      { recording: ownStart },
    ],
    [
      "recorded after it was archived",
      ["recorded archived"],
      {},
      { recording: { ...ownStart, at: "2026-12-01T00:00:00.000Z" } },
    ],
  ] as const satisfies readonly (readonly [
    string,
    readonly string[],
    Partial<Dated["times"]>,
    Partial<Dated>?,
  ])[]) {
    it(`do not fit together if it was ${what}`, () => {
      assert.deepEqual(pairs(times, more), expected);
    });
  }

  it("are noted where they do not fit together, and the package is as it was archived nevertheless", () =>
    withFolder(async (root) => {
      const ahead = new Date(Date.now() + 2 * 365 * 86_400_000).toISOString();
      await fillArchive(root, ["m0", "m1"], (id) => ({ deviceUtcTime: id === "m0" ? ahead : null }));
      const { report } = await verify(root);
      const notes = report.notes.filter(({ kind }) => kind === "times");
      assert.deepEqual(
        notes.map(({ path, times }) => [path, times?.map(({ firstAt }) => firstAt)]),
        [["2026-11-02/ORDER-1-m0", [ahead]]],
      );
      assert.equal(report.verdict, "ok");

      const script = await bundleVerb("verify");
      const told = await runChild(script, [root, "--database", databaseOf(root)]);
      assert.equal(told.code, 0, told.stderr);
      assert.match(
        told.stdout,
        /ORDER-1-m0: note: its times do not fit together.*measured by the device's clock 20/,
      );
      const json = await runChild(script, [root, "--database", databaseOf(root), "--json"]);
      assert.match(json.stdout, /"kind":\s*"times"/);

      const place = { folder: root, database: databaseOf(root), operation: "export" };
      const { output, verification } = await withPackages(
        place,
        { by: "all", value: undefined, limit: 9 },
        (vault, packages) =>
          exportPackages(vault, packages, {
            language: "en-US",
            target: { limitBytes: 1e8 },
            signal: undefined,
            onProgress: () => undefined,
          }),
      );
      assert.equal(verification.verdict, "ok");
      assert.deepEqual(
        verification.notes.map(({ kind }) => kind),
        ["times"],
      );
      assert.ok("content" in output);
      const [, banner] =
        /Its times do not fit together.*?<li>(.*?)<\/li>/s.exec(
          Buffer.from(output.content.buffer).toString(),
        ) ?? [];
      assert.match(banner ?? "", /^Measured \(the device&#39;s clock\): 20\d\d-.*; Archived /);
    }));
});
