import assert from "node:assert/strict";
import { nodeRedMajor, startNodeRed, type NodeRed } from "../support/node-red.ts";

const tab = { id: "tab", type: "tab", label: "Dock" };
const webhook = {
  id: "webhook",
  z: "tab",
  type: "dimensioner-transaction-in",
  path: "dimensioner/transaction",
  secretIn: "none",
  wires: [[]],
};

describe(`dimensioner-transaction-in beside an http in node, in Node-RED ${nodeRedMajor}`, () => {
  let nodeRed: NodeRed;
  before(async () => {
    nodeRed = await startNodeRed({ major: nodeRedMajor });
  });
  after(() => nodeRed.stop());

  const httpIn = (url: string, method: string): object => ({
    id: "other",
    z: "tab",
    type: "http in",
    url,
    method,
    wires: [["answer"]],
  });
  const answer = { id: "answer", z: "tab", type: "http response", statusCode: "418", wires: [] };
  const post = async (): Promise<number> => {
    const response = await fetch(`${nodeRed.url}/dimensioner/transaction`, {
      method: "POST",
      headers: { "content-type": "application/json", connection: "close" },
      body: JSON.stringify({ errorCode: 0, id: 1 }),
    });
    return response.status;
  };

  it("says after each deploy that its path is used, whatever the method, and again when another comes", async () => {
    const problem = /\[dimensioner-transaction-in:webhook\] path used by another node/;
    for (const method of ["post", "get"]) {
      const said = nodeRed.nextLine(problem);
      await nodeRed.deploy([tab, webhook, httpIn("/Dimensioner/transaction", method), answer]);
      await said;
      await nodeRed.deploy([tab, webhook]);
      assert.equal(await post(), 204, "and the webhook is served without the other node");
    }
  });

  it("names it, in one line of the log for each deploy, and what the other one has got is an error", async () => {
    const named = { ...httpIn("dimensioner/:kind", "post"), name: "Old import" };
    const caught = { id: "catch", z: "tab", type: "catch", scope: ["webhook"], wires: [["debug"]] };
    const debug = {
      id: "debug",
      z: "tab",
      type: "debug",
      console: "true",
      tosidebar: false,
      complete: "error",
    };
    const second = { ...webhook, id: "second", name: "Hall 2", path: "/Dimensioner/transaction/" };
    const flow = [named, answer, caught, debug, { ...webhook, name: "Hall 1" }, second];
    const before = nodeRed.logs.length;
    const said = nodeRed.nextLine(/path used by Old import/);
    const saidBySecond = nodeRed.nextLine(/:Hall 2\] path used by Hall 1/);
    await nodeRed.deploy([tab, ...flow]);
    assert.match(await said, /Old import \(\/dimensioner\/transaction\)$/);
    await saidBySecond;
    const lost = nodeRed.nextLine(/same path \(Old import\)/);
    assert.equal(await post(), 418);
    await lost;
    assert.equal(nodeRed.logs.slice(before).filter((line) => line.includes("path used by")).length, 2);
    await nodeRed.deploy([tab, webhook]);
    assert.equal(await post(), 204);
  });
});
