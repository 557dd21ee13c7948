import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { TestFlow, type End, type FlowNode } from "../support/flow.ts";
import { closesAfterEach } from "../support/opened.ts";
import { deviceCode, token } from "../support/operations.ts";
import { concurrency, redeploys, type Scenario } from "./tables/scenarios.ts";

const mediaBytes = 200_000;

describe("several messages, with events in between", () => {
  const opened = closesAfterEach();

  for (const [name, scenario] of Object.entries({ ...concurrency, ...redeploys })) {
    it(name, async () => {
      const sim = opened(
        await startSimulator({ mode: "video-with-measurement", token, deviceCode, ...scenario.simulator }),
      );
      const { contentId } = sim.cloud.addMedia("905865", {
        contentType: "video/mp4",
        generateBytes: mediaBytes,
      });
      const folder = await mkdtemp(join(tmpdir(), "matrix-"));
      opened({ close: () => rm(folder, { recursive: true }) });
      const clouds = { "cloud-one": { token }, "cloud-two": { token } };
      const flow = await TestFlow.start(flowOf(sim, scenario, folder), clouds);
      opened({ close: () => flow.stop() });
      if (scenario.fault !== undefined) {
        sim.faults.add({ times: 1, ...scenario.fault });
      }
      const atOnce = watch(sim);
      const meanwhile = beReady(sim, flow, scenario);
      const ended: Promise<End>[] = [];
      for (const { to, count = 1, afterMs = 0, msg = {} } of scenario.sends) {
        await sleep(afterMs);
        for (let index = 0; index < count; index++) {
          ended.push(flow.start(to, { payload: { contentId }, ...msg }));
        }
      }
      await meanwhile;
      const before = sim.requests.length;
      const ends = await Promise.all(ended);
      assert.deepEqual(endsOf(ends), expectedEnds(scenario));
      const wellIds = ends.filter(({ error }) => error === undefined).map(({ msgId }) => msgId);
      const sentIds = flow.sent.map(({ msg }) => String(msg["_msgid"]));
      assert.deepEqual(sentIds.toSorted(), wellIds.toSorted(), "each output once, and nothing afterwards");
      assert.equal(
        new Set(flow.ends.map(({ nodeId, msgId }) => `${nodeId} ${msgId}`)).size,
        flow.ends.length,
      );
      const paths = sim.requests.map(({ path }) => path);
      const requests = scenario.mayHaveAskedMore ? before : scenario.requests;
      assert.deepEqual(typeof requests === "number" ? paths.length : paths, requests);
      assert.ok(atOnce() <= 1, `${atOnce()} commands at once`);
      const { measures, starts, stops, cancels } = sim.newer.actions;
      assert.equal(measures + starts + stops + cancels, scenario.acts, "acts");
      const files = await readdir(folder);
      assert.deepEqual(files.toSorted(), scenario.files ?? []);
      const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
      assert.ok(sizes.every((size) => size === mediaBytes));
    });
  }
});

function flowOf(sim: Simulator, { actors, config }: Scenario, folder: string): FlowNode[] {
  const configs = ["one", "two"].flatMap((name): FlowNode[] => [
    { id: `device-${name}`, type: "dimensioner-device", address: sim.newer.origin, ...config },
    { id: `cloud-${name}`, type: "dimensioner-cloud", baseUrl: sim.cloud.origin, ...config },
  ]);
  const nodes = Object.entries(actors).map(
    ([id, { type, config: which = "one", tab = "tab", properties }]): FlowNode => ({
      id,
      z: tab,
      type,
      folder,
      device: `device-${which}`,
      cloud: `cloud-${which}`,
      ...properties,
    }),
  );
  return [{ id: "other tab", type: "tab" }, ...configs, ...nodes];
}

/** The most commands that the device had at a time. */
function watch(sim: Simulator): () => number {
  let [now, most] = [0, 0];
  const isCommand = ({ path }: { path: string }): boolean => /measure|video/.test(path);
  sim.onRequest((request) => {
    now += isCommand(request) ? 1 : 0;
    most = Math.max(most, now);
  });
  sim.onSettled((request) => (now -= isCommand(request) ? 1 : 0));
  return () => most;
}

/** Waits for what the scenario names, and does then what it says. */
async function beReady(sim: Simulator, flow: TestFlow, { meanwhile, actors }: Scenario): Promise<void> {
  if (meanwhile === undefined) {
    return;
  }
  const { when, happens } = meanwhile;
  const [id = ""] = Object.keys(actors);
  const { request, status } = when;
  await Promise.all([
    request === undefined || sim.nextRequest(({ path }) => path.startsWith(request)),
    status === undefined || flow.untilStatus(id, ({ text }) => text.startsWith(status)),
  ]);
  if (happens === "reset") {
    await flow.run(id, { reset: true });
  } else {
    await flow.deploy([]);
  }
  sim.faults.clear();
}

function endsOf(ends: readonly End[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { error } of ends) {
    const name = error === undefined ? "well" : `${error.code} ${error.cause.outcome}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

function expectedEnds({ well = 0, failed = {} }: Scenario): Record<string, number> {
  const entries = Object.entries(failed).flatMap(([code, some]) =>
    [some].flat().map(({ count, outcome = null }): [string, number] => [`${code} ${outcome}`, count]),
  );
  return Object.fromEntries([...(well === 0 ? [] : [["well", well] as [string, number]]), ...entries]);
}
