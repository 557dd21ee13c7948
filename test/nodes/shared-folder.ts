import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { verify } from "../archive/packages.ts";
import { until, workFolders } from "../archive/support.ts";
import { withFolder } from "../media/support.ts";
import { startNodeRed, type NodeRed } from "../support/node-red.ts";
import {
  addMedia,
  archiveFlow,
  archiveFlowSettings,
  checkPackages,
  readReports,
  scan,
} from "./archive-flow.ts";

/** A Node-RED with the flow, and the file in which its archive nodes' messages and errors become lines. */
interface Writer {
  readonly nodeRed: NodeRed;
  readonly userDir: string;
  readonly out: string;
}

/**
 * Several Node-REDs, each with a store of its own, archive the same transactions into one folder at the same time. In the end each has
 * ended each message once, with the package, and there is one whole package of each transaction.
 */
export async function archiveTogether(majors: readonly (4 | 5)[], transactions: number): Promise<void> {
  const ids = Array.from({ length: transactions }, (_, index) => `j${index}`);
  const sim = await startSimulator();
  const writers: Writer[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(writers.map(({ nodeRed }) => nodeRed.stop()));
  };
  try {
    addMedia(sim, ids);
    await withFolder(async (folder) => {
      const root = join(folder, "packages");
      await mkdir(root);
      try {
        for (const [index, major] of majors.entries()) {
          writers.push(await startWriter(join(folder, `user-${index}`), root, sim, major));
        }
        // In the same order, so that all are at work on the same transaction.
        await Promise.all(writers.map(({ nodeRed }) => scanAll(nodeRed.url, ids)));
        for (const { out } of writers) {
          const count = async (): Promise<number> => (await readReports(out)).length;
          await until(async () => (await count()) >= transactions, "each message has ended");
        }
        await until(async () => (await workFolders(root)).length === 0, "all is tidied");
      } finally {
        await stop();
      }
      for (const { out } of writers) {
        const reports = await readReports(out);
        assert.deepEqual(reports.map(({ id }) => id).sort(), ids.toSorted(), "each message ended once");
        const others = reports.filter(({ complete, resumed }) => complete !== true || resumed);
        assert.deepEqual(others, [], "with its whole package");
      }
      await checkPackages(root, ids, 0);
      const databases = writers.map(({ userDir }) => join(userDir, "dimensioner"));
      const { report, said } = await verify(root, databases);
      assert.deepEqual([report.verdict, report.packages, said], ["ok", transactions, []]);
    });
  } finally {
    await sim.close();
  }
}

async function startWriter(userDir: string, root: string, sim: Simulator, major: 4 | 5): Promise<Writer> {
  const out = join(userDir, "out.txt");
  await mkdir(userDir);
  await writeFile(out, "");
  const nodeRed = await startNodeRed({
    major,
    userDir,
    settingsFile: archiveFlowSettings,
    flows: archiveFlow(sim, root, out),
  });
  return { nodeRed, userDir, out };
}

async function scanAll(url: string, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await scan(url, id);
  }
}
