import assert from "node:assert/strict";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lockLog } from "../../src/database/database.ts";
import { ToolThread } from "../../src/database/tool-database.ts";
import { holdPackages } from "../../src/library/archive.ts";
import { type ArchiveDisk, plainDisk } from "../../src/vault/archive-disk.ts";
import { FolderVault } from "../../src/vault/folder/folder-vault.ts";
import { type LogEvent, entryOf } from "../../src/vault/log/events.ts";
import { publishLog } from "../../src/vault/log/open-log.ts";
import { openScope } from "../../src/vault/open-vault.ts";
import { Pruning } from "../../src/vault/upkeep/prune.ts";
import { systemError, watchedDisk } from "../media/support.ts";
import { useCredentials } from "../support/s3-servers.ts";
import { type BucketStub, startStub } from "../support/s3-stub.ts";
import { type BucketArchive, loggedIn, openSqlite, packagesForBuckets } from "./bucket-archive.ts";
import { rowsIn } from "../support/rows.ts";
import { readLogged } from "./logged.ts";
import { copiesOfArchive, verify } from "./packages.ts";
import { databaseOf, newDatabases, storeIn } from "./store.ts";

const claim = { by: "transactionId", person: "Anna", reason: "claim 7" } as const;

/** What became of each package. */
async function pruneWith(
  disk: ArchiveDisk,
  folder: string,
  before = new Date(Date.now() + 1_000),
): Promise<string[]> {
  const scope = await openScope(folder, { disk });
  const said: string[] = [];
  const thread = new ToolThread();
  const database = databaseOf(folder);
  try {
    const options = { before, database, thread, isDryRun: false };
    for await (const { what, path } of new Pruning(scope, options).run()) {
      said.push(`${what} ${path}`);
    }
  } finally {
    await thread.close();
  }
  return said;
}

/** What the log says of the deletion of a package, in its order. */
function deletionsOf(events: readonly LogEvent[], path: string): string[] {
  return events.flatMap((event) =>
    (event.what === "pruned" || event.what === "kept") && event.path === path ? [event.what] : [],
  );
}

/** What a run does before it is killed. */
async function noteDeletion(root: string, file: string, path: string): Promise<void> {
  const connection = await storeIn(root, newDatabases(), file).connect();
  const { database, log, release } = connection;
  const [[row] = []] = await database.transaction([
    { sql: "SELECT package_id, manifest_sha256 FROM packages WHERE location = ?", values: [path] },
  ]);
  const [at, id] = [new Date().toISOString(), String(row?.["package_id"])];
  const sha256 = String(row?.["manifest_sha256"]);
  const event = { what: "pruned", at, package: id, path, sha256, transactionId: "m0", before: at } as const;
  await database.transaction([lockLog, ...log.append(entryOf(event))]);
  await publishLog({ table: log, vault: new FolderVault(root, plainDisk) });
  await release();
}

async function loseImage(root: string, path: string): Promise<string> {
  const name = (await readdir(join(root, path))).find((one) => one.endsWith(".jpg")) ?? "";
  await rm(join(root, path, name));
  return `${path}/${name}`;
}

describe("archive: a package whose deletion did not happen", () => {
  const archive = copiesOfArchive(["m0"]);
  const path = "2026-11-02/ORDER-1-m0";

  it("is not in the log of deleted packages, so that its later loss is noticed", async () => {
    await archive.withArchive(async (root) => {
      const busy = watchedDisk((call, [, to]) => {
        if (call === "rename" && String(to).includes("trash")) {
          throw systemError("EBUSY");
        }
      });
      assert.deepEqual(await pruneWith(busy, root), [`failed ${path}`]);
      assert.deepEqual(deletionsOf(await readLogged(root), path), ["pruned", "kept"]);
      await writeFile(join(root, path, "hold"), "claim 7");
      assert.deepEqual(await pruneWith(plainDisk, root), [`held ${path}`]);
      const lost = await loseImage(root, path);
      assert.deepEqual((await verify(root)).said, [`missing ${lost}`]);
    });
  });

  it("is said to be kept if what has lost its name could not be removed, and goes with the next run", async () => {
    await archive.withArchive(async (root) => {
      const busy = watchedDisk((call, [file]) => {
        if (call === "unlink" && String(file).includes("trash")) {
          throw systemError("EBUSY");
        }
      });
      assert.deepEqual(await pruneWith(busy, root), [`failed ${path}`]);
      assert.deepEqual(deletionsOf(await readLogged(root), path), ["pruned", "kept"]);
    });
  });

  it("is not removed by a later run if it was put on hold meanwhile and could not be put back", async () => {
    await archive.withArchive(async (root) => {
      const trash = join(root, ".dimensioner-archive", "trash");
      const failing = watchedDisk(async (call, [from, to]) => {
        if (call === "rename" && String(to).includes("trash")) {
          await writeFile(join(String(from), "hold"), "claim 7");
        } else if (call === "rename" && String(from).includes("trash")) {
          throw systemError("EIO");
        }
      });
      assert.deepEqual(await pruneWith(failing, root), [`failed ${path}`]);
      const [name = ""] = await readdir(trash);
      assert.deepEqual(await pruneWith(plainDisk, root), [
        `held .dimensioner-archive/trash/${name}`,
        `kept ${path}`,
      ]);
      assert.ok((await readdir(join(trash, name))).includes("manifest.json"));
    });
  });

  it("is said to be kept by a hold after a run that was killed", async () => {
    await archive.withArchive(async (root, database) => {
      await noteDeletion(root, database, path);
      await holdPackages(root, { ...claim, database, value: "m0" });
      assert.deepEqual(deletionsOf(await readLogged(root), path), ["pruned", "kept"]);
      assert.deepEqual(await pruneWith(plainDisk, root), [`held ${path}`]);
      const lost = await loseImage(root, path);
      assert.deepEqual((await verify(root)).said, [`missing ${lost}`]);
    });
  });

  it("is deleted by the next run after a run that was killed", async () => {
    await archive.withArchive(async (root, database) => {
      await noteDeletion(root, database, path);
      assert.deepEqual(await pruneWith(plainDisk, root), [`deleted ${path}`]);
      assert.deepEqual(deletionsOf(await readLogged(root), path), ["pruned"], "it is noted once");
      assert.deepEqual(rowsIn(database, "SELECT * FROM packages"), []);
    });
  });
});

