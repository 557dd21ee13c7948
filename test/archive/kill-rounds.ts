import assert from "node:assert/strict";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
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
import { databaseOf, storeOfKills } from "./store.ts";

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
 * whole, there is one for each job and nothing else, and every job was reported. `otherDisk`: a folder on another disk than the temporary
 * one, for packages that are away in each third round.
 */
export async function killAgainAndAgain(
  kills: number,
  seed: number,
  otherDisk?: string,
): Promise<KillReport> {
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
    await withFolder(async (home) => {
      const [root, away] = otherDisk === undefined ? [home] : [join(otherDisk, "packages"), home];
      await mkdir(root, { recursive: true });
      report = await run({ root, home: away }, sim.cloud.origin, script, ids, { kills, random });
      await check(root, away, expected);
      const client = clientOf(sim);
      const again = await openArchive(root, client, { store: storeOfKills(root, away) });
      assert.deepEqual([...again.runner.resume(() => true)], [], "a job was not closed");
      for (const id of ids.filter((one) => one.startsWith("cloud"))) {
        const submission = await again.runner.submit(intentOf(id, { origin: client.peer.origin }));
        assert.equal((await submission.end()).wasThere, true, id);
      }
      await again.close();
      await client.close();
      const verify = await bundleVerb("verify");
      const verified = await runChild(verify, [
        root,
        "--database",
        away === undefined ? databaseOf(root) : join(away, "store.sqlite"),
      ]);
      assert.equal(verified.code, 0, verified.stdout);
    });
  } finally {
    await sim.close();
  }
  assert.ok(report !== undefined);
  return report;
}

async function run(
  { root, home }: { readonly root: string; readonly home: string | undefined },
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
    const isAway = home !== undefined && round % 3 === 2;
    await (isAway ? rename(root, `${root}-away`) : undefined);
    const child = startChild(
      script,
      [root, origin, due.join(","), ...(home === undefined ? [] : [home])],
      onLine,
    );
    const opened = await child.nextLine();
    assert.equal(opened, "open");
    if (round % 2 === 1 && due.length > 0) {
      // On a slow computer, the first job can take longer than the moment of the kill.
      await isAccepted;
    }
    await new Promise((resolve) => setTimeout(resolve, random() * 60));
    await child.kill();
    await (isAway ? rename(`${root}-away`, root) : undefined);
  }
  const due = ids.filter((id) => !accepted.has(id));
  const last = startChild(
    script,
    [root, origin, due.join(","), ...(home === undefined ? [] : [home])],
    onLine,
  );
  while ((await last.nextLine()) !== "done") {}
  await last.ended;
  assert.deepEqual(
    ids.filter((id) => !reported.has(id)),
    [],
    "never reported",
  );
  return { kills, reports, resumed };
}

async function check(
  root: string,
  home: string | undefined,
  expected: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const packages = [...(await readPackages(root)).values()];
  const found = packages.map(({ transactionId }) => transactionId).sort();
  assert.deepEqual(found, [...expected.keys()].sort(), "one package for each job");
  for (const { transactionId, items, complete } of packages) {
    const hashes = items.map(({ sha256 }) => sha256).sort();
    assert.deepEqual(hashes, expected.get(transactionId ?? ""), String(transactionId));
    assert.ok(complete);
  }
  assert.deepEqual(await workFolders(home === undefined ? root : join(home, "spool")), []);
}

/** Repeats with the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
