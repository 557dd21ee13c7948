import assert from "node:assert/strict";
import { withFolder } from "../media/support.ts";
import { names, propertiesOf } from "../editor/sources.ts";
import { TestFlow, type FlowNode } from "../support/flow.ts";
import { storeId, storeNode } from "../support/store-node.ts";

const device = { id: "device", type: "dimensioner-device", address: "127.0.0.1:9", checkInterval: 0 };
const cloud = { id: "cloud", type: "dimensioner-cloud", baseUrl: "http://127.0.0.1:9" };

/** The node that is run for each type with a check box: the one that has it, or one that uses the config node that has it. */
const runs: Readonly<Record<string, { readonly type: string; readonly [property: string]: string }>> = {
  archive: { type: "dimensioner-archive" },
  "billable-weight": { type: "dimensioner-billable-weight" },
  cloud: { type: "dimensioner-device-list", cloud: "node" },
  "device-list": { type: "dimensioner-device-list" },
  evidence: { type: "dimensioner-evidence" },
  "fetch-image": { type: "dimensioner-fetch-image" },
  scan: { type: "dimensioner-scan" },
  store: { type: "dimensioner-evidence", store: "node" },
  "transaction-in": { type: "dimensioner-transaction-in", secretIn: "none" },
};

describe("a check box whose value is text", () => {
  for (const name of names) {
    it(`ends in ERR_CONFIG if it is neither true nor false, in ${name}`, async () => {
      const table = await propertiesOf(name);
      const flags = Object.keys(table).filter((property) => table[property]?.kind === "flag");
      assert.equal(flags.length > 0, name in runs, `${name} has ${flags.length} check boxes`);
      for (const flag of flags) {
        await withFolder(async (folder) => {
          const others = { device: "device", cloud: "cloud", store: storeId(folder) };
          const given = { id: "node", ...others, type: `dimensioner-${name}` };
          const run = { type: "", ...others, ...runs[name], id: "run", z: "tab" };
          const isOwn = run.type === given.type;
          const flows = (value: string) =>
            [
              device,
              cloud,
              storeNode(folder),
              ...(isOwn
                ? [{ ...given, ...run, [flag]: value }]
                : [{ ...given, folder, folderType: "str", baseUrl: cloud.baseUrl, [flag]: value }, run]),
            ] as FlowNode[];
          const flow = await TestFlow.start(flows("perhaps"), { cloud: { token: "token" } });
          try {
            if (name === "transaction-in") {
              assert.equal(flow.lastStatus("run")?.text, "check the settings");
              await flow.deploy(flows("true"));
              assert.equal(flow.lastStatus("run")?.text, "listening");
              return;
            }
            const { error } = await flow.run("run", { payload: "1", transactionId: "1" });
            assert.equal(error?.code, "ERR_CONFIG", flag);
            assert.match(error.message, /“perhaps” is not one of true, false/);
          } finally {
            await flow.stop();
          }
        });
      }
    });
  }
});
