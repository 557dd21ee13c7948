import assert from "node:assert/strict";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { holdPackages } from "../../src/library/archive.ts";
import { type ArchiveDisk, type ReadDisk, plainDisk } from "../../src/vault/archive-disk.ts";
import { FolderFiles } from "../../src/vault/files/folder-files.ts";
import { openPlace } from "../../src/vault/open-place.ts";
import { PruneLog, PruneLogReader } from "../../src/vault/prune-log.ts";
import { Pruning } from "../../src/vault/prune.ts";
import { walkPackages } from "../../src/vault/walk.ts";
import { systemError, watchedDisk } from "../media/support.ts";
import { useCredentials } from "../support/s3-servers.ts";
import { type BucketStub, startStub } from "../support/s3-stub.ts";
import { type BucketArchive, openSqlite, packagesForBuckets } from "./bucket-archive.ts";
import { copiesOfArchive, verify } from "./packages.ts";

const claim = { by: "transactionId", person: "Anna", reason: "claim 7" } as const;

/** What became of each package. */
async function pruneWith(disk: ArchiveDisk, folder: string): Promise<string[]> {
  const place = await openPlace(folder, { disk });
  const said: string[] = [];
  const options = { before: new Date(Date.now() + 1_000), isDryRun: false };
  for await (const { what, path } of new Pruning(place, options).run()) {
    said.push(`${what} ${path}`);
  }
  return said;
}

/** What the log says of a package, in its order. */
async function logged(root: string, disk: ReadDisk, path: string): Promise<string[]> {
  const said: string[] = [];
  for await (const lines of new PruneLogReader(root, disk).read()) {
    const ofPackage = lines.filter((one) => one.path === path);
    said.push(...ofPackage.map(({ kept }) => (kept === true ? "kept" : "deleted")));
  }
  return said;
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
      assert.deepEqual(await logged(root, plainDisk, path), ["deleted", "kept"]);
      await writeFile(join(root, path, "hold"), "claim 7");
      assert.deepEqual(await pruneWith(plainDisk, root), [`held ${path}`]);
      const lost = await loseImage(root, path);
      assert.deepEqual((await verify(root)).said, [`missing ${lost}`]);
    });
  });

  it("stays in the log if only what has lost its name could not be removed", async () => {
    await archive.withArchive(async (root) => {
      const busy = watchedDisk((call, [file]) => {
        if (call === "unlink" && String(file).includes("trash")) {
          throw systemError("EBUSY");
        }
      });
      assert.deepEqual(await pruneWith(busy, root), [`failed ${path}`]);
      assert.deepEqual(await logged(root, plainDisk, path), ["deleted"]);
      assert.deepEqual((await verify(root)).said, ["no-packages "]);
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
      assert.deepEqual(await pruneWith(plainDisk, root), [`held .dimensioner-archive/trash/${name}`]);
      assert.ok((await readdir(join(trash, name))).includes("manifest.json"));
    });
  });

  it("is taken from the log by a hold after a run that was killed", async () => {
    await archive.withArchive(async (root, database) => {
      for await (const entry of walkPackages(root, root)) {
        assert.ok(entry.kind === "package");
        await new PruneLog(new FolderFiles(root, plainDisk)).add([entry]);
      }
      await holdPackages(root, { ...claim, database, value: "m0" });
      const lost = await loseImage(root, path);
      assert.deepEqual((await verify(root)).said, [`missing ${lost}`]);
    });
  });

  it("is on hold, and the error names the log, if the log cannot be written", async () => {
    await archive.withArchive(async (root, database) => {
      const log = join(root, ".dimensioner-archive", "pruned.jsonl");
      await rm(log, { force: true });
      await plainDisk.mkdir(log);
      const held = holdPackages(root, { ...claim, database, value: "m0" });
      await assert.rejects(held, { code: "ERR_FILE", message: /pruned\.jsonl/ });
      assert.ok((await readdir(join(root, path))).includes("hold.json"));
    });
  });

  it("is not noted by a hold where nothing was ever deleted", async () => {
    await archive.withArchive(async (root, database) => {
      await holdPackages(root, { ...claim, database, value: "m0" });
      assert.ok(!(await readdir(join(root, ".dimensioner-archive"))).includes("pruned.jsonl"));
    });
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
      noted += Number(method === "PUT" && key.includes("/pruned.jsonl/"));
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
    assert.deepEqual(await logged(archive.files.root, archive.files.disk, path), ["deleted", "kept"]);
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
