import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { nodeRedMajor } from "../support/node-red.ts";
import { testSeed } from "../support/seed.ts";
import { hostileFlow } from "./hostile-flow.ts";
import { throwHostileValues } from "./hostile-rounds.ts";

describe(`A1 and A7: deep, wide and huge values (Node-RED ${nodeRedMajor})`, () => {
  it("go to nodes of every type", () => {
    const types = new Set(hostileFlow("http://127.0.0.1:1", "").map(({ type }) => type));
    const all = readdirSync(join(import.meta.dirname, "../../nodes")).map((name) => `dimensioner-${name}`);
    assert.deepEqual(
      all.filter((type) => !types.has(type)),
      [],
    );
  });

  it("end no process, and each message of each node, with two wires behind it, ends exactly once", async () => {
    await throwHostileValues(nodeRedMajor, 8, testSeed);
  });
});
