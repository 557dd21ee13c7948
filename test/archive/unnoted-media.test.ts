import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { resultCodes } from "../../src/database/sqlite-errors.ts";
import { failureError, unansweredError } from "../../src/database/sqlite-failures.ts";
import { StoreDatabases } from "../../src/database/store-databases.ts";
import { Archives } from "../../src/jobs/archive.ts";
import type { Intent } from "../../src/vault/packages/intent.ts";
import { testThreads } from "../database/support.ts";
import { rejectsWith, systemError, watchedDisk, withFolder } from "../media/support.ts";
import { ScriptedCloud, ScriptedDevice, videoOf } from "./scripted-sources.ts";
import { storeIn } from "./store.ts";
import { intentOf, openArchive, pictureOf, readPackages, sha256Of, until, workFolders } from "./support.ts";

const pictures = ["annotated", "color"] as const;
const measured = {
  ...intentOf("1", { media: "pictures", raw: '{"errorCode":0}', measurement: "{}\n" }),
  measuredBy: { id: "dock", name: "Dock 4", imageIdentifier: "i-1", images: [...pictures], videoAt: null },
} satisfies Intent;

/** A device that has each picture once. */
class ForgetfulDevice extends ScriptedDevice {
  override async image(picture: string, imageIdentifier: string) {
    const download = await super.image(picture, imageIdentifier);
    this.pictures = this.pictures.filter((one) => one !== picture);
    return download;
  }
}

/** A cloud that has each medium once. */
class ForgetfulCloud extends ScriptedCloud {
  override async media(transactionId: string, contentId: string) {
    const download = await super.media(transactionId, contentId);
    this.have = this.have?.filter(({ id }) => id !== contentId);
    return download;
  }
}

/** What happens to a transaction that adds media to a job. */
const effects = {
  fails: () =>
    failureError("store.sqlite", { reason: "failed", resultCode: resultCodes.full, message: "full" }),
  "is executed without an answer": () => unansweredError("store.sqlite", 30_000),
} as const;

/** A database in which adding media has this effect for a number of times. */
class FailingDatabases {
  readonly #databases = new StoreDatabases({ threads: testThreads });
  readonly #effect: keyof typeof effects;
  left: number;

  constructor(effect: keyof typeof effects, left: number) {
    this.#effect = effect;
    this.left = left;
  }

