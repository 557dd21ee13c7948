import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import type { Submission } from "../../src/jobs/runner.ts";
import { databaseOf } from "../archive/store.ts";
import { intentOf, openArchive, pictureOf, readPackages, until } from "../archive/support.ts";
import { simulatedCloudOfSuite } from "../archive/simulated-cloud.ts";
import { rejectsWith, systemError, watchedDisk, withFolder } from "../media/support.ts";
import { WallClock } from "../model-based/wall-clock.ts";
import { rowsIn } from "../support/rows.ts";

const flips = 60;
const dayMs = 24 * 3_600_000;
const medium = (text: string) => ({
  content: pictureOf(text),
  contentType: "image/jpeg",
  contentId: null,
  description: null,
  filename: null,
});

/** All files below a folder that have this content, wherever they are. */
async function findContent(folder: string, content: Buffer): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  const found = await Promise.all(
    files.map(async (file) => ((await readFile(file)).equals(content) ? [file] : [])),
  );
  return found.flat();
}

/** Leaves a job of a message open, as a killed process does, with its medium in the work folder. */
async function leaveOpen(root: string, text: string): Promise<void> {
  const archive = await openArchive(root, undefined);
  const part = { id: "s", index: 0, count: 2 };
  const intent = intentOf("m", { origin: null, sequence: "s", waitMs: 60_000 });
  const submission = await archive.runner.submitMedia(intent, [medium(text)], part);
  submission.end().catch(() => undefined);
  await until(() => [...archive.runner.jobs][0]?.state === "waiting", "it waits");
  await archive.close();
}

