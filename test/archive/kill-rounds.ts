import assert from "node:assert/strict";
import { startSimulator } from "../../src/simulator/index.ts";
import { withFolder } from "../media/support.ts";
import { bundle, bundleVerb, runChild, startChild } from "./processes.ts";
import {
  clientOf,
  intentOf,
  openArchive,
  pictureOf,
  readPackages,
  sha256Of,
  workFolders,
} from "./support.ts";
import { databaseOf } from "./store.ts";

/** What became of a run that was killed again and again. */
export interface KillReport {
  readonly kills: number;
  readonly reports: number;
  readonly resumed: number;
}

const cloudJobs = 40;
const messageJobs = 10;

/**
 * 50 jobs in a process that is killed at a random moment, and started again, so many times. In the end every package is
 * whole, there is one for each job and nothing else, and every job was reported.
 */
export async function killAgainAndAgain(kills: number, seed: number): Promise<KillReport> {
  const random = randomOf(seed);
  const script = await bundle("test/archive/jobs-child.ts");
  const sim = await startSimulator();
  let report: KillReport | undefined;
  try {
    const expected = new Map<string, string[]>();
    const ids: string[] = [];
    for (let index = 0; index < cloudJobs; index += 1) {
      const id = `cloud-${index}`;
      const picture = pictureOf(id);
      const video = sim.cloud.addMedia(id, {
        contentType: "video/mp4",
        generateBytes: 50_000 + 7_000 * index,
      });
      sim.cloud.addMedia(id, { contentType: "image/jpeg", bytes: picture });
      const answer = await fetch(`${sim.cloud.origin}/api/transactionmedia/${id}/${video.contentId}`, {
        headers: { authorization: "Bearer simulator" },
      });
      expected.set(id, [sha256Of(picture), sha256Of(Buffer.from(await answer.arrayBuffer()))].sort());
      ids.push(id);
    }
    for (let index = 0; index < messageJobs; index += 1) {
      const id = `message-${index}`;
      expected.set(id, [0, 1].map((part) => sha256Of(pictureOf(`${id} ${part}`))).sort());
      ids.push(id);
    }
    await withFolder(async (root) => {
      report = await run(root, sim.cloud.origin, script, ids, { kills, random });
      await check(root, expected);
      const client = clientOf(sim);
      const again = await openArchive(root, client);
      assert.deepEqual([...again.runner.resume(() => true)], [], "a job was not closed");
      for (const id of ids.filter((one) => one.startsWith("cloud"))) {
        const submission = await again.runner.submit(intentOf(id, { origin: client.peer.origin }));
        assert.equal((await submission.end()).wasThere, true, id);
      }
      await again.close();
      await client.close();
      const verify = await bundleVerb("verify");
      const verified = await runChild(verify, [root, "--database", databaseOf(root)]);
      assert.equal(verified.code, 0, verified.stdout);
    });
  } finally {
    await sim.close();
  }
  assert.ok(report !== undefined);
  return report;
}

async function run(
  root: string,
  origin: string,
  script: string,
  ids: readonly string[],
  { kills, random }: { kills: number; random: () => number },
): Promise<KillReport> {
  const accepted = new Set<string>();
  const reported = new Set<string>();
  let reports = 0;
  let resumed = 0;
  let onAccepted = (): void => undefined;
  const onLine = (line: string): void => {
    const [what, id = "", , isResumed] = line.split(" ");
    if (what === "accepted") {
      accepted.add(id);
      onAccepted();
    }
    if (what !== "reported") {
      return;
    }
    reports += 1;
    reported.add(id);
    if (isResumed === "true") {
      resumed += 1;
    }
  };
  for (let round = 0; round < kills; round += 1) {
    // New jobs come all the time, so that a kill meets jobs of every age.
    const upTo = Math.ceil((ids.length * (round + 1)) / kills);
    const due = ids.slice(0, upTo).filter((id) => !accepted.has(id));
    const isAccepted = new Promise<void>((resolve) => (onAccepted = resolve));
    const child = startChild(script, [root, origin, due.join(",")], onLine);
    const opened = await child.nextLine();
    assert.equal(opened, "open");
    if (round % 2 === 1 && due.length > 0) {
      // On a slow computer, the first job can take longer than the moment of the kill.
      await isAccepted;
    }
    await new Promise((resolve) => setTimeout(resolve, random() * 60));
    await child.kill();
  }
  const due = ids.filter((id) => !accepted.has(id));
  const last = startChild(script, [root, origin, due.join(",")], onLine);
  while ((await last.nextLine()) !== "done") {}
  await last.ended;
  assert.deepEqual(
    ids.filter((id) => !reported.has(id)),
    [],
    "never reported",
  );
  return { kills, reports, resumed };
}

async function check(root: string, expected: ReadonlyMap<string, readonly string[]>): Promise<void> {
  const packages = [...(await readPackages(root)).values()];
  const found = packages.map(({ transactionId }) => transactionId).sort();
  assert.deepEqual(found, [...expected.keys()].sort(), "one package for each job");
  for (const { transactionId, items, complete } of packages) {
    const hashes = items.map(({ sha256 }) => sha256).sort();
    assert.deepEqual(hashes, expected.get(transactionId ?? ""), String(transactionId));
    assert.ok(complete);
  }
  assert.deepEqual(await workFolders(root), []);
}

/** Repeats with the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
