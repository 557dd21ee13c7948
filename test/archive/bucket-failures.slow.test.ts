import assert from "node:assert/strict";
import { join } from "node:path";
import { saveExport } from "../../src/evidence/export/export-packages.ts";
import {
  type EvidenceSource,
  changeHold,
  describeIndexed,
  findPackages,
  verifyPackages,
  withPackages,
} from "../../src/evidence/packages.ts";
import { runInThread } from "../../src/evidence/run-in-thread.ts";
import { StoreHandle } from "../../src/runtime/evidence/evidence-work.ts";
import type { ProvenPackage } from "../../src/vault/log/package-proof.ts";
import { listAll, withFolder } from "../media/support.ts";
import { useCredentials } from "../support/s3-servers.ts";
import { type BucketStub, type Fault, startStub } from "../support/s3-stub.ts";
import { type InBucket, keysIn, withBucket } from "./in-bucket.ts";
import { copiesOfArchive } from "./packages.ts";
import { databaseOf, newDatabases } from "./store.ts";
import { readWhole } from "../../src/vault/packages/package-files.ts";

/** What fails, and the sentence that says so. */
const faults: Readonly<Record<string, readonly [Fault, string]>> = {
  "is too busy": [{ status: 503, code: "SlowDown" }, "bucketBusy"],
  "breaks each connection": ["reset", "bucketUnreachable"],
  "denies access": [{ status: 403, code: "AccessDenied" }, "bucketDenied"],
  "has an error of its own": [{ status: 500, code: "InternalError" }, "bucketFailed"],
};

