import assert from "node:assert/strict";
import { Archives } from "../../src/jobs/archive.ts";
import type { Submission } from "../../src/jobs/runner.ts";
import type { RunningJob } from "../../src/jobs/job.ts";
import { startSimulator } from "../../src/simulator/index.ts";
import { Inbox } from "../../src/database/inbox.ts";
import { withFolder } from "../media/support.ts";
import { WallClock } from "../model-based/wall-clock.ts";
import { measured, received } from "./find/support.ts";
import { ScriptedCloud } from "./scripted-sources.ts";
import { storeIn } from "./store.ts";
import { clientOf, intentOf, mediumOf, openArchive, pictureOf, until, type Opened } from "./support.ts";

const hourMs = 3_600_000;

describe("archive: a clock that is put right while a job waits", () => {
  for (const jumpMs of [-50 * 365 * 24 * hourMs, 56 * 365 * 24 * hourMs]) {
    it(`gives up nothing when it is put ${jumpMs > 0 ? "forward" : "back"} by decades`, async () => {
      const sim = await startSimulator();
      const client = clientOf(sim);
      const clock = new WallClock();
      try {
        await withFolder(async (root) => {
          const archive = await openArchive(root, client);
          const intent = intentOf("1", {
            origin: client.peer.origin,
            giveUpMs: 72 * hourMs,
            waitMs: 60_000,
          });
          const submission = await archive.runner.submit(intent);
          await until(() => submission.running?.state === "waiting", "it waits");
          clock.jump(jumpMs);
          // The next thing that goes wrong is what the age of the job is looked at for.
          sim.faults.add({ surface: "cloud", times: 1, fault: { kind: "status", status: 401 } });
          sim.cloud.addMedia("1", { contentType: "image/jpeg", bytes: pictureOf("1") });
          submission.running?.wake();
          assert.equal((await submission.end()).manifest.items.length, 1);
          submission.messageSent();
          await archive.close();
        });
      } finally {
        clock.close();
        await client.close();
        await sim.close();
      }
    });
  }
});

/** `performance.now()` of this process, which goes on while a computer sleeps, in which nothing else does. */
class RunningClock {
  readonly #now = performance.now.bind(performance);
  #sleptMs = 0;

  constructor() {
    performance.now = () => this.#now() + this.#sleptMs;
  }

  sleep(ms: number): void {
    this.#sleptMs += ms;
  }

  close(): void {
    performance.now = this.#now;
  }
}

describe("archive: a computer that sleeps while a job waits", () => {
  const image = { id: "ColorImageJpeg", type: "image/jpeg" };
  const video = { id: "ColorVideoMp4", type: "video/mp4" };
  const measuredBy = { id: "dock", name: "Dock 4", imageIdentifier: "i-1", images: [], videoAt: null };

  const archiving = (
    cloud: ScriptedCloud,
    body: (opened: Opened, sleep: () => void, arrive: () => Promise<void>) => Promise<void>,
  ): Promise<void> =>
    withFolder(async (root) => {
      const clock = new RunningClock();
      const store = storeIn(root);
      const archives = new Archives({ settleMs: 0 });
      const opened = await openArchive(root, undefined, { archives, store, cloud: () => cloud });
      const { database, arrivals, release } = await store.connect();
      const inbox = new Inbox(database, { nodeId: "records", runId: "run", arrivals });
      try {
        await body(
          opened,
          () => clock.sleep(8 * hourMs),
          async () => void (await inbox.add(received("905865", 0).record, 0)),
        );
      } finally {
        await release();
        await opened.close();
        clock.close();
      }
    });
  const waiting = async ({ running }: Submission): Promise<RunningJob> => {
    await until(() => running?.state === "waiting", "it waits");
    return running ?? assert.fail("it was archived before");
  };
  /** Waits for the ends of some pauses, between which is a whole round, unless the job ends before. */
  const pauses = async (running: RunningJob, count: number): Promise<void> => {
    for (let ended = 0; ended < count; ended += 1) {
      const before = running.seen.quietMs;
      await until(() => running.seen.quietMs !== before || running.hasEnded, "its pause ends");
    }
  };

  for (const isWoken of [false, true]) {
    it(`has waited for no record meanwhile${isWoken ? ", also if it is woken first" : ""}`, () =>
      archiving(new ScriptedCloud(image), async ({ runner }, sleep, arrive) => {
        const sought = { ...measured("i-1", 0).local, sentAt: new Date().toISOString() };
        const submission = await runner.submit({
          ...intentOf("", { raw: "{}", measurement: "{}\n", waitMs: 60_000, sought, measuredBy }),
          transactionId: null,
        });
        const running = await waiting(submission);
        sleep();
        if (isWoken) {
          running.wake();
        }
        await pauses(running, 2);
        await arrive();
        assert.equal((await submission.end()).manifest.transactionId, "905865");
        submission.messageSent();
      }));
  }

  it("has waited for no media meanwhile", async () => {
    const cloud = new ScriptedCloud(image);
    await archiving(cloud, async ({ runner }, sleep) => {
      const submission = await runner.submit(intentOf("1", { expect: ["video/mp4"], waitMs: 60_000 }));
      const running = await waiting(submission);
      sleep();
      await pauses(running, 2);
      cloud.have = [image, video];
      assert.equal((await submission.end()).manifest.items.length, 2);
      submission.messageSent();
    });
  });

  it("has not seen meanwhile that the cloud's list does not grow", async () => {
    const cloud = new ScriptedCloud(image);
    await archiving(cloud, async ({ runner }, sleep) => {
      const submission = await runner.submit(intentOf("1", { settleMs: 5_000, waitMs: 60_000 }));
      const running = await waiting(submission);
      sleep();
      await pauses(running, 2);
      cloud.have = [image, video];
      await until(() => running.job.items.size === 2 || running.hasEnded, "the video is stored");
      while (!running.hasEnded) {
        sleep();
        await pauses(running, 1);
      }
      assert.equal((await submission.end()).manifest.items.length, 2);
      submission.messageSent();
    });
  });

  it("has waited for no part of a sequence meanwhile", () =>
    archiving(new ScriptedCloud(), async ({ runner }, sleep) => {
      const intent = intentOf("", { origin: null, sequence: "s", waitMs: 60_000 });
      const submit = (index: number): Promise<Submission> =>
        runner.submitMedia(intent, [mediumOf(`part ${index}`)], { id: "s", index, count: 2 });
      const first = await submit(0);
      const running = await waiting(first);
      sleep();
      await pauses(running, 2);
      const second = await submit(1);
      assert.equal((await second.end()).manifest.items.length, 2);
      second.messageSent();
    }));
});
