import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startSimulator } from "../../src/simulator/index.ts";
import { until, workFolders } from "../archive/support.ts";
import { startNodeRed, type NodeRed } from "../support/node-red.ts";
import { rowsIn, storeDatabase } from "../support/rows.ts";
import {
  addMedia,
  archiveFlow,
  archiveFlowSettings,
  checkPackages,
  readReports,
  scan,
} from "./archive-flow.ts";

/** What became of a run in which Node-RED was killed again and again. */
export interface NodeRedKills {
  /** Times that a job was reported; more than there are jobs, where a kill came between the message and its note. */
  readonly reports: number;
  readonly resumed: number;
}

const jobs = 50;
/**
 * Runs 50 jobs in a Node-RED that is killed so many times at random moments. In the end each job that the database ever held was
 * reported, and has one whole package. `random` gives numbers from 0 to 1.
 */
export async function killNodeRed(major: 4 | 5, kills: number, random: () => number): Promise<NodeRedKills> {
  const folder = await mkdtemp(join(tmpdir(), "archive-kills-"));
  const [root, userDir, out] = ["packages", "user", "out.txt"].map((name) => join(folder, name));
  assert.ok(root !== undefined && userDir !== undefined && out !== undefined);
  await Promise.all([mkdir(root), mkdir(userDir), writeFile(out, "")]);
  const sim = await startSimulator();
  let nodeRed: NodeRed | undefined;
  try {
    const ids = Array.from({ length: jobs }, (_, index) => `j${index}`);
    addMedia(sim, ids, 200_000);
    const flows = archiveFlow(sim, root, out);
    const started = { major, userDir, settingsFile: archiveFlowSettings };
    const accepted = new Set<string>();
    for (let round = 0; round < kills; round += 1) {
      nodeRed = await startNodeRed({ ...started, ...(round === 0 ? { flows } : {}) });
      const { url } = nodeRed;
      // New jobs come all the time, so that a kill meets jobs of every age.
      const upTo = Math.ceil((jobs * (round + 1)) / kills);
      ids
        .slice(0, upTo)
        .filter((id) => !accepted.has(id))
        .forEach((id) => void scan(url, id));
      await delay(random() * 400);
      await nodeRed.kill();
      nodeRed = undefined;
      acceptedIn(userDir).forEach((id) => accepted.add(id));
    }
    nodeRed = await startNodeRed(started);
    const { url } = nodeRed;
    ids.filter((id) => !accepted.has(id)).forEach((id) => void scan(url, id));
    const reported = () => readReports(out);
    const missing = async (): Promise<string[]> => {
      const there = new Set((await reported()).map(({ id }) => id));
      return ids.filter((id) => !there.has(id));
    };
    await until(async () => (await missing()).length === 0, "all reported").catch(async (error: unknown) => {
      const jobsMissing = await missing();
      const rows = jobRows(userDir).filter(({ transaction_id: id }) => jobsMissing.includes(String(id)));
      const found = { missing: jobsMissing, accepted: accepted.size, rows, logs: nodeRed?.logs.slice(-20) };
      throw new Error(`a job has no report: ${JSON.stringify(found, null, 2)}`, { cause: error });
    });
    await until(async () => (await workFolders(root)).length === 0, "all is tidied");
    await nodeRed.stop();
    nodeRed = undefined;

    const reports = await reported();
    assert.deepEqual(
      reports.filter(({ error, complete }) => error !== undefined || complete !== true),
      [],
    );
    await checkPackages(root, ids);
    return { reports: reports.length, resumed: reports.filter(({ resumed }) => resumed).length };
  } finally {
    await nodeRed?.kill();
    await sim.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** The jobs that the database holds, seen from outside, and those that have ended with a package. */
function acceptedIn(userDir: string): string[] {
  try {
    const packages = rowsIn(storeDatabase(userDir, "store"), "SELECT transaction_id FROM packages");
    return [...jobRows(userDir), ...packages].map(({ transaction_id: id }) => String(id));
  } catch {
    // The first kill came before the database and its tables were made.
    return [];
  }
}

function jobRows(userDir: string): Record<string, unknown>[] {
  const columns = "job_id, transaction_id, state, accepted_at, changed_at, waited_ms, open_ms, error_code";
  return rowsIn(storeDatabase(userDir, "store"), `SELECT ${columns} FROM jobs`);
}