describe("attacks on the archive's files and database", () => {
  const cloud = simulatedCloudOfSuite();
  it("A2: the largest answer that is taken does not keep the next start from finishing any job", async () => {
    await withFolder(async (root) => {
      const raw = JSON.stringify({ errorCode: 0, numbers: Array.from({ length: 600_000 }, () => 1.5) });
      const archive = await openArchive(root, cloud.client);
      const ids = Array.from({ length: 5 }, (_, index) => `t${index}`);
      for (const id of ids) {
        const submission = await archive.runner.submit(
          cloud.intentFor(id, { raw, waitMs: 60_000, keep: { id } }),
        );
        submission.end().catch(() => undefined);
      }
      await archive.close();
      ids.forEach((id) => cloud.sim.cloud.addMedia(id, { contentType: "image/jpeg", bytes: pictureOf(id) }));
      const next = await openArchive(root, cloud.client);
      for (const submission of next.runner.resume(() => true)) {
        const { manifest } = await submission.end();
        assert.equal(manifest.raw?.bytes, Buffer.byteLength(raw));
        submission.messageSent();
      }
      await next.close();
      assert.equal((await readPackages(root)).size, ids.length);
    });
  });

  it("A4: whichever bit of the database is flipped, the only copy of a medium is never deleted", async () => {
    await withFolder(async (folder) => {
      const pristine = join(folder, "pristine");
      await mkdir(pristine);
      await leaveOpen(pristine, "the only copy");
      const whole = await readFile(databaseOf(pristine));
      const [original = ""] = await findContent(pristine, pictureOf("the only copy"));
      const place = original.slice(pristine.length + 1);
      // Most of a small database is empty pages: what matters is where something stands.
      const used = [...whole.keys()].filter((at) => whole[at] !== 0);
      const outcomes = new Map<string, number>();
      for (let round = 0; round < flips; round += 1) {
        const root = join(folder, "root");
        await mkdir(root);
        // One is read while the other one is worked on.
        await rename(join(pristine, ".dimensioner-archive"), join(root, ".dimensioner-archive"));
        const at = used[Math.floor((round * used.length) / flips)] ?? 0;
        const flipped = Buffer.from(whole);
        flipped[at] = (flipped[at] ?? 0) ^ (1 << (round % 8));
        await rm(`${databaseOf(root)}-wal`, { force: true });
        await rm(`${databaseOf(root)}-shm`, { force: true });
        await writeFile(databaseOf(root), flipped);
        const outcome = await open(root);
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        const found = await findContent(root, pictureOf("the only copy"));
        assert.equal(found.length, 1, `byte ${at}, bit ${round % 8}: ${outcome}`);
        await mkdir(dirname(join(pristine, place)), { recursive: true });
        await rename(found[0] ?? "", join(pristine, place));
        await rm(root, { recursive: true });
      }
      assert.ok((outcomes.get("ERR_STORE") ?? 0) > 0, JSON.stringify([...outcomes]));
    });

    async function open(root: string): Promise<string> {
      try {
        const archive = await openArchive(root, cloud.client);
        const resumed = [...archive.runner.resume(() => true)];
        resumed.forEach((submission) => void submission.end().catch(() => undefined));
        const what = resumed.length > 0 ? "resumed" : "told";
        await archive.close();
        return what;
      } catch (error) {
        assert.ok(isDimensionerError(error), String(error));
        return error.code;
      }
    }
  });

  for (const [what, place] of [
    ["the state folder", []],
    ["the folder of all work", ["work"]],
    ["the store's work folder", ["work", "*"]],
    ["a job's work folder", ["work", "*", "*"]],
    ["a job's media", ["work", "*", "*", "media"]],
    ["a job's unfinished package", ["work", "*", "*", "package"]],
  ] as const) {
    it(`A9: ${what} replaced by a link deletes nothing of what the link points to`, async () => {
      await withFolder(async (folder) => {
        const [root, outside] = [join(folder, "root"), join(folder, "outside")];
        await mkdir(root);
        await mkdir(join(outside, "inner"), { recursive: true });
        await writeFile(join(outside, "photo.jpg"), "mine");
        await writeFile(join(outside, "inner", "photo.jpg"), "mine too");
        await leaveOpen(root, "evidence");
        const database = databaseOf(root);
        const names: string[] = [];
        for (const name of place) {
          const [first = ""] =
            name === "*" ? await readdir(join(root, ".dimensioner-archive", ...names)) : [name];
          names.push(first);
        }
        const path = join(root, ".dimensioner-archive", ...names);
        if (names.length > 0) {
          await rm(path, { recursive: true, force: true });
          await symlink(outside, path);
        } else {
          await rename(path, join(folder, "away"));
          await symlink(outside, path);
          await rename(join(folder, "away", "store.sqlite"), join(outside, "store.sqlite"));
        }
        const opened = await openArchive(root, undefined).catch((error: unknown) => error);
        if (opened instanceof Error) {
          assert.ok(isDimensionerError(opened) && opened.code === "ERR_FILE", String(opened));
        } else if (typeof opened === "object" && opened !== null && "runner" in opened) {
          const { runner, close } = opened as Awaited<ReturnType<typeof openArchive>>;
          for (const submission of runner.resume(() => true)) {
            submission.end().catch(() => undefined);
            await submission.running?.firstTry;
            submission.running?.drop();
            submission.messageSent();
          }
          await close();
        }
        assert.equal(await readFile(join(outside, "photo.jpg"), "utf8"), "mine", database);
        assert.equal(await readFile(join(outside, "inner", "photo.jpg"), "utf8"), "mine too");
      });
    });
  }

  it("A12: a disk that stays full is not filled by the attempts themselves", async () => {
    await withFolder(async (root) => {
      cloud.sim.cloud.addMedia("1", { contentType: "video/mp4", generateBytes: 50_000 });
      const size = async (): Promise<number> => {
        const entries = await readdir(root, { recursive: true, withFileTypes: true });
        const files = entries.filter((one) => one.isFile() && !one.name.includes("sqlite"));
        const sizes = await Promise.all(files.map(({ parentPath, name }) => stat(join(parentPath, name))));
        return sizes.reduce((sum, one) => sum + one.size, 0);
      };
      let failures = 0;
      const measured: Promise<number>[] = [];
      const disk = watchedDisk(async (call, [path]) => {
        if (call === "open" && String(path).endsWith("manifest.json")) {
          failures += 1;
          if (failures === 2 || failures === 12) {
            // The job waits here, so that no file comes or goes while their sizes are added up.
            const measuring = size();
            measured.push(measuring);
            await measuring;
          }
          throw systemError("ENOSPC");
        }
      });
      const archive = await openArchive(root, cloud.client, { disk });
      const submission = await archive.runner.submit(cloud.intentFor("1", { raw: "{}" }));
      submission.end().catch(() => undefined);
      await until(() => measured.length === 2, "it has been tried twice, and ten times more");
      const [before = 0, after = 0] = await Promise.all(measured);
      assert.ok(before > 0 && Math.abs(after - before) < 100, `${before} bytes, then ${after} bytes`);
      await archive.close();
    });
  });

  it("A14: a job that was accepted by a clock 400 days behind is not given up after a restart", async () => {
    const clock = new WallClock();
    try {
      await withFolder(async (root) => {
        clock.jump(-400 * dayMs);
        const archive = await openArchive(root, cloud.client);
        const first = await archive.runner.submit(
          cloud.intentFor("1", { giveUpMs: 3 * dayMs, waitMs: 60_000 }),
        );
        first.end().catch(() => undefined);
        await until(() => first.running?.state === "waiting", "it waits");
        await archive.close();
        clock.reset();
        cloud.sim.faults.add({ surface: "cloud", times: 1, fault: { kind: "status", status: 401 } });
        cloud.sim.cloud.addMedia("1", { contentType: "image/jpeg", bytes: pictureOf("1") });
        const next = await openArchive(root, cloud.client);
        const [submission] = [...next.runner.resume(() => true)];
        assert.equal((await submission?.end())?.manifest.items.length, 1);
        submission?.messageSent();
        await next.close();
      });
    } finally {
      clock.close();
    }
  });

  it("a job is given up after the time that it was open, over restarts too", async () => {
    await withFolder(async (root) => {
      cloud.sim.faults.add({ surface: "cloud", times: 0, fault: { kind: "status", status: 401 } });
      const openMs = ({ running }: Submission): number => performance.now() - (running?.job.sinceMs ?? 0);
      let next = await openArchive(root, cloud.client);
      let submission: Submission | undefined;
      // On a computer that stands still, the job can be given up before the restart: again with more time for it.
      for (let giveUpMs = 3_000; submission === undefined; giveUpMs *= 5) {
        const first = await next.runner.submit(cloud.intentFor("1", { giveUpMs }));
        first.end().catch(() => undefined);
        // A restart knows what was written when a try had failed.
        await until(() => storedOpenMs(databaseOf(root)) > 500, "it has been open for a while");
        await next.close();
        next = await openArchive(root, cloud.client);
        [submission] = [...next.runner.resume(() => true)];
      }
      assert.ok(openMs(submission) > 500, `${openMs(submission)} ms`);
      await rejectsWith(submission.end(), "ERR_UNAUTHORIZED", "unauthorized");
      submission.messageSent();
      await next.close();
    });
  });
});

/** How long the only job of a store has been open, as its database says. */
function storedOpenMs(file: string): number {
  return Number(rowsIn(file, "SELECT max(open_ms) AS ms FROM jobs WHERE state <> 'failed'")[0]?.["ms"]);
}
