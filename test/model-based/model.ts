import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asyncProperty, check, type RunDetails } from "fast-check";
import { startSimulator } from "../../src/simulator/index.ts";
import { TestFlow } from "../support/flow.ts";
import { freePort } from "../support/servers.ts";
import { Scenario, type ScenarioEnvironment } from "./scenario.ts";
import { sequences, type Step } from "./steps.ts";
import { WallClock } from "./wall-clock.ts";

export interface OpenEnvironment extends ScenarioEnvironment {
  close(): Promise<void>;
}

/** A Node-RED runtime and a simulator, for one sequence after the other. */
export async function openEnvironment(): Promise<OpenEnvironment> {
  const sim = await startSimulator({ mode: "video-with-measurement", ports: await ownPorts() });
  const flow = await TestFlow.start([]);
  const clock = new WallClock();
  const folder = await realpath(await mkdtemp(join(tmpdir(), "dimensioner-model-")));
  return {
    sim,
    flow,
    clock,
    folder,
    async close() {
      clock.close();
      await flow.stop();
      await sim.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Ports that no other program is given while a device is off, or refuses connections. */
async function ownPorts(): Promise<Record<"cloud" | "earlier" | "newer", number>> {
  const free = new Set<number>();
  while (free.size < 3) {
    free.add(await freePort());
  }
  const [newer = 0, earlier = 0, cloud = 0] = free;
  return { newer, earlier, cloud };
}

export interface Tries {
  readonly seed: number;
  readonly runs: number;
  /** Begins no further sequence after so long. */
  readonly withinMs: number;
  /** Where fast-check found a failure, to begin there. */
  readonly path?: string | undefined;
}

export interface Tried {
  /** Sequences that hold. */
  readonly runs: number;
  /** The shortest sequence that fails, with its seed and what went wrong; undefined when none does. */
  readonly failure: string | undefined;
}

/** How long the shortest failing sequence is searched for. */
const shrinkMs = 40_000;

/** Runs random sequences; a failing one is reduced to the steps that make it fail. */
export async function tryMany(
  environment: ScenarioEnvironment,
  { seed, runs, withinMs, path }: Tries,
): Promise<Tried> {
  let until = performance.now() + withinMs;
  let played = 0;
  let hasFailed = false;
  const property = asyncProperty(sequences, async (steps) => {
    // What has begun goes on to its end.
    if (performance.now() > until) {
      return;
    }
    try {
      await new Scenario(environment).run(steps);
      played += 1;
    } catch (error) {
      if (!hasFailed) {
        until = performance.now() + shrinkMs;
      }
      hasFailed = true;
      throw error;
    }
  });
  const found = await check(property, { seed, numRuns: runs, ...(path === undefined ? {} : { path }) });
  return { runs: played, failure: found.failed ? report(found) : undefined };
}

function report({
  seed,
  counterexample,
  counterexamplePath,
  errorInstance,
  numShrinks,
}: RunDetails<[readonly Step[]]>): string {
  const steps = (counterexample?.[0] ?? []).map((step) => `  ${JSON.stringify(step)}`).join(",\n");
  const why = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  return (
    `seed ${seed}, path "${counterexamplePath}", shrunk ${numShrinks} times: ${why}\n` +
    `To keep it, add to test/model-based/seeds.json: { "why": "…", "seed": ${seed}, "steps": [\n${steps}\n] }`
  );
}
