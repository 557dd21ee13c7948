import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Intent } from "../../src/vault/packages/intent.ts";
import { rejectsWith, systemError, watchedDisk } from "../media/support.ts";
import { useCredentials } from "../support/s3-servers.ts";
import { ScriptedCloud, ScriptedDevice } from "./scripted-sources.ts";
import { storeKinds, withPlace, type OpenedStore, type TestPlace } from "./store-places.ts";
import { intentOf, mediumOf, openArchive, pictureOf, sha256Of, until, type Opened } from "./support.ts";

const jpeg = "image/jpeg";
const picture = "annotated";
const stored = pictureOf(`${picture} of i-1`);
const waits = { waitMs: 600_000, giveUpMs: 3_600_000 };
const measured = {
  ...intentOf("1", { expect: [jpeg, "video/mp4"], ...waits, onIncomplete: "keep" }),
  measuredBy: { id: "dock", name: "Dock 4", imageIdentifier: "i-1", images: [picture], videoAt: null },
} satisfies Intent;
const pictures = { ...measured, media: "pictures", expect: [], waitMs: 0 } satisfies Intent;

const denied = { status: 403, code: "AccessDenied" } as const;

/** A device that tells when it is asked for a picture. */
class WatchedDevice extends ScriptedDevice {
  onImage: () => Promise<void> = async () => undefined;

  override async image(wanted: string, imageIdentifier: string) {
    await this.onImage();
    return await super.image(wanted, imageIdentifier);
  }
}

interface Given extends Opened, Pick<OpenedStore, "query"> {
  readonly place: TestPlace;
  readonly cloud: ScriptedCloud;
  readonly device: WatchedDevice;
  /** To be set: what happens before a package gets its media, and before it gets its name. True lets the latter fail. */
  readonly placing: { sealing: () => Promise<void>; before: () => Promise<boolean> };
}