describe("archive: evidence in a bucket that fails", () => {
  useCredentials();
  const archive = copiesOfArchive(["m0", "m1"], () => ({ measurement: '{"length":33.5}' }));
  let stub: BucketStub;
  beforeEach(async () => {
    stub = await startStub();
  });
  afterEach(() => stub.close());

  interface Given extends InBucket {
    readonly source: EvidenceSource;
    readonly packages: readonly ProvenPackage[];
  }
  const withStore = (body: (given: Given) => Promise<void>): Promise<void> =>
    withBucket(stub, archive, async (given) => {
      const { root, vault } = given;
      const place = { folder: root, database: databaseOf(root), operation: "find" };
      const packages = await withPackages(place, { by: "all", limit: 9 }, async (_files, found) => found);
      const connection = await newDatabases().open({ kind: "file", file: databaseOf(root) });
      try {
        const source = { database: connection.database, log: connection.log, vault, operation: "find" };
        await body({ ...given, packages, source });
      } finally {
        await connection.release();
      }
    });
  const { signal } = new AbortController();
  const quiet = { signal, onProgress: () => undefined, onFinding: () => undefined };
  const change = { what: "hold", reason: "claim", person: null } as const;

  /** What reads or changes packages in a bucket. */
  const works: Readonly<Record<string, (given: Given) => Promise<unknown>>> = {
    "finding them": ({ source }) => findPackages(source, { by: "all", limit: 9 }),
    "putting them on hold": ({ source }) => changeHold(source, { by: "all", limit: 9 }, change),
    "verifying them": ({ vault, packages }) => verifyPackages(vault, packages, quiet),
    "exporting them": ({ vault, packages }) =>
      withFolder(async (folder) => {
        const target = { folder, ifExists: "error" } as const;
        await saveExport(vault, packages, { ...quiet, language: "en-US", target }).catch(
          async (error: unknown) => {
            assert.deepEqual(await listAll(folder), []);
            throw error;
          },
        );
      }),
  };
  for (const [what, work] of Object.entries(works)) {
    it(`ends ${what} with ERR_STORE, at whatever request it fails, and recovers`, () =>
      withStore(async (given) => {
        let isFailing = true;
        // The first request fails, with all that come after it, then the second one, and so on.
        for (let served = 0; isFailing; served += 1) {
          let left = served;
          let hasFailed = false;
          stub.fault = () => {
            hasFailed = left-- <= 0;
            return hasFailed ? { status: 403, code: "AccessDenied" } : undefined;
          };
          isFailing = await work(given).then(
            () => false,
            (error: unknown) => {
              const { code, sentence, message } = error as Record<string, unknown>;
              assert.deepEqual([code, sentence], ["ERR_STORE", "bucketDenied"], `after ${served} requests`);
              assert.doesNotMatch(String(message), /S3RVER/, "no credentials");
              return true;
            },
          );
          stub.fault = () => undefined;
          assert.equal(isFailing, hasFailed, `after ${served} requests`);
        }
      }));
  }

  for (const [what, [fault, sentence]] of Object.entries(faults)) {
    it(`says in words that it ${what}, and works as soon as it does not`, () =>
      withStore(async ({ source, vault, packages }) => {
        stub.fault = () => fault;
        const finding = findPackages(source, { by: "all", limit: 9 });
        await assert.rejects(finding, { code: "ERR_STORE", sentence });
        await assert.rejects(verifyPackages(vault, packages, quiet), { code: "ERR_STORE", sentence });
        stub.fault = () => undefined;
        const found = await findPackages(source, { by: "all", limit: 9 });
        assert.deepEqual(
          found.map(({ problem, length }) => [problem, length]),
          [
            [null, 33.5],
            [null, 33.5],
          ],
        );
      }));
  }

  it("is described without its dimensions only if they are damaged, and not if they cannot be read", () =>
    withStore(async ({ source, packages: [one = assert.fail()] }) => {
      stub.fault = ({ key }) => (key.endsWith("/measurement.json") ? "cut" : undefined);
      await assert.rejects(describeIndexed(source, one), { code: "ERR_STORE" });
      stub.fault = () => undefined;
      assert.equal((await describeIndexed(source, one)).length, 33.5);
    }));

  it("ends a thread with the same error, with the same words", () =>
    withStore(async ({ location, packages, database }) => {
      const options = { signal, onProgress: () => undefined };
      const verify = { action: "verify", vault: location, roots: "", most: 9 } as const;
      const file = { kind: "file", file: database } as const;
      for (const wanted of [packages, null]) {
        stub.fault = () => ({ status: 403, code: "AccessDenied" });
        const failing = runInThread({ ...verify, database: file, packages: wanted }, options);
        await assert.rejects(failing, {
          code: "ERR_STORE",
          sentence: "bucketDenied",
          message: /^The object store denies access to s3:\/\/evidence\/dock 4\//,
        });
        stub.fault = () => undefined;
        const { verdict } = await runInThread({ ...verify, database: file, packages: wanted }, options);
        assert.equal(verdict, "ok");
      }
    }));

  /** From now on, files with such names never end. */
  const stall = (name: RegExp) => {
    const [arrived, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    stub.fault = ({ key }) => {
      if (!name.test(key)) {
        return undefined;
      }
      arrived.resolve();
      return { left: left.resolve };
    };
    return { arrived: arrived.promise, left: left.promise };
  };

  it("whose requests never end does not hold up a thread that is stopped", () =>
    withStore(async ({ location, packages }) => {
      const { arrived, left } = stall(/\.jpg$/);
      const stopping = new AbortController();
      const task = { action: "stream", vault: location, packages, language: "en-US", roots: "" } as const;
      const running = runInThread(task, { signal: stopping.signal, onProgress: () => undefined });
      await arrived;
      stopping.abort();
      await assert.rejects(running, { code: "ERR_CANCELLED" });
      await left;
    }));

  it("whose requests never end does not hold up a node that is closed; a node opens the bucket once", () =>
    withStore(async ({ location, source, packages: [one = assert.fail()] }) => {
      const { arrived, left } = stall(/measurement\.json$/);
      const node = new StoreHandle(() => assert.fail("nobody asks for the database"));
      const vault = await node.openVault(location);
      assert.equal(await node.openVault(location), vault);
      const reading = describeIndexed({ ...source, vault }, one);
      await arrived;
      await Promise.all([assert.rejects(reading, { code: "ERR_CANCELLED" }), node.close()]);
      await left;
    }));

  it("is asked for nothing more of a file that is closed while it is read", () =>
    withStore(async ({ vault, packages: [{ path } = assert.fail()] }) => {
      const { arrived, left } = stall(/measurement\.json$/);
      const opening = vault.disk.open(join(vault.root, path, "measurement.json"));
      await arrived;
      const file = await opening;
      const requests = stub.requests.length;
      const reading = readWhole(file, 1_000_000);
      await file.close();
      await assert.rejects(reading);
      await left;
      assert.equal(stub.requests.length, requests);
    }));

  it("is given no hold for a package that was deleted meanwhile", () =>
    withStore(async ({ source, vault }) => {
      const [path = ""] = archive.paths;
      const one = { by: "transactionId", value: "m0", limit: 1 } as const;
      stub.fault = ({ method, key }) => {
        if (method === "PUT" && key.endsWith("/hold.json")) {
          stub.objects.delete(key.replace("hold.json", "manifest.json"));
        }
        return undefined;
      };
      await assert.rejects(changeHold(source, one, change), { code: "ERR_NOT_FOUND" });
      assert.ok(!(await keysIn(vault, path)).some((key) => key.endsWith("hold.json")));
    }));
});
