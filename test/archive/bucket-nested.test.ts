import assert from "node:assert/strict";
import { join } from "node:path";
import { copyArchive, pruneArchive, rebuildIndex, verifyArchive } from "../../src/vault/upkeep/upkeep.ts";
import { Store } from "../../src/vault/store.ts";
import { withFolder } from "../media/support.ts";
import { useCredentials } from "../support/s3-servers.ts";
import { type BucketStub, startStub } from "../support/s3-stub.ts";
import { copiesOfArchive } from "./packages.ts";
import { bucketOf } from "./shared-store.ts";
import { newDatabases } from "./store.ts";
import { intentOf, mediumOf, openArchive } from "./support.ts";

const inner = "dock-4";
const marker = `${inner}/.dimensioner-archive/archive.json`;
const stored = "stored for the first time";

describe("archive: an archive in a bucket, and another one whose prefix is inside its own", () => {
  useCredentials();
  const copies = copiesOfArchive(["m0"]);
  let stub: BucketStub;
  beforeEach(async () => {
    stub = await startStub();
  });
  afterEach(() => stub.close());

  const storeOf = (prefix: string, folder: string) => {
    const name = prefix === "" ? "outer" : "inner";
    const vault = bucketOf(stub.url(prefix), join(folder, `${name} work`));
    const file = join(folder, `${name}.sqlite`);
    return { vault, file, store: new Store({ kind: "file", file }, vault, newDatabases()) };
  };

  /** Archives one package, and returns its location. */
  async function archiveOne(store: Store): Promise<string> {
    const { runner, close } = await openArchive("", undefined, { store });
    const submission = await runner.submitMedia(intentOf("1", { origin: null }), [mediumOf("1")], null);
    const { path } = await submission.end();
    submission.messageSent();
    await close();
    return path;
  }

  const before = (): Date => new Date(Date.now() + 1_000);
  async function pruned(place: Parameters<typeof pruneArchive>[0], database: string): Promise<string[]> {
    const said: string[] = [];
    const onPackage = ({ what, path }: { what: string; path: string }): void =>
      void said.push(`${what} ${path}`);
    await pruneArchive(place, { before: before(), onPackage, database });
    return said.toSorted();
  }

  it("is not pruned, listed or verified with the outer one, in whichever order they were made", async () => {
    for (const prefixes of [
      ["", inner],
      [inner, ""],
    ]) {
      await withFolder(async (folder) => {
        const locations = new Map<string, string>();
        for (const prefix of prefixes) {
          locations.set(prefix, await archiveOne(storeOf(prefix, folder).store));
        }
        const [outer, own] = [storeOf("", folder), storeOf(inner, folder)];
        const rebuilt: string[] = [];
        const onNotIndexed = ({ kind, path }: { kind: string; path: string }): void =>
          void rebuilt.push(`${kind} ${path}`);
        const made = await rebuildIndex(outer.vault, { database: join(folder, "new.sqlite"), onNotIndexed });
        assert.deepEqual([made.packages, rebuilt], [1, [`archive ${inner}`]]);
        const verified = await verifyArchive(outer.vault, { database: outer.file });
        assert.equal(verified.packages, 1);
        assert.deepEqual(await pruned(outer.vault, outer.file), [`deleted ${locations.get("")}`]);
        assert.ok(stub.objects.has(`${inner}/${locations.get(inner)}/manifest.json`));
        assert.equal((await verifyArchive(own.vault, { database: own.file })).verdict, "ok");
        assert.deepEqual(await pruned(own.vault, own.file), [`deleted ${locations.get(inner)}`]);
        stub.objects.clear();
      });
    }
  });

  it("is marked when a store whose packages are not marked is opened, and only then", () =>
    withFolder(async (folder) => {
      await archiveOne(storeOf(inner, folder).store);
      stub.objects.delete(marker);
      const isStored = Promise.withResolvers<void>();
      stub.fault = ({ method, query }) => {
        // The request after it.
        if (
          method === "GET" &&
          (query.has("uploads") || query.has("list-type")) &&
          stub.objects.has(marker)
        ) {
          isStored.resolve();
        }
        return undefined;
      };
      for (const when of [stored, "again"]) {
        const since = stub.requests.length;
        const opened = await openArchive("", undefined, { store: storeOf(inner, folder).store });
        await isStored.promise;
        await opened.close();
        const written = stub.requests
          .slice(since)
          .filter(({ method, key }) => method === "PUT" && !key.endsWith(".log"));
        assert.deepEqual(
          written.map(({ key }) => key),
          when === stored ? [marker] : [],
        );
      }
    }));

  it("lets no package be sent before it is marked, and archives as soon as it may be written", () =>
    withFolder(async (folder) => {
      const { store } = storeOf(inner, folder);
      let isDenied = true;
      const refused = Promise.withResolvers<void>();
      const sent: string[] = [];
      stub.fault = ({ method, key }) => {
        if (method === "PUT" && isDenied) {
          sent.push(key);
          refused.resolve();
          return { status: 403, code: "AccessDenied" };
        }
        return undefined;
      };
      const { runner, close } = await openArchive("", undefined, { store });
      const intent = intentOf("1", { origin: null, giveUpMs: 600_000 });
      const submission = await runner.submitMedia(intent, [mediumOf("1")], null);
      await refused.promise;
      isDenied = false;
      await submission.end();
      submission.messageSent();
      assert.deepEqual([...new Set(sent)], [marker]);
      await close();
    }));

  it("is a copy whose packages an archive around it does not delete", () =>
    withFolder(async (folder) => {
      const outer = storeOf("", folder);
      await archiveOne(outer.store);
      await copies.withArchive(async (root) => {
        await copyArchive(root, stub.url(inner), {});
        assert.equal((await pruned(outer.vault, outer.file)).length, 1);
        assert.equal((await verifyArchive(stub.url(inner), {})).packages, 1);
      });
    }));
});
