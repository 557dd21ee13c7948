import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { startNodeRed, nodeRedMajor, type NodeRed } from "../support/node-red.ts";
import { root } from "./pages.ts";

const page = readFileSync(join(root, "docs/messages.md"), "utf8");
const schema = readFileSync(join(root, "docs/messages.schema.json"), "utf8");

describe(`Node-RED's own JSON node, as docs/messages.md uses it, on Node-RED ${nodeRedMajor}`, () => {
  let simulator: Simulator;
  let nodeRed: NodeRed;

  before(async () => {
    const [, setting = ""] =
      /`(msg\.schema = [^`]+)`/.exec(page) ?? assert.fail("the page sets no msg.schema");
    const at = { z: "tab", x: 100, y: 100 };
    const func = `const schema = ${schema};\n${setting};\nreturn msg;`;
    simulator = await startSimulator();
    nodeRed = await startNodeRed({
      major: nodeRedMajor,
      flows: [
        { id: "tab", type: "tab", label: "Check" },
        { id: "device", type: "dimensioner-device", name: "Dock 1", address: simulator.newer.origin },
        { ...at, id: "in", type: "http in", url: "/measure", method: "get", wires: [["measure"]] },
        { ...at, id: "measure", type: "dimensioner-measure", device: "device", wires: [["schema"]] },
        { ...at, id: "given", type: "http in", url: "/check", method: "post", wires: [["schema"]] },
        { ...at, id: "schema", type: "function", func, outputs: 1, wires: [["json"]] },
        { ...at, id: "json", type: "json", property: "payload", action: "obj", wires: [["fits"]] },
        { ...at, id: "fits", type: "http response", statusCode: "200", wires: [] },
        { ...at, id: "catch", type: "catch", scope: null, wires: [["why"]] },
        {
          ...at,
          id: "why",
          type: "function",
          func: "msg.payload = msg.error.message; return msg;",
          outputs: 1,
          wires: [["not"]],
        },
        { ...at, id: "not", type: "http response", statusCode: "422", wires: [] },
      ],
    });
  });
  after(async () => {
    await nodeRed?.stop();
    await simulator?.close();
  });

  it("accepts a measurement", async () => {
    const answer = await nodeRed.adminFetch("/measure");
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    assert.equal((JSON.parse(text) as { ok: unknown }).ok, true);
  });

  it("refuses what is none, and says what is missing", async () => {
    const headers = { "content-type": "text/plain" };
    const answer = await nodeRed.adminFetch("/check", { method: "POST", headers, body: '{"ok":true}' });
    assert.equal(answer.status, 422);
    assert.match(await answer.text(), /must have required property 'summary'/);
  });
});
