import assert from "node:assert/strict";
import { join } from "node:path";
import { makeTimestamp } from "../../src/evidence/make-timestamp.ts";
import { withSource } from "../../src/evidence/packages.ts";
import { type Finding, findPackages, timestampArchive, verifyArchive } from "../../src/index.ts";
import { sha256Of } from "../../src/model/sha256.ts";
import { timestampsIn } from "../../src/vault/covering-timestamps.ts";
import { encodeLine } from "../../src/vault/files/checked-lines.ts";
import { TimestampFolder, filesOfTimestamp } from "../../src/vault/timestamp-folder.ts";
import { TimestampServer } from "../../src/vault/timestamp-server/client.ts";
import { type BucketServer, s3Servers, useCredentials } from "../support/s3-servers.ts";
import { useAuthority } from "../vault/timestamp/authority.ts";
import { fixtures } from "../vault/timestamp/fixtures.ts";
import { bucketSuites } from "./bucket-archive.ts";
import { type InBucket, keysIn, withBucket } from "./in-bucket.ts";
import { changeDatabase, copiesOfArchive } from "./packages.ts";
import { bundleVerb, runChild } from "./processes.ts";

const roots = join(fixtures, "root.crt");
const stampsFolder = ".dimensioner-archive/timestamps";
const logFolder = ".dimensioner-archive/timestamps.jsonl";

describe("archive: time stamps in a bucket", () => {
  useCredentials();
  const archive = copiesOfArchive(["m0", "m1"]);
  const fiveChains = copiesOfArchive(["m0", "m1", "m2", "m3", "m4"]);
  let server: BucketServer;
  const authority = useAuthority();

  const stamp = ({ url, database }: InBucket) =>
    timestampArchive(url, { database, server: authority.url, roots });
  const verify = async ({ url, database }: InBucket) => {
    const findings: Finding[] = [];
    const options = { database, timestampRoots: roots };
    const report = await verifyArchive(url, { ...options, onFinding: (one) => findings.push(one) });
    const notes = report.notes.filter(({ kind }) => kind === "timestamp").map(({ path }) => path);
    return { notes, said: findings.map(({ kind, path, problem }) => `${kind} ${path}: ${problem}`) };
  };
  /** The time stamp that covers the first package, and what is wrong with others. */
  const coverOfFirst = async ({ files }: InBucket) => {
    const [path = ""] = archive.paths;
    const file = await files.disk.open(join(files.root, path, "manifest.json"));
    const sha256 = sha256Of(await file.readFile());
    const found = await (await timestampsIn(files, roots, undefined))?.find({ path, sha256 });
    return {
      links: found?.timestamp?.links ?? null,
      findings: found?.findings.map(({ problem }) => problem),
    };
  };

  for (const { name, start } of bucketSuites.slice(0, 2)) {
    describe(`of ${name}`, () => {
      before(async () => {
        server = await start();
      });
      after(() => server.close());

      it("are made once of each manifest, kept with their last file last, and verified", () =>
        withBucket(server, archive, async (given) => {
          const asked = authority.requests.length;
          const made = await stamp(given);
          assert.deepEqual([made.package, made.alreadyStamped], [archive.paths[1], false]);
          assert.deepEqual(
            (await keysIn(given.files, made.location)).map((key) => key.split("/").at(-1)).sort(),
            ["request.tsq", "response.tsr", "timestamp.json"],
          );
          assert.equal((await keysIn(given.files, logFolder)).length, 1);
          assert.deepEqual(await verify(given), { notes: [made.location], said: [] });
          assert.deepEqual(await coverOfFirst(given), { links: 1, findings: [] });
          assert.deepEqual(await stamp(given), { ...made, alreadyStamped: true });
          assert.equal(authority.requests.length, asked + 1);
        }));

      it("that were interrupted are no damage, and one that the log names is", () =>
        withBucket(server, archive, async (given) => {
          const { files } = given;
          const made = await stamp(given);
          const interrupted = join(files.root, stampsFolder, "99991231T000000000Z-1");
          const kept = await new TimestampFolder(files.root, files.disk).read(
            made.location.split("/").at(-1) ?? "",
          );
          assert.ok(kept !== undefined);
          for (const [file, content] of filesOfTimestamp(kept).slice(0, 2)) {
            await files.write(join(interrupted, file), content);
          }
          assert.deepEqual(await verify(given), { notes: [made.location], said: [] });
          await files.remove(join(files.root, made.location, "timestamp.json"));
          const problem = "the time stamp cannot be read: a file of it is missing or damaged";
          assert.deepEqual((await verify(given)).said, [`timestamp ${made.location}: ${problem}`]);
          assert.deepEqual(await coverOfFirst(given), { links: null, findings: [problem] });
          const [line = ""] = await keysIn(files, logFolder);
          await files.remove(join(files.root, line));
          assert.deepEqual((await verify(given)).said, []);
          assert.deepEqual(await coverOfFirst(given), { links: null, findings: [] });
        }));

      it("of five chains cost one reading of their log, each line of which is an object", () =>
        withBucket(server, fiveChains, async ({ files, url, database }) => {
          changeDatabase(
            database,
            `INSERT INTO workers (worker_id, host, begun_at) SELECT package_id, '', '' FROM packages;
              UPDATE packages SET store_id = package_id, previous_sha256 = NULL`,
          );
          for (let line = 0; line < 20; line += 1) {
            const logged = { at: "", timestamp: `${line}`, package: "another", response: "" };
            await files.write(join(files.root, logFolder, `line-${line}.jsonl`), encodeLine(logged));
          }
          const stampAll = () =>
            withSource({ folder: url, database, operation: "timestamp" }, async (source) => {
              const { disk } = source.files;
              const open = disk.open.bind(disk);
              let reads = 0;
              disk.open = (path: string, flags: number) => {
                reads += path.includes(`${logFolder}/`) ? 1 : 0;
                return open(path, flags);
              };
              const server = new TimestampServer({ server: authority.url });
              const { alreadyStamped } = await makeTimestamp(source, server, { roots });
              await server.close();
              return { alreadyStamped, reads };
            });
          const asked = authority.requests.length;
          assert.deepEqual(await stampAll(), { alreadyStamped: false, reads: 20 });
          assert.equal(authority.requests.length, asked + 5);
          assert.deepEqual(await stampAll(), { alreadyStamped: true, reads: 25 });
        }));

      it("that are lost are reported as missing", () =>
        withBucket(server, archive, async (given) => {
          const { files } = given;
          const { location, package: path } = await stamp(given);
          for (const key of await keysIn(files, location)) {
            await files.remove(join(files.root, key));
          }
          const problem = `timestamp ${location}: the time stamp of the package ${path} is missing`;
          assert.deepEqual((await verify(given)).said, [problem]);
          assert.deepEqual(await coverOfFirst(given), {
            links: null,
            findings: ["the time stamp is missing"],
          });
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
        assert.equal((await verify(given)).notes.length, 1);
        assert.equal((await findPackages(url, { database, by: "all" })).length, 2);
      });
    } finally {
      await server.close();
    }
  });
});
