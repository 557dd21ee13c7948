import assert from "node:assert/strict";
import { join } from "node:path";
import { demandListed, withSource } from "../../src/evidence/packages.ts";
import { type Finding, findPackages, timestampArchive, verifyArchive } from "../../src/index.ts";
import { copyArchive } from "../../src/vault/upkeep/upkeep.ts";
import { provePackages } from "../../src/vault/log/package-proof.ts";
import { filesOfTimestamp, locationOf, timestampsOf } from "../../src/vault/timestamp/timestamp-folder.ts";
import { type BucketServer, s3Servers, useCredentials } from "../support/s3-servers.ts";
import { useAuthority } from "../vault/timestamp/authority.ts";
import { fixtures } from "../vault/timestamp/fixtures.ts";
import { bucketSuites, contentOf } from "./bucket-archive.ts";
import { type InBucket, keysIn, withBucket } from "./in-bucket.ts";
import { copiesOfArchive } from "./packages.ts";
import { bundleVerb, runChild } from "./processes.ts";

const roots = join(fixtures, "root.crt");
const missing = "the time stamp is missing, or one of its files is missing or damaged";
const stampsFolder = ".dimensioner-archive/timestamps";

describe("archive: time stamps in a bucket", () => {
  useCredentials();
  const archive = copiesOfArchive(["m0", "m1"]);
  let server: BucketServer;
  const authority = useAuthority();

  const stamp = ({ url, database }: InBucket) =>
    timestampArchive(url, { database, server: authority.url, roots });
  const verify = async ({ url, database }: InBucket) => {
    const findings: Finding[] = [];
    const options = { database, timestampRoots: roots };
    const report = await verifyArchive(url, { ...options, onFinding: (one) => findings.push(one) });
    const stamps = report.logs.flatMap(({ timestamp }) => timestamp?.location ?? []);
    return { stamps, said: findings.map(({ kind, path, problem }) => `${kind} ${path}: ${problem}`) };
  };
  /** The time stamp that covers the first package, and what is wrong with others. */
  const coverOfFirst = ({ url, database }: InBucket) =>
    withSource({ folder: url, database, operation: "verify" }, async (source) => {
      const all = await demandListed(source, { by: "all", limit: 9 });
      const first = all.filter(({ path }) => path === archive.paths[0]);
      const [{ proof } = assert.fail()] = await provePackages(source, first, roots);
      const location = proof.first === null ? null : locationOf(proof.first.kept.name);
      return { location, findings: proof.findings.map(({ problem }) => problem) };
    });

  for (const { name, start } of bucketSuites.slice(0, 2)) {
    describe(`of ${name}`, () => {
      before(async () => {
        server = await start();
      });
      after(() => server.close());

      it("are made once of what is new, kept with their last file last, and verified", () =>
        withBucket(server, archive, async (given) => {
          const asked = authority.requests.length;
          const made = await stamp(given);
          assert.deepEqual([made.packages, made.alreadyStamped], [2, false]);
          assert.deepEqual(
            (await keysIn(given.vault, made.location)).map((key) => key.split("/").at(-1)).sort(),
            ["checkpoint", "request.tsq", "response.tsr"],
          );
          assert.deepEqual(await verify(given), { stamps: [made.location], said: [] });
          assert.deepEqual(await coverOfFirst(given), { location: made.location, findings: [] });
          assert.deepEqual(await stamp(given), { ...made, alreadyStamped: true });
          assert.equal(authority.requests.length, asked + 1);
        }));

      it("that were interrupted are no damage, and one that the log names is", () =>
        withBucket(server, archive, async (given) => {
          const { vault } = given;
          const made = await stamp(given);
          const interrupted = join(vault.root, stampsFolder, "99991231T000000000Z-1");
          const kept = await timestampsOf(vault).read(made.location.split("/").at(-1) ?? "");
          assert.ok(kept !== undefined);
          for (const [file, content] of filesOfTimestamp(kept).slice(0, 2)) {
            await vault.write(join(interrupted, file), content);
          }
          assert.deepEqual(await verify(given), { stamps: [made.location], said: [] });
          await vault.remove(join(vault.root, made.location, "checkpoint"));
          assert.deepEqual((await verify(given)).said, [`timestamp ${made.location}: ${missing}`]);
          assert.deepEqual(await coverOfFirst(given), { location: null, findings: [missing] });
        }));

      it("of a folder are copied with its log", () =>
        withBucket(server, archive, async (given) => {
          const { root, database, url } = given;
          const { location } = await timestampArchive(root, { database, server: authority.url, roots });
          await copyArchive(root, url, {});
          assert.deepEqual(await verify(given), { stamps: [location], said: [] });
        }));

      it("notice a line of the log that was changed since", () =>
        withBucket(server, archive, async (given) => {
          const { vault } = given;
          const { location } = await stamp(given);
          for (const key of await keysIn(vault, ".dimensioner-archive/log")) {
            const text = String(await contentOf(vault, key));
            await vault.write(join(vault.root, key), text.replace(/"path":"[^"]*m0"/, '"path":"elsewhere"'));
          }
          const problem =
            /^timestamp .*: the time stamp does not agree with the log: one of the first \d+ lines/;
          const found = (await verify(given)).said.filter((one) => problem.test(one));
          assert.deepEqual([found.length, found[0]?.includes(location)], [1, true]);
        }));

      it("that are lost are reported as missing", () =>
        withBucket(server, archive, async (given) => {
          const { vault } = given;
          const { location } = await stamp(given);
          for (const key of await keysIn(vault, location)) {
            await vault.remove(join(vault.root, key));
          }
          assert.deepEqual((await verify(given)).said, [`timestamp ${location}: ${missing}`]);
          assert.deepEqual(await coverOfFirst(given), { location: null, findings: [missing] });
          // Another one takes its place.
          assert.equal((await stamp(given)).alreadyStamped, false);
        }));
    });
  }

  it("are made by the command, with the address in the place of the folder", async () => {
    server = await (s3Servers["a store with conditions"]?.() ?? assert.fail());
    try {
      const script = await bundleVerb("timestamp");
      await withBucket(server, archive, async (given) => {
        const { url, database } = given;
        const wanted = ["--database", database, "--server", authority.url, "--timestamp-roots", roots];
        const { code, stdout, stderr } = await runChild(script, [url, ...wanted]);
        assert.equal(code, 0, stderr);
        assert.match(stdout, /kept in \.dimensioner-archive\/timestamps\//);
        assert.equal((await verify(given)).stamps.length, 1);
        assert.equal((await findPackages(url, { database, by: "all" })).length, 2);
      });
    } finally {
      await server.close();
    }
  });
});
