import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Archives } from "../../src/jobs/archive.ts";
import type { ArchiveWarning, Submission } from "../../src/jobs/runner.ts";
import { missingMedia } from "../../src/cloud/expected-media.ts";
import { ArchiveSession } from "../../src/runtime/archive/session.ts";
import { Store } from "../../src/vault/store.ts";
import { intentOf, openArchive, pictureOf, until } from "../archive/support.ts";
import { simulatedCloudOfSuite } from "../archive/simulated-cloud.ts";
import { rejectsWith, withFolder } from "../media/support.ts";
import { newDatabases, storeIn } from "../archive/store.ts";
import { TestFlow } from "../support/flow.ts";
import { rowsIn, storeDatabase } from "../support/rows.ts";
import { storeNode } from "../support/store-node.ts";

describe("evidence that is damaged, contradicts itself or accumulates", () => {
  const cloud = simulatedCloudOfSuite();
  let warnings: ArchiveWarning[];

  beforeEach(() => {
    warnings = [];
  });
  const addVideo = (id: string) =>
    cloud.sim.cloud.addMedia(id, { contentType: "video/mp4", generateBytes: 9_000 });
  const onWarning = (warning: ArchiveWarning): void => void warnings.push(warning);
  const end = async (submission: Submission) => {
    const archived = await submission.end();
    submission.messageSent();
    return archived;
  };
  const picture = (text: string) => ({
    content: pictureOf(text),
    contentType: null,
    contentId: null,
    description: null,
    filename: null,
  });

  /** Turns one bit around; size and times stay plausible. */
  async function flipBit(path: string): Promise<void> {
    const bytes = await readFile(path);
    bytes[bytes.length - 3] = (bytes.at(-3) ?? 0) ^ 1;
    await writeFile(path, bytes);
  }

  for (const [what, fileOf] of [
    ["a medium", ({ items }) => items[0]?.path],
    ["the exact answer", ({ raw }) => raw?.path],
    ["the measurement", ({ measurement }) => measurement?.path],
    ["the manifest", () => "manifest.json"],
  ] as const satisfies readonly (readonly [
    string,
    (manifest: Awaited<ReturnType<Submission["end"]>>["manifest"]) => string | undefined,
  ])[]) {
    it(`a package with a flipped bit in ${what} is never "already archived": a whole one is made beside it`, async () => {
      await withFolder(async (root) => {
        addVideo("1");
        const archive = await openArchive(root, cloud.client, { onWarning });
        const answer = { raw: '{"errorCode":0}', measurement: '{"ok":true}' };
        const submits = [
          () => archive.runner.submit(cloud.intentFor("1", answer)),
          () => archive.runner.submitMedia(intentOf("m", { origin: null, ...answer }), [picture("m")], null),
        ];
        for (const submit of submits) {
          const first = await end(await submit());
          assert.equal((await end(await submit())).wasThere, true);
          assert.equal(warnings.length, 0);
          const damaged = join(first.folder, fileOf(first.manifest) ?? assert.fail());
          await flipBit(damaged);
          const before = await readFile(damaged);
          const again = await end(await submit());
          assert.deepEqual([again.wasThere, again.path], [false, `${first.path} (1)`]);
          assert.deepEqual(warnings, [{ warning: "damagedPackage", values: { path: first.path } }]);
          assert.deepEqual(await readFile(damaged), before, "it is left as it is");
          warnings.length = 0;
          assert.deepEqual([(await end(await submit())).path, warnings.length], [again.path, 0]);
        }
        await archive.close();
      });
    });
  }

  it("another measurement under the same id gets a package of its own, and a warning", async () => {
    await withFolder(async (root) => {
      addVideo("1");
      const archive = await openArchive(root, cloud.client, { onWarning });
      const submit = async (more: Parameters<typeof intentOf>[1]) =>
        end(await archive.runner.submit(cloud.intentFor("1", more)));
      const first = await submit({ raw: '{"length":1}', measurement: "{}" });
      assert.equal(warnings.length, 0);
      const second = await submit({ raw: '{"length":2}', measurement: "{}" });
      assert.deepEqual([second.wasThere, second.manifest.items.length], [false, 1]);
      assert.equal(await readFile(join(second.folder, "measurement.raw"), "utf8"), '{"length":2}');
      assert.deepEqual(warnings, [{ warning: "otherMeasurement", values: { id: "1" } }]);
      for (const [more, path] of [
        [{ raw: '{"length":1}' }, first.path],
        [{ raw: '{"length":2}' }, second.path],
        [{ measurement: "as the webhook says it" }, first.path],
        [{}, first.path],
      ] as const) {
        const again = await submit(more);
        assert.deepEqual([again.wasThere, again.path], [true, path]);
      }
      await archive.close();
    });
  });

  it("two measurements of one id at the same moment, and over a restart, are both kept", async () => {
    await withFolder(async (root) => {
      const before = await openArchive(root, cloud.client, { onWarning });
      const waiting = cloud.intentFor("1", { raw: "one", waitMs: 60_000 });
      (await before.runner.submit(waiting)).end().catch(() => undefined);
      await before.close();
      addVideo("1");
      const after = await openArchive(root, cloud.client, { onWarning });
      const [two, three] = await Promise.all(
        ["two", "three"].map(async (raw) => end(await after.runner.submit(cloud.intentFor("1", { raw })))),
      );
      const [resumed] = [...after.runner.resume(() => true)];
      const one = await end(resumed ?? assert.fail());
      assert.equal(new Set([one.path, two?.path, three?.path]).size, 3);
      assert.deepEqual([one.wasThere, two?.wasThere, three?.wasThere], [false, false, false]);
      await after.close();
    });
  });

  it("open jobs are bounded in number: one more ends in ERR_QUEUE_FULL, until one is done", async () => {
    await withFolder(async (root) => {
      const archives = new Archives({ limits: { jobs: 3, bytes: 1_000_000 } });
      const archive = await openArchive(root, cloud.client, { archives });
      const submit = (id: string) => archive.runner.submit(cloud.intentFor(id, { waitMs: 60_000 }));
      const open = await Promise.all(["1", "2", "3"].map(submit));
      open.forEach((submission) => void submission.end().catch(() => undefined));
      const error = await rejectsWith(submit("4"), "ERR_QUEUE_FULL", "archiveFull");
      assert.match(error.message, /limit: 3/);
      assert.equal(error.details.retryable, true);
      await rejectsWith(
        archive.runner.submitMedia(intentOf("m", { origin: null }), [picture("m")], null),
        "ERR_QUEUE_FULL",
        "archiveFull",
      );
      addVideo("2");
      open[1]?.running?.wake();
      await end(open[1] ?? assert.fail());
      await until(
        () =>
          submit("4").then(
            (submission) => {
              submission.end().catch(() => undefined);
              return true;
            },
            () => false,
          ),
        "there is room again",
      );
      await archive.close();
      const again = await openArchive(root, cloud.client, { archives });
      await rejectsWith(again.runner.submit(cloud.intentFor("5")), "ERR_QUEUE_FULL", "archiveFull");
      await again.close();
    });
  });

  it("open jobs are bounded in bytes", async () => {
    await withFolder(async (root) => {
      const archives = new Archives({ limits: { jobs: 100, bytes: 1_000_000 } });
      const archive = await openArchive(root, cloud.client, { archives });
      const submit = (id: string) =>
        archive.runner.submit(cloud.intentFor(id, { waitMs: 60_000, raw: "x".repeat(200_000) }));
      for (const id of ["1", "2"]) {
        (await submit(id)).end().catch(() => undefined);
      }
      const error = await rejectsWith(submit("3"), "ERR_QUEUE_FULL", "archiveFull");
      assert.match(error.message, /1 MB/);
      await archive.close();
    });
  });

  it("after a restart, 60 open jobs ask the cloud again 20 times a second at most, and none is forgotten", async () => {
    await withFolder(async (root) => {
      const ids = Array.from({ length: 60 }, (_, index) => `t${index}`);
      const before = await openArchive(root, cloud.client);
      for (const id of ids) {
        (await before.runner.submit(cloud.intentFor(id, { waitMs: 600_000 }))).end().catch(() => undefined);
      }
      await before.close();
      const asked = (): string[] =>
        cloud.sim.requests.flatMap(({ path }) => /transactionmedia\/(\w+)/.exec(path)?.[1] ?? []);
      const countBefore = asked().length;
      let resumed = 0;
      const session = new ArchiveSession(new Archives(), {
        store: () => storeIn(root),
        node: "node",
        concurrency: () => 2,
        cloud: () => cloud.client,
        device: () => assert.fail("no device was given"),
        findMissing: missingMedia,
        isMine: () => true,
        onResumed: async (submission) => {
          resumed += 1;
          submission.end().catch(() => undefined);
        },
        onResumeError: (error) => assert.fail(String(error)),
        onAway: () => undefined,
        onFindings: (unknown) =>
          assert.deepEqual(unknown, { movedAside: [], damagedJobs: [], elsewhere: [], unknownMedia: null }),
      });
      try {
        const startedAt = performance.now();
        await session.open();
        assert.ok(resumed <= 2, `${resumed} at once`);
        const seen = new Set<string>();
        await until(() => {
          const all = asked().slice(countBefore);
          all.forEach((id) => seen.add(id));
          const seconds = (performance.now() - startedAt) / 1_000;
          const again = all.length - seen.size;
          assert.ok(again <= 20 * seconds + 24, `${again} after ${seconds.toFixed(1)} s`);
          return seen.size === ids.length && again > 40;
        }, "all have been asked for");
      } finally {
        await session.close();
      }
    });
  });

  it("a reset after a restart drops also the jobs whose turn has not come, even before the archive is open", async () => {
    await withFolder(async (root) => {
      const userDir = await mkdtemp(join(tmpdir(), "reset-after-restart-"));
      const file = storeDatabase(userDir, "store");
      const store = (): Store =>
        new Store({ kind: "file", file }, { kind: "folder", path: root }, newDatabases());
      const before = await openArchive(root, cloud.client, { node: "archive", store: store() });
      for (let index = 0; index < 12; index += 1) {
        const intent = cloud.intentFor(`t${index}`, { waitMs: 600_000 });
        (await before.runner.submit(intent)).end().catch(() => undefined);
      }
      await before.close();
      const flow = await TestFlow.start(
        [
          { id: "cloud", type: "dimensioner-cloud", baseUrl: cloud.sim.cloud.origin, timeout: 60 },
          storeNode(root, "store"),
          { id: "archive", z: "tab", type: "dimensioner-archive", cloud: "cloud", store: "store", settle: 0 },
        ],
        { cloud: { token: "simulator" } },
        { userDir },
      );
      try {
        await flow.run("archive", { reset: true });
        await until(() => flow.ends.length === 13, "all have ended");
        const codes = flow.ends.flatMap(({ error }) => error?.code ?? []);
        assert.deepEqual(
          codes,
          Array.from({ length: 12 }, () => "ERR_CANCELLED"),
        );
        await until(() => countOpen(file) === 0, "all are closed in the database");
      } finally {
        await flow.stop();
      }
    });
  });

  it("a held-up job says why in the log, once, and that it goes on", async () => {
    await withFolder(async (root) => {
      cloud.sim.faults.add({ surface: "cloud", times: 1, fault: { kind: "status", status: 401 } });
      addVideo("1");
      const flow = await TestFlow.start(
        [
          { id: "cloud", type: "dimensioner-cloud", baseUrl: cloud.sim.cloud.origin, timeout: 60 },
          storeNode(root, "store"),
          { id: "archive", z: "tab", type: "dimensioner-archive", cloud: "cloud", store: "store", settle: 0 },
        ],
        { cloud: { token: "simulator" } },
      );
      try {
        const node = flow.node("archive");
        const lines: string[] = [];
        node.warn = (text: unknown) => void lines.push(`warn ${String(text)}`);
        node.log = (text: unknown) => void lines.push(`log ${String(text)}`);
        const { error } = await flow.run("archive", { transactionId: "1" });
        assert.equal(error, undefined);
        await delay(50);
        assert.equal(lines.length, 2, lines.join("\n"));
        assert.match(lines[0] ?? "", /^warn Archive jobs are delayed.*\(open: 1\)\. .*token/);
        assert.match(lines[1] ?? "", /^log Archive jobs continue after a delay of 1 min/);
      } finally {
        await flow.stop();
      }
    });
  });

  it("an archive that could not be opened says in the log that it goes on", async () => {
    await withFolder(async (root) => {
      const flow = await TestFlow.start([
        storeNode(join(root, "gone"), "store"),
        {
          id: "archive",
          z: "tab",
          type: "dimensioner-archive",
          origin: null,
          store: "store",
        },
      ]);
      try {
        const status = await flow.untilStatus("archive", ({ fill }) => fill === "red");
        assert.equal(status.text, "folder missing");
        const lines: string[] = [];
        flow.node("archive").log = (text: unknown) => void lines.push(String(text));
        await mkdir(join(root, "gone"));
        await until(() => lines.length > 0, "it is opened");
        assert.match(lines[0] ?? "", /^Archive jobs continue after a delay of 1 min/);
      } finally {
        await flow.stop();
      }
    });
  });
});

/** How many jobs a store's database has open, seen from outside. */
function countOpen(file: string): number {
  return rowsIn(file, "SELECT job_id FROM jobs WHERE state NOT IN ('reported', 'failed')").length;
}