  readonly open: StoreDatabases["open"] = async (location) => {
    const connection = await this.#databases.open(location);
    const { database } = connection;
    return {
      ...connection,
      database: {
        close: () => database.close(),
        transaction: async (statements) => {
          const isChosen =
            this.left > 0 && statements.some(({ sql }) => sql.startsWith("INSERT INTO job_media"));
          if (!isChosen) {
            return await database.transaction(statements);
          }
          this.left -= 1;
          if (this.#effect !== "fails") {
            await database.transaction(statements);
          }
          throw effects[this.#effect]();
        },
      },
    };
  };
}

describe("archive: media that are stored while the database cannot note them", () => {
  for (const effect of ["fails", "is executed without an answer"] as const) {
    const given = () => ({
      databases: new FailingDatabases(effect, 4),
      device: new ForgetfulDevice(...pictures),
      cloud: new ForgetfulCloud({ id: "image", type: "image/jpeg" }),
    });
    const expected = [...pictures.map((one) => `${one} of i-1`), "image"].map((one) =>
      sha256Of(pictureOf(one)),
    );

    it(`are in the package, although nobody has them any more (adding them ${effect})`, async () => {
      await withFolder(async (root) => {
        const { databases, device, cloud } = given();
        const opened = await openArchive(root, undefined, {
          store: storeIn(root, databases),
          cloud: () => cloud,
          device: () => device,
        });
        const submission = await opened.runner.submit(measured);
        const { manifest } = await submission.end();
        submission.messageSent();
        assert.equal(databases.left, 0);
        assert.deepEqual(manifest.items.map(({ sha256 }) => sha256).toSorted(), expected.toSorted());
        await opened.close();
        assert.equal((await readPackages(root)).size, 1);
        assert.deepEqual(await workFolders(root), []);
      });
    });

    it(`of a device are kept over a restart (adding them ${effect})`, async () => {
      await withFolder(async (root) => {
        const { databases, device } = given();
        databases.left = 1_000;
        device.keeps = "ORDER-1";
        const cloud = new ScriptedCloud({ id: "image", type: "image/jpeg" });
        const open = () =>
          openArchive(root, undefined, {
            store: storeIn(root, databases),
            cloud: () => cloud,
            device: () => device,
          });
        const first = await open();
        const submission = await first.runner.submit({
          ...measured,
          measuredBy: { ...measured.measuredBy, videoAt: "2026-11-02T10:00:00.000Z" },
        });
        submission.end().catch(() => undefined);
        await until(() => submission.running?.state === "trouble", "it is held up");
        await first.close();
        databases.left = 0;
        device.keeps = "another";
        const second = await open();
        const [resumed] = second.runner.resume(() => true);
        const { manifest } = (await resumed?.end()) ?? assert.fail("no job");
        resumed?.messageSent();
        assert.deepEqual([manifest.complete, manifest.missing], [true, []]);
        assert.deepEqual(
          manifest.items.map(({ sha256 }) => sha256).toSorted(),
          [...expected, sha256Of(videoOf("ORDER-1"))].toSorted(),
        );
        await second.close();
        assert.equal((await readPackages(root)).size, 1);
        assert.deepEqual(await workFolders(root), []);
      });
    });

    for (const when of ["at once", "at the next start"] as const) {
      it(`of a device are kept aside ${when} if their job is reset before it can go on (adding them ${effect})`, async () => {
        await withFolder(async (root) => {
          const { databases, device, cloud } = given();
          databases.left = 1_000;
          let broken: "aside" | "media" | undefined;
          const disk = watchedDisk((call, [path, target]) => {
            const isMedia = call === "readdir" && String(path).endsWith("media");
            const isAside = call === "rename" && String(target).includes("/aside/");
            if ((broken === "media" && isMedia) || (broken === "aside" && isAside)) {
              throw systemError("EIO");
            }
          });
          const open = () =>
            openArchive(root, undefined, {
              disk,
              store: storeIn(root, databases),
              cloud: () => cloud,
              device: () => device,
            });
          const first = await open();
          const submission = await first.runner.submit(measured);
          submission.end().catch(() => undefined);
          await until(() => submission.running?.state === "trouble", "it is held up");
          await first.close();
          const second = await open();
          broken = "media";
          const resumed = [...second.runner.resume(() => true)][0] ?? assert.fail("no job");
          await until(() => resumed.running?.state === "trouble", "it is held up again");
          broken = when === "at once" ? undefined : "aside";
          resumed.running?.drop();
          resumed.messageSent(await rejectsWith(resumed.end(), "ERR_CANCELLED", "cancelledReset"));
          await second.close();
          broken = undefined;
          const third = await open();
          const kept = third.archive.work.asidePath(resumed.running?.job.id ?? "");
          assert.deepEqual(third.findings.movedAside, when === "at once" ? [] : [kept]);
          assert.deepEqual(await workFolders(root), []);
          for (const picture of pictures) {
            const stored = await readFile(join(kept, "media", `${picture}.jpg`));
            assert.deepEqual(stored, pictureOf(`${picture} of i-1`));
          }
          await third.close();
        });
      });
    }

    it(`are kept over a deploy (adding them ${effect})`, async () => {
      await withFolder(async (root) => {
        const { databases, device, cloud } = given();
        databases.left = 1_000;
        const more = {
          archives: new Archives(),
          store: storeIn(root, databases),
          cloud: () => cloud,
          device: () => device,
        };
        // Another node has the archive open, so that the process keeps it.
        const other = await openArchive(root, undefined, { ...more, node: "other" });
        const first = await openArchive(root, undefined, more);
        const submission = await first.runner.submit(measured);
        submission.end().catch(() => undefined);
        await until(() => submission.running?.state === "trouble", "it is held up");
        await first.close();
        databases.left = 0;
        const second = await openArchive(root, undefined, more);
        const [resumed] = [...second.runner.resume(({ node }) => node === "node")];
        const { manifest } = (await resumed?.end()) ?? assert.fail("no job");
        resumed?.messageSent();
        assert.deepEqual(manifest.items.map(({ sha256 }) => sha256).toSorted(), expected.toSorted());
        await second.close();
        await other.close();
      });
    });
  }
});
