import assert from "node:assert/strict";
import { inspect } from "node:util";
import { withFolder } from "../media/support.ts";
import { archive, ArchiveSuite, credentials, nextEnd } from "./archive-suite.ts";

describe("dimensioner-archive, and the message of a job after a deploy", () => {
  const suite = new ArchiveSuite();

  const items = ["A", "B", "C"].map((name) => ({ name, secret: name }));
  const order = { id: 1, name: "A", lines: [{ id: 1 }] };
  const orders: object[] = [];
  orders[8_000_000] = { id: 1 };
  const shaped = JSON.parse('{ "index": { "toString": 1, "valueOf": 1 } }') as object;
  const long = "x".repeat(400_000);
  /** A setter, and another object for each reader. */
  class WithAccessor {
    name = "A";
    street = "B";
    get place(): object {
      return { name: this.name };
    }
    set place(_place: object) {
      this.street = "";
    }
  }
  const withAccessor = new WithAccessor();
  const polluting = JSON.parse('{ "order": { "__proto__": { "isKept": true } } }') as object;
  for (const [which, keep, message, kept] of [
    [
      "an element of a list",
      "items[msg.index].name, index",
      { items, index: 1 },
      { items: { 1: { name: "B" } }, index: 1 },
    ],
    [
      "an element, with the name of its index behind",
      "index, msg.items[msg.index].name",
      { items, index: 1 },
      { items: { 1: { name: "B" } }, index: 1 },
    ],
    [
      "an element whose index it lacks",
      "items[msg.index].name, items[0]",
      { items },
      { items: { 0: items[0] } },
    ],
    [
      "an element far behind",
      "orders[msg.id].id",
      { orders, id: 8_000_000 },
      { orders: { 8000000: { id: 1 } } },
    ],
    [
      "the length of a list",
      "items[0].name, items.length",
      { items },
      { items: { 0: { name: "A" }, length: 3 } },
    ],
    [
      "a group of a match",
      "match.groups.id",
      { match: /(?<id>\d+)/.exec("A12") },
      { match: { groups: { id: "12" } } },
    ],
    ["a list after its element", "items[0].name, items", { items }, { items }],
    ["two properties of an object", "order.id, order.name", { order }, { order: { id: 1, name: "A" } }],
    ["a property after its object", "order, order.lines[0].id", { order }, { order }],
    ["an object after its property", "order.id, order", { order }, { order }],
    [
      "once what is named several times",
      "topic, long.text, long",
      { topic: long, long: { text: long } },
      { topic: long, long: { text: long } },
    ],
    [
      "no more of an object that it keeps",
      "made, made.place.name",
      { made: withAccessor },
      { made: { name: "A", street: "B" } },
    ],
    ["no method", "items, items[msg.key]", { items, key: "push" }, { items }],
    ["the length of a text", "order.name.length", { order }, { order: { name: { length: 1 } } }],
    ["no property of a number", "order.id.text, order.none.none", { order }, {}],
    [
      "a number in an object",
      "ids[msg.id]",
      { ids: { 200000000: "B" }, id: 200_000_000 },
      { ids: { 200000000: "B" } },
    ],
    [
      "quotation marks",
      "ids[msg.id]",
      { ids: { [`"'].a['`]: "B" }, id: `"'].a['` },
      { ids: { [`"'].a['`]: "B" } },
    ],
    [
      "nothing that an object would lead to",
      "items[msg.index], index.toString",
      { items, ...shaped },
      { index: { toString: 1 } },
    ],
    ["no prototype", "constructor.name, __proto__.name, order.__proto__.isKept", { ...polluting }, {}],
  ] as const) {
    it(`has ${which}: ${keep}`, async () => {
      await withFolder(async (root) => {
        const node = archive(root, { wait: 600, keep });
        const test = await suite.start(root, node);
        const before = inspect(message, { depth: null });
        const running = test.start("node", { transactionId: "1", ...message });
        await test.untilStatus("node", ({ fill }) => fill === "yellow");
        assert.equal(inspect(message, { depth: null }), before, "the flow's own objects");
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
