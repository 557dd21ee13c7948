import assert from "node:assert/strict";
import { join } from "node:path";
import { timestampsIn } from "../../src/archive/maintenance/covering-timestamps.ts";
import { filesOfTimestamp, TimestampFolder } from "../../src/archive/maintenance/timestamp-folder.ts";
import { findPackages, timestampArchive, verifyArchive, type Finding } from "../../src/index.ts";
import { sha256Of } from "../../src/model/sha256.ts";
import { s3Servers, useCredentials, type BucketServer } from "../support/s3-servers.ts";
import { hasOpenSsl, startAuthority, type Authority } from "../timestamp/authority.ts";
import { fixtures } from "../timestamp/fixtures.ts";
import { bucketSuites } from "./bucket-archive.ts";
import { keysIn, withBucket, type InBucket } from "./in-bucket.ts";
import { copiesOfArchive } from "./packages.ts";
import { bundle, runChild } from "./processes.ts";

const roots = join(fixtures, "root.crt");
const stampsFolder = ".dimensioner-archive/timestamps";
const logFolder = ".dimensioner-archive/timestamps.jsonl";

describe("archive: time stamps in a bucket", () => {
  useCredentials();
  const archive = copiesOfArchive(["m0", "m1"]);
  let server: BucketServer;
  let authority: Authority;
  before(async function () {
    if (!hasOpenSsl) {
      this.skip();
    }
    authority = await startAuthority();
  });
  after(() => authority?.close());

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
      const script = await bundle("src/library/timestamp-cli.ts");
      await withBucket(server, archive, async (given) => {
        const { url, database } = given;
        const wanted = ["--database", database, "--server", authority.url, "--roots", roots];
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
