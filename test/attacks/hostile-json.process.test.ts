import assert from "node:assert/strict";
import { nodeRedMajor } from "../support/node-red.ts";
import { throwHostileValues } from "./hostile-rounds.ts";

describe(`A1 and A7: deep, wide and huge values (Node-RED ${nodeRedMajor})`, () => {
  it("end no process, and each message of each node, with two wires behind it, ends exactly once", async function () {
    const seed = Math.floor(Math.random() * 2 ** 31);
    // Said in the report, to play it again.
    (this.test ?? assert.fail()).title += ` (seed ${seed})`;
    await throwHostileValues(nodeRedMajor, 8, seed);
  });
});