describe("archive: packages whose deletion could not be written into the log", () => {
  const ids = ["m0", "m1", "m2", "m3"];
  const archive = copiesOfArchive(ids);
  const deletions = async (root: string): Promise<string[][]> => {
    const events = await readLogged(root);
    return archive.paths.map((path) => deletionsOf(events, path));
  };

  it("are said to be kept, as on a full disk, also where several were noted together", async () => {
    for (const written of [0, 1]) {
      await archive.withArchive(async (root) => {
        let [appended, isFull] = [0, true];
        const full = watchedDisk((call, [path]) => {
          if (isFull && call === "open" && /\/log\/.*\/prune-/.test(String(path))) {
            appended += 1;
            if (appended > written * 2) {
              throw systemError("ENOSPC");
            }
          }
        });
        await assert.rejects(pruneWith(full, root), /ENOSPC/);
        assert.equal((await readdir(join(root, "2026-11-02"))).length, ids.length - written);
        isFull = false;
        const [held = ""] = archive.paths.slice(-1);
        await writeFile(join(root, held, "hold"), "claim 7");
        const none = new Date(0);
        assert.deepEqual(await pruneWith(full, root, none), [], "the lines are put there");
        const whole = ids.map((_id, place) => (place < written ? ["pruned"] : ["pruned", "kept"]));
        // The first one is noted alone.
        assert.deepEqual(await deletions(root), written === 0 ? [["pruned", "kept"], [], [], []] : whole);
        const lost = await loseImage(root, held);
        assert.deepEqual((await verify(root)).said, [`missing ${lost}`]);
      });
    }
  });
});

describe("archive: packages of a bucket whose deletion did not happen", () => {
  useCredentials();
  const packages = packagesForBuckets();
  let stub: BucketStub;
  let archive: BucketArchive;

  beforeEach(async () => {
    stub = await startStub({});
    archive = await packages.upload(stub.url("parcels"), await openSqlite());
  });
  afterEach(async () => {
    await archive.close();
    await archive.index.close();
    await stub.close();
  });

  /** Ends a run, or refuses what it does, at the first deletion of packages that were noted together. */
  async function pruneUntilNotedTogether(controller = new AbortController()): Promise<string[]> {
    let noted = 0;
    stub.fault = ({ method, key }) => {
      noted += Number(method === "PUT" && key.includes("/.dimensioner-archive/log/"));
      if (method !== "DELETE" || noted < 2) {
        return undefined;
      }
      controller.abort();
      return { status: 403, code: "AccessDenied" };
    };
    await assert.rejects(archive.prune({ signal: controller.signal }));
    stub.fault = () => undefined;
    return (await archive.keys()).filter((key) => key.endsWith("/manifest.json"));
  }

  async function expectLossNoticed(path: string): Promise<void> {
    assert.deepEqual((await verify(archive.url, archive.index.given)).said, []);
    stub.objects.delete(`parcels/${path}/measurement.raw`);
    const { said } = await verify(archive.url, archive.index.given);
    assert.deepEqual(said, [`missing ${path}/measurement.raw`]);
  }

  it("are taken from the log when the bucket refuses the deletion", async () => {
    const refused = new AbortController();
    refused.abort = () => undefined;
    const left = await pruneUntilNotedTogether(refused);
    assert.equal(left.length, 2);
    const path = left[0]?.slice(0, -"/manifest.json".length) ?? "";
    assert.deepEqual(deletionsOf(await loggedIn(archive.vault), path), ["pruned", "kept"]);
    await expectLossNoticed(path);
  });

  it("are taken from the log by a hold after a run that was ended", async () => {
    const left = await pruneUntilNotedTogether();
    assert.equal(left.length, 2);
    const path = left[0]?.slice(0, -"/manifest.json".length) ?? "";
    const rows = await archive.index.run(`SELECT transaction_id FROM packages WHERE location = '${path}'`);
    const value = String(rows[0]?.["transaction_id"]);
    await holdPackages(archive.url, { ...claim, database: archive.index.given, value });
    await expectLossNoticed(path);
  });
});
