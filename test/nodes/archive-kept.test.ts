import assert from "node:assert/strict";
import { withFolder } from "../media/support.ts";
import { archive, ArchiveSuite, credentials, nextEnd } from "./archive-suite.ts";

describe("dimensioner-archive, and the message of a job after a deploy", () => {
  const suite = new ArchiveSuite();

  const items = ["A", "B", "C"].map((name) => ({ name, secret: name }));
  for (const [keep, more, kept] of [
    ["items[msg.index].name, index", { items, index: 1 }, { items: [null, { name: "B" }], index: 1 }],
    ["index, msg.items[msg.index].name", { items, index: 1 }, { items: [null, { name: "B" }], index: 1 }],
    ["items[msg.index].name, items[0]", { items }, { items: [items[0]] }],
    ["items[0].name, items", { items }, { items }],
    ["order, order.lines[0].id", { order: { lines: [{ id: 1 }] } }, { order: { lines: [{ id: 1 }] } }],
    ["order.id.text, order.none.none", { order: { id: 1 } }, {}],
    ["ids[msg.id]", { ids: { 200000000: "B" }, id: 200_000_000 }, { ids: { 200000000: "B" } }],
    ["ids[msg.id]", { ids: { [`"'].a['`]: "B" }, id: `"'].a['` }, { ids: { [`"'].a['`]: "B" } }],
    ["constructor.name, __proto__.name, order", { order: 1 }, { order: 1 }],
  ] as const) {
    it(`has of ${JSON.stringify(more)} what ${keep} names`, async () => {
      await withFolder(async (root) => {
        const node = archive(root, { wait: 600, keep });
        const test = await suite.start(root, node);
        const running = test.start("node", { transactionId: "1", ...more });
        await test.untilStatus("node", ({ fill }) => fill === "yellow");
        await test.deploy([...suite.configs(root), node], credentials);
        await running;
        suite.addVideo("1");
        const { error, msg } = await nextEnd(test, "node");
        const { _msgid, payload, filename, ...rest } = msg;
        assert.equal(error, undefined);
        assert.ok(payload !== undefined && filename !== undefined && _msgid !== undefined);
        assert.deepEqual(rest, { resumed: true, transactionId: "1", ...kept });
      });
    });
  }
});
