import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mock } from "node:test";
import type { BillableWeight, MeasureResult } from "../../src/model/shapes.ts";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { presetNames, tableDate } from "../../src/billing/tariffs/presets.ts";
import { properties as table } from "../../nodes/billable-weight/billable-weight.shared.ts";
import { recordOf, resultOf } from "../billing/support.ts";
import { TestFlow, type Message } from "../support/flow.ts";

const legal = { more: { legalForTrade: true } } as const;

describe("dimensioner-billable-weight", () => {
  let flow: TestFlow;
  const start = async (properties: object = {}): Promise<void> => {
    flow = await TestFlow.start([
      { id: "node", z: "tab", type: "dimensioner-billable-weight", ...properties },
    ]);
  };
  afterEach(() => flow.stop());

  const bill = async (payload: unknown, more: object = {}) => {
    const { error, sent } = await flow.run("node", { payload, ...more });
    const msg: Message = sent[0]?.msg ?? {};
    return { error, msg, billable: msg["billable"] as BillableWeight | undefined };
  };
  /** The explanation, which holds all figures. */
  const explained = async (payload: unknown, more: object = {}) => {
    const { error, billable } = await bill(payload, more);
    assert.equal(error, undefined);
    return billable?.explanation;
  };

  it("offers the carriers of the table", () => {
    assert.deepEqual(table.preset.of, [...presetNames, "file", "own", "msg"]);
    return start();
  });

  it("puts the billable weight on the message, shows it, and leaves everything else as it is", async () => {
    await start({ preset: "ups" });
    const result = resultOf([11.1, 8.5, 6.2], legal);
    const { msg, billable } = await bill(result, { topic: "dock 4", order: { lines: 2 } });
    assert.deepEqual([billable?.weight, billable?.unit, billable?.basis], [6, "lb", "dimensional"]);
    assert.equal(billable?.explanation, "12 × 9 × 7 in = 756 in³, ÷ 139 = 5.44, rounded up to 6 lb");
    assert.deepEqual(msg["payload"], result);
    assert.deepEqual([msg["topic"], msg["order"]], ["dock 4", { lines: 2 }]);
    assert.deepEqual(flow.lastStatus("node"), {
      nodeId: "node",
      fill: "green",
      shape: "dot",
      text: "6 lb (dimensional)",
    });
    await bill(resultOf([1, 1, 1], { weight: 2.5 }));
    assert.equal(flow.lastStatus("node")?.text, "3 lb (actual)");
  });

  describe("where the clocks of the device and of this computer are apart", () => {
    const dayMs = 86_400_000;
    const measuredOn = (time: string) =>
      resultOf([18.4, 18.4, 18.4], { more: { dateTimeLocal: time, dateTimeUtc: null } });
    const at = async (today: string, act: () => Promise<void>): Promise<void> => {
      mock.timers.enable({ apis: ["Date"], now: Date.parse(`${today}T12:00:00Z`) });
      try {
        await act();
      } finally {
        mock.timers.reset();
      }
    };
    const asked = (day: string) => ({ measuredBy: { sentAt: `${day}T12:00:00.000Z` } });

    it("uses the rule of the later day for what was measured just now, and says what the other one would bill", async () => {
      await start({ preset: "usps" });
      await at("2026-11-28", async () => {
        const { billable } = await bill(measuredOn("2025-11-28T12:00:00"), asked("2026-11-28"));
        assert.deepEqual([billable?.ruleId, billable?.weight], ["usps-2026", 50]);
        assert.match(
          billable?.note ?? "",
          /^The device's clock says that this was measured on 2025-11-28, .* 2026-11-28\. .* later day\. With the rule of 2025-11-28, 36 lb would be billed\. Check both clocks\.$/,
        );
        assert.deepEqual(
          [flow.lastStatus("node")?.fill, flow.lastStatus("node")?.text],
          ["yellow", "50 lb, clocks differ"],
        );
      });
      // This computer is behind, such as a Raspberry Pi after a power cut.
      await at("2025-10-01", async () => {
        const { billable } = await bill(measuredOn("2026-11-28T12:00:00"), asked("2025-10-01"));
        assert.deepEqual([billable?.ruleId, billable?.weight], ["usps-2026", 50]);
        assert.match(billable?.note ?? "", /later day/);
      });
    });

    it("says that they are nearly two days apart, though the days follow each other", async () => {
      await start({ preset: "usps" });
      await at("2026-11-28", async () => {
        const more = { dateTimeLocal: "2026-07-11T00:30:00Z", dateTimeUtc: "2026-07-11T00:30:00Z" };
        const measuredBy = { sentAt: "2026-07-12T23:30:00.000Z" };
        const { billable } = await bill(resultOf([18.4, 18.4, 18.4], { more }), { measuredBy });
        assert.equal(billable?.ruleId, "usps-2026");
        assert.match(
          billable?.note ?? "",
          /measured on 2026-07-11, .* 2026-07-12\. .* 36 lb would be billed/,
        );
      });
    });

    it("takes the one of the device's two times that was set, and none that no calendar has", async () => {
      await start({ preset: "usps" });
      await at("2026-11-28", async () => {
        for (const dateTimeLocal of ["0001-01-01T00:00:00", "2026-13-45T10:00:00"]) {
          const more = { dateTimeLocal, dateTimeUtc: "2025-11-28T12:00:00Z" };
          const { billable } = await bill(resultOf([18.4, 18.4, 18.4], { more }));
          assert.equal(billable?.ruleId, "usps-2019", dateTimeLocal);
        }
        const more = { dateTimeLocal: "2027-99-99T10:00:00", dateTimeUtc: null };
        assert.equal((await bill(resultOf([18.4, 18.4, 18.4], { more }))).billable?.note, null);
      });
    });

    it("takes the day here for a time in UTC alone: the rule changes at midnight where the parcel is", async () => {
      const before = process.env["TZ"];
      process.env["TZ"] = "America/New_York";
      try {
        await start({ preset: "usps" });
        for (const [dateTimeUtc, rule] of [
          ["2026-07-12T02:00:00Z", "usps-2019"],
          ["2026-07-12T02:00:00", "usps-2019"],
          ["2026-07-12T04:00:00Z", "usps-2026"],
        ] as const) {
          const more = { dateTimeLocal: null, dateTimeUtc };
          const { billable } = await bill(resultOf([18.4, 18.4, 18.4], { more }));
          assert.equal(billable?.ruleId, rule, dateTimeUtc);
        }
      } finally {
        if (before === undefined) {
          delete process.env["TZ"];
        } else {
          process.env["TZ"] = before;
        }
      }
    });

    it("uses the rule of the measurement for what may be an older one, and says so", async () => {
      await start({ preset: "usps" });
      await at("2026-11-28", async () => {
        const { billable } = await bill(measuredOn("2025-11-28T12:00:00"));
        assert.equal(billable?.ruleId, "usps-2019");
        assert.match(
          billable?.note ?? "",
          /The rule is that of the measurement\. With the rule of 2026-11-28, 50 lb would be billed\./,
        );
      });
    });

    it("takes a clock that was never set for none, and blames no rule for it", async () => {
      await start({ preset: "usps" });
      await at("2026-11-28", async () => {
        for (const time of ["0001-01-01T00:00:00", "1970-01-01T00:00:03Z"]) {
          const { error, billable } = await bill(measuredOn(time), asked("2026-11-28"));
          assert.deepEqual([error, billable?.ruleId], [undefined, "usps-2026"]);
          assert.match(
            billable?.note ?? "",
            /^The device's clock is not set \(\d{4}-01-01\): the rule is that of 2026-11-28/,
          );
        }
      });
    });

    it("says nothing of clocks that only differ by their time zones", async () => {
      await start({ preset: "usps" });
      await at("2026-11-28", async () => {
        for (const offset of [-dayMs, 0, dayMs]) {
          const day = new Date(Date.now() + offset).toISOString().slice(0, 19);
          const { billable } = await bill(measuredOn(day), asked("2026-11-28"));
          assert.equal(billable?.note, null, day);
        }
      });
    });
  });

  it("warns in its status if its table is older than a year, unless the rule is a custom one", async () => {
    await start({ preset: "msg" });
    const parcel = resultOf([11.1, 8.5, 6.2]);
    mock.timers.enable({ apis: ["Date"], now: Date.parse(tableDate) + 400 * 86_400_000 });
    try {
      await bill(parcel, { preset: "ups" });
      const { fill, shape, text } = flow.lastStatus("node") ?? {};
      assert.deepEqual([fill, shape, text], ["yellow", "ring", "6 lb, rules a year old"]);
      await bill(parcel, { preset: "own" });
      assert.equal(flow.lastStatus("node")?.fill, "green");
    } finally {
      mock.timers.reset();
    }
  });

  describe("with a table file", () => {
    let folder: string;
    let path: string;
    const contract = {
      checked: "2026-11-28",
      carriers: [
        {
          name: "mine",
          rules: [{ id: "mine-2026", source: "contract 4711", unit: "in-lb", divisor: 166 }],
          surcharges: [{ source: "contract 4711", limits: ["large: longest > 96 in, at least 90 lb"] }],
        },
      ],
    };
    const long = resultOf([97, 6, 6], { weight: 20 });
    const file = (more: object = {}) => ({ preset: "file", tableFile: path, carrier: "mine", ...more });
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), "weights-"));
      path = join(folder, "weights.json");
    });
    beforeEach(() => writeFile(path, `\uFEFF${JSON.stringify(contract)}`));
    after(() => rm(folder, { recursive: true }));

    it("bills by it, by the carrier that the message names, and by a change of the file without a deploy", async () => {
      await start(file({ carrier: "carrier", carrierType: "msg" }));
      assert.equal((await bill(long, { carrier: "mine" })).billable?.weight, 90);
      await writeFile(path, JSON.stringify(contract).replace("90 lb", "40 lb"));
      const { billable } = await bill(long, { carrier: "mine" });
      assert.deepEqual(
        [billable?.weight, billable?.ruleId, billable?.minimumFrom],
        [40, "mine-2026", "large"],
      );
      const { error } = await bill(long, { carrier: "ups" });
      assert.equal(error?.code, "ERR_INPUT");
      assert.match(error.message, /mine/);
    });

    it("warns in its status a year after it was compared", async () => {
      await writeFile(path, JSON.stringify({ ...contract, checked: "2024-01-31" }));
      await start(file());
      await bill(long);
      assert.equal(flow.lastStatus("node")?.fill, "yellow");
    });

    it("says at the deploy, and to each message, what is wrong with the file", async () => {
      const cases: readonly (readonly [text: string | null, message: RegExp])[] = [
        [
          null,
          /weights\.json cannot be used: there is no such file, or it is a link or no regular file\. Correct the file/,
        ],
        ["{", /it breaks off after character 1/],
        ['{ "checked": "2026-11-28" }', /the field carriers is missing/],
        [JSON.stringify(contract).replace("166", '"x"'), /carriers\.0\.rules\.0\.divisor/],
        [`"${"x".repeat(1_100_000)}"`, /larger than 1 MB/],
      ];
      for (const [text, message] of cases) {
        await (text === null ? rm(path) : writeFile(path, text));
        await start(file());
        await flow.untilStatus("node", ({ fill }) => fill === "red");
        const { error } = await bill(long);
        assert.equal(error?.code, "ERR_CONFIG");
        assert.match(error.message, message);
        await flow.stop();
      }
      await start(file({ tableFile: folder }));
      assert.match((await bill(long)).error?.message ?? "", /no such file/);
    });

    it("takes no file from a message, whatever the saved type is", async () => {
      await start(file({ tableFile: "path", tableFileType: "msg" }));
      assert.equal((await bill(long, { path })).error?.code, "ERR_CONFIG");
      await flow.stop();
      await start({ preset: "msg", tableFile: path, carrier: "mine" });
      assert.equal((await bill(long, { preset: "file" })).error?.code, "ERR_INPUT");
      await flow.stop();
      await start(file({ tableFile: "" }));
      assert.equal((await bill(long)).error?.code, "ERR_CONFIG");
    });
  });

  it("leaves no weight of before on a message that is not billed", async () => {
    await start({ preset: "ups" });
    const { msg, billable } = await bill(resultOf([11.1, 8.5, 6.2], legal));
    assert.notEqual(billable, undefined);
    msg["payload"] = { ...resultOf([11.1, 8.5, 6.2]), ok: false };
    const { error, msg: failed } = await flow.run("node", msg);
    assert.deepEqual([error?.code, "billable" in failed], ["ERR_NOT_BILLABLE", false]);
  });

  it("bills what a device has measured", async () => {
    let simulator: Simulator | undefined;
    try {
      simulator = await startSimulator({ mode: "legal-for-trade" });
      flow = await TestFlow.start([
        { id: "device", type: "dimensioner-device", address: simulator.newer.origin },
        { id: "measure", z: "tab", type: "dimensioner-measure", device: "device" },
        {
          id: "node",
          z: "tab",
          type: "dimensioner-billable-weight",
          preset: "dhl-express",
          requireLegalForTrade: true,
        },
      ]);
      const { sent } = await flow.run("measure", { transactionReference: "ORDER-1" });
      const result = sent[0]?.msg["payload"] as MeasureResult;
      const { billable } = await bill(result);
      assert.equal(billable?.legalForTrade, true);
      const sides = [result.length, result.width, result.height].map((side) => Math.round(side ?? 0));
      assert.deepEqual(billable?.sides, sides);
    } finally {
      await simulator?.close();
    }
  });

  it("calculates by the custom rule", async () => {
    const rule = { preset: "own", unit: "in-lb", divisor: "166", sideRounding: "nearest", minimum: "1.5" };
    await start({ ...rule, productRounding: "0.5", threshold: "1000" });
    assert.equal(
      await explained(resultOf([18.4, 12, 9.1])),
      "18 × 12 × 9 in = 1944 in³, ÷ 166 = 11.71, rounded up to 12 lb",
    );
    assert.equal(
      await explained(resultOf([9, 9, 9], { weight: 1.2 })),
      "9 × 9 × 9 in = 729 in³, not over 1000; actual weight 1.2, rounded up to 1.5 lb",
    );
    assert.equal(
      await explained(resultOf([9, 9, 9], { weight: 0.2 })),
      "9 × 9 × 9 in = 729 in³, not over 1000; actual weight 0.2 lb; at least 1.5 lb",
    );
  });

  it("takes the carrier from the message where the dialog says so", async () => {
    await start({ preset: "msg", divisor: "6000" });
    const parcel = recordOf();
    assert.equal((await bill(parcel, { preset: "dpd" })).billable?.ruleId, "dpd");
    assert.equal((await bill(parcel, { preset: "own" })).billable?.divisor, 6000);
    for (const preset of [undefined, "", "nobody", "msg", 5]) {
      assert.equal((await bill(parcel, { preset })).error?.code, "ERR_INPUT");
    }
  });

  it("takes the weight from the label or from another scale, and compares it with the measured one", async () => {
    const scan = { labelWeight: { weight: 12.5, unit: "kg" }, labelDims: null };
    await start({ preset: "dpd", weight: "label" });
    const { billable } = await bill(recordOf({ weight: 13 }), { scan });
    assert.deepEqual([billable?.weight, billable?.weightFrom], [12.5, "label"]);
    assert.equal(billable?.deviation?.weight?.difference, 0.5);
    assert.equal((await bill(recordOf())).error?.code, "ERR_NOT_BILLABLE");
    await flow.stop();
    await start({ preset: "dpd", weight: "given", weightValue: "scale.grams", weightUnit: "g" });
    for (const grams of [7250, "7250", " 7250 "]) {
      const given = await bill(recordOf(), { scale: { grams } });
      assert.deepEqual([given.billable?.weight, given.billable?.weightFrom], [7.25, "given"]);
    }
    for (const grams of [undefined, "", 0, -5, "7,250", {}]) {
      assert.equal((await bill(recordOf(), { scale: { grams } })).error?.code, "ERR_NOT_BILLABLE");
    }
  });

  it("takes a number from another scale without the noise of calculations and of single precision", async () => {
    await start({ preset: "ups", weight: "given", weightUnit: "lb" });
    assert.equal((await bill(resultOf([5, 5, 5]), { weight: 16.1 - 1.1 })).billable?.weight, 15);
    await flow.stop();
    await start({ preset: "dpd", weight: "given", weightValue: "16.1 - 1.1", weightValueType: "jsonata" });
    assert.equal((await bill(resultOf([5, 5, 5]))).billable?.weight, 15);
    await flow.stop();
    await start({ preset: "dpd", weight: "given" });
    assert.equal((await bill(resultOf([5, 5, 5]), { weight: Math.fround(2.2) })).billable?.weight, 2.2);
  });

  it("bills nothing that is not legal for trade where that is required, and says why", async () => {
    await start({ preset: "ups", requireLegalForTrade: true });
    assert.equal((await bill(resultOf([5, 5, 5], legal))).billable?.legalForTrade, true);
    for (const payload of [resultOf([5, 5, 5]), recordOf(), recordOf({ isManualDimension: true })]) {
      const { error, msg } = await bill(payload);
      assert.equal(error?.code, "ERR_NOT_BILLABLE");
      assert.deepEqual([error?.cause.operation, error?.cause.outcome], ["billable weight", null]);
      assert.equal("billable" in msg, false);
    }
    assert.equal(flow.lastStatus("node")?.text, "not billable");
  });

  it("compares the parcel with more limits", async () => {
    await start({ preset: "dpd", extras: "heavy: weight > 31.5 kg; long: longest > 39.9 cm" });
    const { billable } = await bill(recordOf());
    assert.equal(billable?.over, true);
    assert.deepEqual(
      billable?.thresholds.map(({ name, over }) => [name, over]),
      [
        ["heavy", false],
        ["long", true],
      ],
    );
  });

  it("says what is wrong with a message", async () => {
    await start();
    for (const payload of [undefined, "text", 5, {}, []]) {
      const { error } = await bill(payload);
      assert.equal(error?.code, "ERR_INPUT");
      assert.match(error?.message ?? "", /^There is no measurement in msg\.payload/);
    }
    assert.equal(
      (await bill(resultOf([1, 1, 1], { more: { errorCode: 1 } }))).error?.code,
      "ERR_NOT_BILLABLE",
    );
  });

  for (const [property, value] of [
    ["divisor", "0"],
    ["divisor", "x"],
    ["minimum", "-1"],
    ["productRounding", "1e-300"],
    ["threshold", "1,5"],
    ["sideRounding", "down"],
    ["unit", "mm"],
    ["weight", "scale"],
    ["weightUnit", "st"],
    ["preset", "nobody"],
    ["extras", "heavy"],
  ] as const) {
    it(`fails every message with ERR_CONFIG where “${property}” is “${value}”`, async () => {
      await start({ preset: "own", [property]: value });
      assert.equal(flow.lastStatus("node")?.text, "check the settings");
      assert.equal((await bill(recordOf())).error?.code, "ERR_CONFIG");
    });
  }
});
