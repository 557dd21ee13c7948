import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, rmdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "../../src/database/database.ts";
import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import { Archives } from "../../src/jobs/archive.ts";
import type { RunningJob } from "../../src/jobs/job.ts";
import type { Submission } from "../../src/jobs/runner.ts";
import { type ArchiveDisk, plainDisk } from "../../src/vault/archive-disk.ts";
import { verifyArchive } from "../../src/vault/upkeep/upkeep.ts";
import { FolderVault } from "../../src/vault/folder/folder-vault.ts";
import { MountedFolder } from "../../src/vault/folder/mounted-folder.ts";
import { Store } from "../../src/vault/store.ts";
import { withFolder } from "../media/support.ts";
import { otherDisk } from "../support/other-disk.ts";
import { simulatedCloudOfSuite } from "./simulated-cloud.ts";
import { newDatabases } from "./store.ts";
import { type Opened, intentOf, mediumOf, openArchive, pictureOf, readPackages, until } from "./support.ts";

/** A folder of packages on another disk than Node-RED, which is away and comes back. */
class Share {
  readonly root: string;
  readonly spool: string;
  readonly database: string;
  readonly #away: string;
  readonly #opened: Opened[] = [];

  constructor(disk: string, home: string) {
    this.root = join(disk, "packages");
    this.#away = join(disk, "away");
    this.spool = join(home, "store-work");
    this.database = join(home, "store.sqlite");
  }

  /** As a process that has just started opens it. */
  async open(
    cloud: { readonly client: Parameters<typeof openArchive>[1] },
    archives = new Archives(),
    more: Partial<Pick<Store, "spoolBytes">> = {},
  ): Promise<Opened> {
    const files = { kind: "folder", path: this.root, workFolder: this.spool } as const;
    const store = new Store({ kind: "file", file: this.database }, files, newDatabases(), more);
    const opened = await openArchive("", cloud.client, { store, archives });
    this.#opened.push(opened);
    return opened;
  }

