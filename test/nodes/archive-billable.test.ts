import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { readManifest } from "../../src/vault/packages/manifest.ts";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { pictureOf, readPackages } from "../archive/support.ts";
import { withFolder } from "../media/support.ts";
import { TestFlow, type Message } from "../support/flow.ts";
import { storeNode } from "../support/store-node.ts";

describe("a package of a parcel that is billed", () => {
  let sim: Simulator;
  let flow: TestFlow;

  beforeEach(async () => {
    sim = await startSimulator({ mode: "legal-for-trade" });
  });
  afterEach(() => sim.close());

  const run = async (id: string, msg: Message): Promise<Message> => {
    const { error, sent } = await flow.run(id, msg);
    assert.equal(error, undefined, `${id}: ${error?.message}`);
    return sent[0]?.msg ?? assert.fail(id);
  };

  it("names in its manifest and in the index the billed weight, the scan and the instrument", async () => {
    await withFolder(async (folder) => {
      const node = (id: string, more: object = {}) => ({ id, z: "tab", type: `dimensioner-${id}`, ...more });
      const device = { id: "device", type: "dimensioner-device", name: "Dock 4", address: sim.newer.origin };
      flow = await TestFlow.start([
        { ...device, serialNumber: "SN-1", certificate: "AM-7001" },
        storeNode(folder, "store"),
        node("scan"),
        node("measure", { device: "device" }),
        node("billable-weight", { preset: "dhl-express", requireLegalForTrade: true }),
        node("archive", { store: "store", images: "annotated" }),
      ]);
      try {
        const scanned = await run("scan", { payload: "]C100395212340000004173\r\n" });
        const billed = await run("billable-weight", await run("measure", scanned));
        const { payload } = await run("archive", billed);
        const { manifest: path } = payload as { manifest: string };
        const manifest = readManifest(await readFile(path, "utf8")) ?? assert.fail("no manifest");
        assert.deepEqual(manifest.billable, {
          weight: 2,
          unit: "kg",
          basis: "dimensional",
          explanation: "34 × 21 × 13 cm = 9282 cm³, ÷ 5000 = 1.86, rounded up to 2 kg",
          ruleId: "dhl-express",
          ruleDate: null,
          legalForTrade: true,
          computed: true,
        });
        assert.deepEqual(manifest.scan, {
          text: "00395212340000004173",
          symbology: "GS1-128",
          sscc: "395212340000004173",
        });
        assert.equal(manifest.measuredBy?.name, "Dock 4");
        assert.deepEqual(manifest.instrument, { serialNumber: "SN-1", certificate: "AM-7001" });
        // Others may read the database while Node-RED runs.
        const columns =
          "device_serial_number, device_certificate, billable_weight, billable_unit, billable_legal_for_trade, scan";
        assert.deepEqual(flow.rowsOf("store", `SELECT ${columns} FROM packages`), [
          {
            device_serial_number: "SN-1",
            device_certificate: "AM-7001",
            billable_weight: 2,
            billable_unit: "kg",
            billable_legal_for_trade: "true",
            scan: "00395212340000004173",
          },
        ]);
      } finally {
        await flow.stop();
      }
    });
  });

  it("has no billed weight that cannot be one, and its manifest can be read", async () => {
    await withFolder(async (folder) => {
      flow = await TestFlow.start([
        storeNode(folder, "store"),
        { id: "archive", z: "tab", type: "dimensioner-archive", store: "store" },
      ]);
      const billable = {
        unit: "kg",
        basis: "actual",
        explanation: "",
        ruleId: "own",
        ruleDate: null,
        legalForTrade: "unknown",
        computed: true,
      };
      try {
        for (const weight of [-(2 ** 60), -1, 2 ** 60]) {
          const billed = { transactionId: String(weight), billable: { ...billable, weight } };
          await run("archive", { ...billed, payload: pictureOf(String(weight)) });
        }
        const packages = [...(await readPackages(folder)).values()];
        assert.deepEqual(
          packages.map((one) => one.billable),
          [null, null, null],
        );
      } finally {
        await flow.stop();
      }
    });
  });

  it("has no weight of the measurement before, if the parcel was measured again and is not billed", async () => {
    await withFolder(async (folder) => {
      const node = (id: string, more: object = {}) => ({ id, z: "tab", type: `dimensioner-${id}`, ...more });
      flow = await TestFlow.start([
        { id: "device", type: "dimensioner-device", name: "Dock 4", address: sim.newer.origin },
        storeNode(folder, "store"),
        node("scan"),
        node("measure", { device: "device" }),
        node("billable-weight", { preset: "dhl-express" }),
        node("archive", { store: "store", images: "" }),
      ]);
      try {
        const scanned = await run("scan", { payload: "]C100395212340000004173\r\n" });
        const billed = await run("billable-weight", await run("measure", scanned));
        sim.newer.setParcel(null);
        // Repositioned, and measured with the same message; what failed is archived as well.
        const again = await flow.run("measure", billed);
        assert.equal(again.error?.code, "ERR_MEASURE_FAILED");
        const { payload } = await run("archive", again.msg);
        const { manifest: path } = payload as { manifest: string };
        const manifest = readManifest(await readFile(path, "utf8")) ?? assert.fail("no manifest");
        assert.equal(manifest.billable, null);
        assert.equal(manifest.scan?.text, "00395212340000004173", "the label is that of the same parcel");
      } finally {
        await flow.stop();
      }
    });
  });
});