for (const kind of storeKinds) {
  describe(`archive: a database that lacks the last seconds while its packages in a ${kind.files} are made (${kind.database})`, () => {
    useCredentials();

    const withOpen = (act: (given: Given) => Promise<void>): Promise<void> =>
      withPlace(kind, async (place) => {
        const [cloud, device] = [new ScriptedCloud(), new WatchedDevice(picture)];
        const { store, query } = await place.open();
        const placing = { sealing: async () => undefined, before: async () => false };
        const disk = watchedDisk(async (call, [, target]) => {
          if (call === "rename" && String(target).includes("/package/")) {
            await placing.sealing();
          }
          const isPackage = call === "rename" && !String(target).includes("/.dimensioner-archive/");
          if (isPackage && (await placing.before())) {
            throw systemError("EIO");
          }
        });
        if (place.stub !== undefined) {
          place.stub.fault = async ({ method, key }) => {
            const isPackage = method === "PUT" && key.endsWith("/manifest.json");
            return isPackage && (await placing.before()) ? denied : undefined;
          };
        }
        const sources = { cloud: () => cloud, device: () => device };
        const opened = await openArchive("", undefined, { store, disk, ...sources });
        await act({ ...opened, query, place, cloud, device, placing });
      });

    async function shasOf({ place, close }: Given): Promise<string[]> {
      await close();
      const [manifest, ...more] = [...(await place.packages()).values()];
      assert.ok(manifest !== undefined && more.length === 0);
      return manifest.items.map(({ sha256 }) => sha256).toSorted();
    }

    /** The media of a job that are aside, on the disk or in the bucket. */
    async function keptAside({ archive, place }: Given, job: string): Promise<Buffer[]> {
      const { vault: where } = place;
      const withPackages =
        where.kind === "folder" ? [join(where.path, ".dimensioner-archive", "aside", job)] : [];
      const folders = await Promise.all(
        [archive.work.asidePath(job), ...withPackages].map((folder) =>
          readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []),
        ),
      );
      const entries = folders.flat();
      const files = entries.filter((entry) => entry.isFile());
      const onDisk = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name))));
      const inBucket = [...(place.stub?.objects ?? [])].filter(([key]) => key.includes("/aside/"));
      return [...onDisk, ...inBucket.map(([, { body }]) => body)];
    }

    it("has the picture of a device in its package of which the database does not know any more", () =>
      withOpen(async (given) => {
        const { runner, query, cloud, device } = given;
        const submission = await runner.submit(measured);
        await until(() => submission.running?.state === "waiting", "it waits for its video");
        await query("DELETE FROM job_media");
        device.pictures = [];
        cloud.have = [{ id: "ColorVideoMp4", type: "video/mp4" }];
        submission.running?.wake();
        const { manifest, complete } = await submission.end();
        submission.messageSent();
        assert.equal(complete, true);
        assert.deepEqual(
          manifest.items.map(({ source }) => source),
          ["cloud", "device"],
        );
        assert.ok((await shasOf(given)).includes(sha256Of(stored)));
      }));

    it("has the parts of a sequence in their package of which the database does not know any more", () =>
      withOpen(async (given) => {
        const { runner, query } = given;
        const intent = intentOf("1", { origin: null, sequence: "s", ...waits });
        const submit = (index: number) =>
          runner.submitMedia(intent, [mediumOf(`part ${index}`)], { id: "s", index, count: 2 });
        const first = await submit(0);
        await until(() => first.running?.state === "waiting", "it waits for the other part");
        await query("DELETE FROM job_media");
        const last = await submit(1);
        await last.end();
        last.messageSent();
        const parts = [0, 1].map((index) => sha256Of(pictureOf(`part ${index}`)));
        assert.deepEqual(await shasOf(given), parts.toSorted());
      }));

    for (const what of ["the picture", "a part"] as const) {
      it(`keeps ${what} of a job aside that the database does not know any more`, () =>
        withOpen(async (given) => {
          const { runner, query, device, close } = given;
          device.onImage = async () => void (await query("DELETE FROM jobs"));
          const sequence = intentOf("1", { origin: null, sequence: "s", ...waits });
          const part = { id: "s", index: 0, count: 2 };
          const submission =
            what === "a part"
              ? await runner.submitMedia(sequence, [mediumOf("part")], part)
              : await runner.submit(pictures);
          const { running } = submission;
          assert.ok(running !== undefined);
          if (what === "a part") {
            await until(() => running.state === "waiting", "it waits for the other part");
            await query("DELETE FROM jobs");
            const last = { ...part, index: 1 };
            await rejectsWith(
              runner.submitMedia(sequence, [mediumOf("last")], last),
              "ERR_STORE",
              "jobUnknown",
            );
            running.drop();
            submission.messageSent(await rejectsWith(submission.end(), "ERR_CANCELLED", "cancelledReset"));
          } else {
            submission.messageSent(await rejectsWith(submission.end(), "ERR_STORE", "jobUnknown"));
          }
          await close();
          const kept = await keptAside(given, running.job.id);
          assert.ok(kept.some((one) => one.equals(what === "a part" ? pictureOf("part") : stored)));
        }));
    }

    for (const when of kind.files === "bucket" ? ["before it is uploaded", "while it is uploaded"] : []) {
      it(`keeps the picture of a job aside of which the database knows nothing any more ${when}`, () =>
        withOpen(async (given) => {
          const { runner, place, query, placing, close } = given;
          assert.ok(place.stub !== undefined);
          if (when === "before it is uploaded") {
            placing.sealing = async () => void (await query("DELETE FROM jobs"));
          }
          place.stub.fault = async ({ method, key }) => {
            if (method === "PUT" && key.endsWith(".jpg") && !key.includes("/.dimensioner-archive/")) {
              await query("DELETE FROM jobs");
            }
            return undefined;
          };
          const submission = await runner.submit(pictures);
          const { running } = submission;
          assert.ok(running !== undefined);
          submission.messageSent(await rejectsWith(submission.end(), "ERR_STORE", "jobUnknown"));
          await close();
          assert.ok((await keptAside(given, running.job.id)).some((one) => one.equals(stored)));
        }));
    }

    it("makes the package once more, and not again and again, if the database does not know that it is sealed", () =>
      withOpen(async (given) => {
        const { runner, query, placing } = given;
        let placed = 0;
        placing.before = async () => {
          placed += 1;
          if (placed === 1) {
            await query("UPDATE jobs SET state = 'collecting' WHERE state IN ('accepted', 'sealing')");
          } else if (placed > 2) {
            submission.running?.drop();
          }
          return placed > 2;
        };
        const message = intentOf("1", { origin: null });
        const submission = await runner.submitMedia(message, [mediumOf("1")], null);
        const { path } = await submission.end();
        submission.messageSent();
        assert.deepEqual(await shasOf(given), [sha256Of(pictureOf("1"))]);
        const jobs = await query("SELECT state, location FROM jobs");
        // Where one process has them, the row of a job goes with its message.
        const ended = kind.database === "SQLite" ? [] : [{ state: "reported", location: path }];
        assert.deepEqual(jobs, ended);
      }));
  });
}