  /** Ends what a failed test has left open. */
  async close(): Promise<void> {
    await Promise.all(this.#opened.map((one) => one.close()));
  }

  /** Nothing is left at its path, or the empty folder at which it was mounted. */
  async unmount(leaves: "folder" | "nothing" = "nothing"): Promise<void> {
    await rename(this.root, this.#away);
    if (leaves === "folder") {
      await mkdir(this.root);
    }
  }

  async mount(): Promise<void> {
    if (existsSync(this.root)) {
      // Fails if something was written there meanwhile.
      await rmdir(this.root);
    }
    await rename(this.#away, this.root);
  }

  /** The files of jobs in the spool. */
  async spooled(): Promise<string[]> {
    const files = await readdir(this.spool, { recursive: true, withFileTypes: true });
    return files.filter((one) => one.isFile()).map(({ name }) => name);
  }

  async check(transactions: readonly string[]): Promise<void> {
    const packages = [...(await readPackages(this.root)).values()];
    assert.deepEqual(packages.map(({ transactionId }) => transactionId).sort(), [...transactions].sort());
    assert.ok(packages.every(({ complete }) => complete));
    assert.deepEqual(await this.spooled(), []);
    const { verdict } = await verifyArchive(this.root, { database: this.database });
    assert.equal(verdict, "ok");
  }
}

async function withShare(body: (share: Share) => Promise<void>): Promise<void> {
  await withFolder(async (home) => {
    const disk = await mkdtemp(join(otherDisk() ?? assert.fail(), "dimensioner-test-"));
    try {
      const share = new Share(disk, home);
      await mkdir(share.root);
      try {
        await body(share);
      } finally {
        await share.close();
      }
    } finally {
      await rm(disk, { recursive: true });
    }
  });
}

function runningOf({ running }: Submission): RunningJob {
  return running ?? assert.fail("no job");
}

async function untilHeldUp(submission: Submission, sentence: string): Promise<RunningJob> {
  const running = runningOf(submission);
  await until(
    () => running.isUndelivered && running.trouble?.sentence === sentence,
    `held up by ${sentence}, not ${running.state} ${running.trouble?.sentence} ${running.isUndelivered}`,
    8_000,
  );
  return running;
}

async function finish(submission: Submission): Promise<void> {
  await submission.end();
  submission.messageSent();
}

describe("archive: a folder of packages on another disk", function () {
  const cloud = simulatedCloudOfSuite();

  before(function () {
    if (otherDisk() === undefined) {
      // It cannot be tried here: there is only one file system that every user can write to.
      this.skip();
    }
  });

  function submit(opened: Opened, id: string): Promise<Submission> {
    cloud.sim.cloud.addMedia(id, { contentType: "image/jpeg", bytes: pictureOf(id) });
    return opened.runner.submit(cloud.intentFor(id));
  }

  it("collects on its own disk, and delivers", async () => {
    await withShare(async (share) => {
      const opened = await share.open(cloud);
      await finish(await submit(opened, "one"));
      await opened.close();
      await share.check(["one"]);
    });
  });

  for (const leaves of ["nothing", "folder"] as const) {
    const sentence = leaves === "nothing" ? "fileNoFolder" : "folderEmptied";
    it(`collects while it is away, delivers what is whole when it is back, and asks for nothing again (${leaves} at its path)`, async () => {
      await withShare(async (share) => {
        const before = await share.open(cloud);
        await finish(await submit(before, "before"));
        await share.unmount(leaves);
        // It goes away while the archive is open.
        const first = await submit(before, "first");
        await untilHeldUp(first, sentence);
        const parcel = intentOf("message", { origin: null });
        const second = await before.runner.submitMedia(parcel, [mediumOf("message")], null);
        await untilHeldUp(second, sentence);
        await before.close();
        // It is away at the start.
        const after = await share.open(cloud);
        assert.ok(after.archive.mayBeAway);
        await assert.rejects(
          after.archive.demandPackages(),
          (error) => isDimensionerError(error) && error.sentence === sentence,
        );
        const resumed = [...after.runner.resume(() => true)];
        assert.equal(resumed.length, 2);
        const third = await submit(after, "third");
        await untilHeldUp(third, sentence);
        const requests = cloud.sim.requests.filter(({ path }) => path.includes("third")).length;
        await share.mount();
        await Promise.all([...resumed, third].map(finish));
        assert.equal(cloud.sim.requests.filter(({ path }) => path.includes("third")).length, requests);
        await after.close();
        await share.check(["before", "first", "message", "third"]);
      });
    });
  }

  it("keeps what its disk does not store as it was sent, and delivers it when the disk does", async () => {
    await withShare(async (share) => {
      let breaks = true;
      const disk: ArchiveDisk = {
        ...plainDisk,
        async open(path, flags, mode) {
          const file = await plainDisk.open(path, flags, mode);
          // A disk that loses what it has confirmed.
          return breaks &&
            flags === "wx" &&
            String(path).startsWith(share.root) &&
            String(path).endsWith(".jpg")
            ? new Proxy(file, {
                get: (real, name) => {
                  const member: unknown = Reflect.get(real, name, real);
                  return typeof member !== "function"
                    ? member
                    : async (...args: unknown[]) => {
                        const result: unknown = await Reflect.apply(member, real, args);
                        await (name === "sync" ? real.write(Buffer.from([0]), 0, 1, 0) : undefined);
                        return result;
                      };
                },
              })
            : file;
        },
      };
      const opened = await share.open(cloud, new Archives({ disk }));
      const submission = await submit(opened, "one");
      await untilHeldUp(submission, "fileOther");
      assert.deepEqual([...(await readPackages(share.root)).keys()], []);
      breaks = false;
      await finish(submission);
      await opened.close();
      await share.check(["one"]);
    });
  });

  it("holds a job up while the spool has as much as the store allows, and goes on when there is room", async () => {
    await withShare(async (share) => {
      const opened = await share.open(cloud, new Archives(), { spoolBytes: 1 });
      await share.unmount();
      const first = await submit(opened, "first");
      await untilHeldUp(first, "fileNoFolder");
      const second = await submit(opened, "second");
      await until(() => runningOf(second).trouble?.sentence === "spoolFull", "the second one is held up");
      await share.mount();
      await Promise.all([first, second].map(finish));
      await opened.close();
      await share.check(["first", "second"]);
    });
  });

  it("leaves room on the disk of Node-RED", async () => {
    await withShare(async (share) => {
      let bavail = 1n;
      const disk = {
        ...plainDisk,
        statfs: async (path: string) => ({ ...(await plainDisk.statfs(path)), bavail: Number(bavail) }),
      } as unknown as ArchiveDisk;
      const opened = await share.open(cloud, new Archives({ disk, spool: { bytes: 1e9, freeBytes: 1e9 } }));
      const submission = await submit(opened, "one");
      await until(() => runningOf(submission).trouble?.sentence === "spoolReserve", "it is held up");
      const parcel = intentOf("message", { origin: null });
      await assert.rejects(
        opened.runner.submitMedia(parcel, [mediumOf("message")], null),
        (error) => isDimensionerError(error) && error.sentence === "spoolReserve",
      );
      bavail = 1n << 40n;
      await finish(submission);
      await opened.close();
      await share.check(["one"]);
    });
  });

  it("makes no second package of a parcel that is archived already and comes again while the folder is away", async () => {
    await withShare(async (share) => {
      const opened = await share.open(cloud);
      await finish(await submit(opened, "one"));
      await share.unmount();
      const again = await opened.runner.submit(cloud.intentFor("one"));
      await untilHeldUp(again, "fileNoFolder");
      await share.mount();
      assert.equal((await again.end()).wasThere, true);
      again.messageSent();
      await opened.close();
      await share.check(["one"]);
    });
  });

  it("finishes a package that a killed process had delivered in part, and one that had its name already", async () => {
    await withShare(async (share) => {
      const before = await share.open(cloud);
      await finish(await submit(before, "before"));
      await share.unmount();
      const held = await submit(before, "held");
      await untilHeldUp(held, "fileNoFolder");
      await before.close();
      await share.mount();
      // As a kill leaves it in the middle of a delivery, a day ago and just now.
      const copying = join(share.root, ".dimensioner-archive", "copying");
      for (const name of ["old", "new"]) {
        await mkdir(join(copying, name), { recursive: true });
        await writeFile(join(copying, name, "a.jpg"), "half");
      }
      const at = new Date(Date.now() - 25 * 3_600_000);
      await utimes(join(copying, "old"), at, at);
      const after = await share.open(cloud);
      await Promise.all([...after.runner.resume(() => true)].map(finish));
      await after.close();
      assert.deepEqual(await readdir(copying), ["new"]);
      await rm(join(copying, "new"), { recursive: true });
      await share.check(["before", "held"]);
    });
  });

  it("says that a folder was never there, and begins with it when it is", async () => {
    await withShare(async (share) => {
      await rmdir(share.root);
      const opened = await share.open(cloud);
      const submission = await submit(opened, "one");
      await untilHeldUp(submission, "fileNoFolder");
      await mkdir(share.root);
      await finish(submission);
      await opened.close();
      await share.check(["one"]);
    });
  });

  it("does not say that a folder is empty while its store begins to use it", async () => {
    await withShare(async ({ root, database: file }) => {
      const databases = newDatabases();
      const { database, log, release } = await databases.open({ kind: "file", file });
      try {
        let hasBegun = false;
        const begin = async (): Promise<void> => {
          hasBegun = true;
          await new FolderVault(root, plainDisk).beginLog(log.store);
          await database.transaction([{ sql: "UPDATE store SET folder = ?", values: [root] }]);
        };
        const reader: Pick<Database, "transaction"> = {
          // Somebody else begins between the first look and the question to the database.
          transaction: async (statements) => {
            await (hasBegun ? undefined : begin());
            return await database.transaction(statements);
          },
        };
        const mounted = new MountedFolder({ root, disk: plainDisk, database: reader, store: log.store });
        await mounted.demandThere();
        assert.ok(hasBegun);
        await rm(root, { recursive: true });
        await mkdir(root);
        await assert.rejects(mounted.demandThere(), { sentence: "folderEmptied" });
      } finally {
        await release();
      }
    });
  });

  it("keeps jobs beside packages that are on its own disk", async () => {
    await withShare(async (share) => {
      const own = new Share(share.spool, share.spool);
      await mkdir(own.root, { recursive: true });
      const opened = await own.open(cloud);
      await finish(await submit(opened, "one"));
      assert.equal(opened.archive.mayBeAway, false);
      assert.ok(opened.archive.work.root.startsWith(own.root));
      await opened.close();
      assert.ok(!existsSync(own.spool));
    });
  });
});
