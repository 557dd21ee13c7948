import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { type FileHandle, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { stateFolderName, type ArchiveDisk } from "../../src/vault/archive-disk.ts";
import { Archives } from "../../src/jobs/archive.ts";
import { Store } from "../../src/vault/store.ts";
import { rejectsWith, systemError, watchedDisk, withFolder } from "../media/support.ts";
import { failAtEach } from "../sweep/fault-points.ts";
import { intentOf, openArchive, pictureOf, readPackages, until, workFolders } from "./support.ts";
import { simulatedCloudOfSuite } from "./simulated-cloud.ts";
import { newDatabases, storeIn } from "./store.ts";

const run = promisify(execFile);

describe("archive: a disk that is full, gone or closed", () => {
  const cloud = simulatedCloudOfSuite();
  const addVideo = (id: string, bytes = 40_000) =>
    cloud.sim.cloud.addMedia(id, { contentType: "video/mp4", generateBytes: bytes });

  for (const [code, sentence] of [
    ["ENOSPC", "fileFull"],
    ["EDQUOT", "fileFull"],
    ["EACCES", "fileDenied"],
    ["EROFS", "fileDenied"],
  ] as const) {
    for (const broken of ["file.writev", "file.write", "file.sync", "rename", "mkdir"]) {
      it(`keeps a job open while ${broken} says ${code}, and finishes it by itself when it is over`, async () => {
        await withFolder(async (root) => {
          addVideo("1");
          let isBroken = false;
          const disk = watchedDisk((call) => {
            if (isBroken && call === broken) {
              throw systemError(code);
            }
          });
          const archive = await openArchive(root, cloud.client, { disk });
          const accepted = archive.runner.submit(cloud.intentFor("1", { measurement: "{}\n" }));
          const submission = await accepted;
          isBroken = true;
          await until(() => submission.running?.trouble?.sentence === sentence, `${sentence} is told`);
          isBroken = false;
          const { manifest } = await submission.end();
          assert.equal(manifest.items.length, 1);
          submission.messageSent();
          await archive.close();
          assert.equal((await readPackages(root)).size, 1);
          assert.deepEqual(await workFolders(root), []);
        });
      });
    }
  }

  it("keeps a job of the cloud while the folder's disk is full, and takes no medium that it could not keep", async () => {
    await withFolder(async (root) => {
      let isFull = false;
      const disk = watchedDisk((call) => {
        if (isFull && (call === "file.write" || call === "file.writev")) {
          throw systemError("ENOSPC");
        }
      });
      const archive = await openArchive(root, cloud.client, { disk });
      isFull = true;
      addVideo("1");
      // The job is in the database, which is on another disk.
      const held = await archive.runner.submit(cloud.intentFor("1"));
      await until(() => held.running?.trouble?.sentence === "fileFull", "it is held up");
      const media = [
        { content: pictureOf("x"), contentType: null, contentId: null, description: null, filename: null },
      ];
      const error = await rejectsWith(
        archive.runner.submitMedia(intentOf("2", { origin: null }), media, null),
        "ERR_FILE",
        "fileFull",
      );
      assert.equal(error.details.retryable, true);
      isFull = false;
      await held.end();
      await archive.close();
      const again = await openArchive(root, cloud.client);
      assert.equal([...again.runner.resume(() => true)].length, 1, "only what was accepted is open");
      await again.close();
    });
  });

  it("ends in ERR_FILE when the disk has not come back until the job is given up", async () => {
    await withFolder(async (root) => {
      addVideo("1");
      let isFull = false;
      const disk = watchedDisk((call) => {
        if (isFull && call === "file.writev") {
          throw systemError("ENOSPC");
        }
      });
      const archive = await openArchive(root, cloud.client, { disk });
      const submission = await archive.runner.submit(cloud.intentFor("1", { giveUpMs: 1_500 }));
      isFull = true;
      await rejectsWith(submission.end(), "ERR_FILE", "fileFull");
      await archive.close();
    });
  });

  /** As in Node-RED: the database is not in the folder of the packages. */
  const storeApart = (root: string, folder: string): Store =>
    storeIn(root, newDatabases(), join(folder, "store.sqlite"));

  it("says that the folder is gone, accepts jobs meanwhile, and goes on when it is back", async () => {
    await withFolder(async (folder) => {
      const root = join(folder, "share");
      await mkdir(root);
      const archive = await openArchive(root, cloud.client, { store: storeApart(root, folder) });
      const open = await archive.runner.submit(cloud.intentFor("1", { waitMs: 60_000 }));
      await until(() => open.running?.state === "waiting", "it waits");
      await rename(root, join(folder, "away"));
      addVideo("1");
      addVideo("2");
      open.running?.wake();
      const second = await archive.runner.submit(cloud.intentFor("2"));
      for (const { running } of [open, second]) {
        await until(() => running?.trouble?.sentence === "fileNoFolder", "the folder is missed");
        assert.equal(running?.trouble?.values.path, root, "what people know is the store's folder");
      }
      await assert.rejects(readdir(root), "it is never created");
      await rename(join(folder, "away"), root);
      for (const submission of [open, second]) {
        assert.equal((await submission.end()).manifest.items.length, 1);
        submission.messageSent();
      }
      await archive.close();
      assert.equal((await readPackages(root)).size, 2);
    });
  });

  it("makes its own folders again where somebody has deleted them", async () => {
    await withFolder(async (folder) => {
      const root = join(folder, "share");
      await mkdir(root);
      const archive = await openArchive(root, cloud.client, { store: storeApart(root, folder) });
      await rm(join(root, stateFolderName), { recursive: true });
      addVideo("1");
      const submission = await archive.runner.submit(cloud.intentFor("1"));
      assert.equal((await submission.end()).manifest.items.length, 1);
      submission.messageSent();
      await archive.close();
      assert.equal((await readPackages(root)).size, 1);
    });
  });

  it("works with a real full disk, where one can be mounted", async function () {
    await withFolder(async (folder) => {
      const root = join(folder, "small");
      await mkdir(root);
      try {
        await run("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", root]);
      } catch {
        this.skip();
      }
      try {
        addVideo("1", 600_000);
        // The database is on another disk: Node-RED's own.
        const store = new Store(
          { kind: "file", file: join(folder, "store.sqlite") },
          { kind: "folder", path: root },
          newDatabases(),
        );
        const archive = await openArchive(root, cloud.client, { store });
        await writeFile(join(root, "ballast"), Buffer.alloc(600_000));
        const submission = await archive.runner.submit(cloud.intentFor("1"));
        await until(() => submission.running?.trouble?.sentence === "fileFull", "the disk is full");
        await rm(join(root, "ballast"));
        await submission.end();
        submission.messageSent();
        await archive.close();
        assert.equal((await readPackages(root)).size, 1);
      } finally {
        await run("umount", ["-l", root]);
      }
    });
  });

  it("leaves no file open when a root cannot be opened, whichever call to the disk fails", async () => {
    await failAtEach((points) =>
      withFolder(async (root) => {
        const handles: FileHandle[] = [];
        const watched = watchedDisk((call) => {
          if (points.pass(call)) {
            throw systemError("EIO");
          }
        });
        const open: ArchiveDisk["open"] = async (...given) => {
          const handle = await watched.open(...given);
          handles.push(handle);
          return handle;
        };
        const disk: ArchiveDisk = new Proxy(watched, {
          get: (real, key) => (key === "open" ? open : (Reflect.get(real, key) as unknown)),
        });
        const archives = new Archives({ disk });
        const use = await archives.open(storeIn(root)).catch(() => undefined);
        await use?.release();
        const left = handles.filter(({ fd }) => fd !== -1);
        assert.equal(left.length, 0, `call ${points.at}: ${points.reached}`);
      }),
    );
  });
});
