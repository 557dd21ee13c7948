import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { startSimulator } from "../../src/simulator/index.ts";
import { until, workFolders } from "../archive/support.ts";
import { startNodeRed, type NodeRed } from "../support/node-red.ts";
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
    await until(async () => new Set((await reported()).map(({ id }) => id)).size === jobs, "all reported");
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

/** The jobs that the database holds, seen from outside. */
function acceptedIn(userDir: string): string[] {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(join(userDir, "dimensioner", "store.sqlite"), { readOnly: true });
    return database
      .prepare("SELECT transaction_id FROM jobs")
      .all()
      .map((row) => String(row["transaction_id"]));
  } catch {
    // The first kill came before the database and its tables were made.
    return [];
  } finally {
    database?.close();
  }
}
