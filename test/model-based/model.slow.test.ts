import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { testSeed } from "../support/seed.ts";
import { openEnvironment, tryMany, type OpenEnvironment } from "./model.ts";
import { Scenario } from "./scenario.ts";
import type { Step } from "./steps.ts";

/** TEST_SEED and MODEL_PATH go back to one that failed. Thousands: test/long/model-based.ts */
const path = process.env["MODEL_PATH"];
const runs = 40;
const withinMs = 18_000;

interface Kept {
  readonly why: string;
  readonly seed: number;
  readonly steps: readonly Step[];
}

const kept = JSON.parse(readFileSync(join(import.meta.dirname, "seeds.json"), "utf8")) as Kept[];

describe("random sequences compared with a model", () => {
  let environment: OpenEnvironment;

  before(async () => {
    environment = await openEnvironment();
  });
  after(() => environment.close());

  for (const { why, seed: found, steps } of kept) {
    it(`${why} (seed ${found})`, () => new Scenario(environment).run(steps));
  }

  it(`holds over ${runs} random sequences (seed ${testSeed})`, async () => {
    const tried = await tryMany(environment, { seed: testSeed, runs, withinMs, path });
    assert.equal(tried.failure, undefined, tried.failure);
    assert.ok(tried.runs > 0);
  });
});
