import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSimulator } from "../../src/simulator/index.ts";
import { nodeRedMajor, startNodeRed } from "../support/node-red.ts";

/** A context store whose server has gone: it takes each question and answers none. */
const silentStore = `module.exports = {
  contextStorage: {
    default: { module: "memory" },
    far: {
      module: () => ({
        open: async () => undefined,
        close: async () => undefined,
        clean: async () => undefined,
        delete: async () => undefined,
        get: () => undefined,
        set: () => undefined,
        keys: () => undefined,
      }),
    },
  },
};
`;

describe(`a context store that never answers, in Node-RED ${nodeRedMajor}`, () => {
  it("keeps no message for ever: the error says what did not answer, and nothing was sent", async () => {
    const folder = await mkdtemp(join(tmpdir(), "silent-context-"));
    const settingsFile = join(folder, "contexts.cjs");
    await writeFile(settingsFile, silentStore);
    const sim = await startSimulator();
    const flows = [
      { id: "tab", type: "tab" },
      { id: "device", type: "dimensioner-device", address: sim.newer.origin, checkInterval: 0 },
      ...(["flow", "jsonata"] as const).flatMap((type) => [
        { id: `go-${type}`, z: "tab", type: "inject", props: [], wires: [[`measure-${type}`]] },
        {
          id: `measure-${type}`,
          z: "tab",
          type: "dimensioner-measure",
          device: "device",
          transactionReferenceType: type,
          transactionReference: type === "flow" ? "#:(far)::order" : '$flowContext("order", "far")',
          wires: [[]],
        },
      ]),
    ];
    const nodeRed = await startNodeRed({ major: nodeRedMajor, settingsFile, flows });
    try {
      for (const type of ["flow", "jsonata"]) {
        const said = nodeRed.nextLine(/\[error\].*did not answer/);
        const answer = await nodeRed.adminFetch(`/inject/go-${type}`, { method: "POST" });
        assert.equal(answer.status, 200);
        assert.match(
          await said,
          /“?Transaction reference”? could not be read: its context store did not answer/i,
        );
      }
      assert.equal(sim.requestsTo("newer", "/api/v1/measure").length, 0);
    } finally {
      await nodeRed.stop();
      await sim.close();
      await rm(folder, { recursive: true });
    }
  });
});
