import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  appendFile,
  cp,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeTimestamp } from "../../src/evidence/make-timestamp.ts";
import { type EvidenceSource, demandListed, withSource } from "../../src/evidence/packages.ts";
import { lockLog } from "../../src/database/database.ts";
import {
  type Finding,
  exportPackages,
  pruneArchive,
  rebuildIndex,
  timestampArchive,
  verifyArchive,
} from "../../src/index.ts";
import { type ArchiveDisk, plainDisk } from "../../src/vault/archive-disk.ts";
import { FolderVault } from "../../src/vault/folder/folder-vault.ts";
import { LogTree } from "../../src/vault/log/tree.ts";
import { entryOf } from "../../src/vault/log/events.ts";
import { insertLines, publishLog } from "../../src/vault/log/open-log.ts";
import { provePackages } from "../../src/vault/log/package-proof.ts";
import { locationOf, timestampsOf } from "../../src/vault/timestamp/timestamp-folder.ts";
import { TimestampServer } from "../../src/vault/timestamp-server/client.ts";
import { postgresOptions } from "../database/databases.ts";
import { diskAround, listAll, systemError, withFolder } from "../media/support.ts";
import { failsWith, failureOf } from "../support/failures.ts";
import { openssl, startAuthority, useAuthority } from "../vault/timestamp/authority.ts";
import { fixture, fixtures } from "../vault/timestamp/fixtures.ts";
import { readLogged } from "./logged.ts";
import { changeDatabase, fillArchive } from "./packages.ts";
import { readZip } from "./read-zip.ts";
import { databaseOf } from "./store.ts";
import { openTwoWorkers } from "./two-workers.ts";

const roots = join(fixtures, "root.crt");
const stampsFolder = ".dimensioner-archive/timestamps";

/** The same store, whose disk is slow or fails. */
function onDisk(source: EvidenceSource, disk: ArchiveDisk): EvidenceSource {
  return { ...source, vault: new FolderVault(source.vault.root, disk) };
}

describe("archive: time stamps from OpenSSL", () => {
  // Its stored time stamps are verified in test/vault/timestamp, also where OpenSSL is missing.
  const authority = useAuthority();

  const stamp = (root: string, more: object = {}) =>
    timestampArchive(root, { database: databaseOf(root), server: authority.url, roots, ...more });
  const verify = async (root: string, timestampRoots = roots, folder = root, database = databaseOf(root)) => {
    const findings: Finding[] = [];
    const options = { database, timestampRoots };
    const report = await verifyArchive(folder, { ...options, onFinding: (one) => findings.push(one) });
    return { ...report, said: findings.map(({ kind, path, problem }) => `${kind} ${path}: ${problem}`) };
  };
  const stampsIn = async (root: string): Promise<string[]> =>
    (await readdir(join(root, stampsFolder))).sort();
  const coverOf = async (root: string, path: string, database = databaseOf(root)) => {
    const [proven = assert.fail()] = await withSource(
      { folder: root, database, operation: "verify" },
      async (source) => {
        const all = await demandListed(source, { by: "all", limit: 1_000 });
        return provePackages(
          source,
          all.filter((one) => one.path === path),
          roots,
        );
      },
    );
    const { first, newest, findings } = proven.proof;
    return {
      location: first === null ? null : locationOf(first.kept.name),
      newest: newest === null ? null : locationOf(newest.kept.name),
      findings: findings.map(({ path: of, problem }) => `${of}: ${problem}`),
    };
  };

  it("is in the report of an export, with the root certificate of its signer", () =>
    withFolder((to) =>
      withFolder(async (root) => {
        await fillArchive(root, ["m0", "m1"]);
        await stamp(root);
        const options = { database: databaseOf(root), by: "transactionId", value: "m0", to } as const;
        const reportOf = async (timestampRoots?: string) => {
          const { path } = await exportPackages(root, { ...options, timestampRoots });
          const [report] = await readZip(path, (name) => name === "report.html");
          return String(report?.content);
        };
        assert.match(
          await reportOf(),
          /Time-stamped on .*\d UTC<\/strong>\s*<p>signed by .* \(not checked against a root certificate\)/,
        );
        assert.match(
          await reportOf(roots),
          /Time-stamped on .*\d UTC<\/strong>\s*<p>signed by .* \(root certificate: .*\)/,
        );
      }),
    ));

  it("has a checkpoint of the log signed, keeps it, and verifies it offline as OpenSSL does", () =>
    withFolder(async (root) => {
      const paths = await fillArchive(root, ["m0", "m1"]);
      const made = await stamp(root);
      assert.deepEqual([made.packages, made.alreadyStamped], [2, false]);
      assert.deepEqual([made.signer, made.root], ["Example Time Stamps", "Example Root"]);
      const kept = join(root, made.location);
      assert.deepEqual((await readdir(kept)).sort(), ["checkpoint", "request.tsq", "response.tsr"]);
      const text = await readFile(join(kept, "checkpoint"), "utf8");
      assert.equal(text, `dimensioner-archive/${made.store}\n${made.logSize}\n${made.logRoot}\n`);

      const response = ["-in", join(kept, "response.tsr"), "-CAfile", roots];
      await openssl("ts", "-verify", "-queryfile", join(kept, "request.tsq"), ...response);
      await openssl("ts", "-verify", "-data", join(kept, "checkpoint"), ...response);

      const { verdict, said, notes, logs } = await verify(root);
      assert.deepEqual([verdict, said, notes], ["ok", [], []]);
      const [{ timestamp, ...counts } = assert.fail()] = logs;
      const none = { store: made.store, pruned: 0, held: 0 };
      assert.deepEqual(counts, { ...none, packages: 2, covered: 2, uncovered: 0 });
      assert.ok(timestamp !== null);
      const { atUtc: at } = timestamp;
      const { location, logSize } = made;
      const named = { signer: "Example Time Stamps", root: "Example Root", logSize, location };
      assert.deepEqual(timestamp, { atUtc: at, ...named });
      assert.match(at, /^20.*Z$/);
      assert.equal((await verify(root, roots, join(root, paths[0] ?? ""))).verdict, "ok");
      await fillArchive(root, ["m2"]);
      const [later] = (await verify(root)).logs;
      assert.deepEqual(later, { ...none, packages: 3, covered: 2, uncovered: 1, timestamp });
    }));

  it("says that the signer was not checked if no root is given", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0"]);
      assert.equal((await stamp(root, { roots: undefined })).root, null);
      const report = await verifyArchive(root, { database: databaseOf(root) });
      assert.deepEqual(
        [report.verdict, report.unchecked.map(({ kind }) => kind)],
        ["unchecked", ["timestamp-signer"]],
      );
      assert.match(
        report.unchecked[0]?.problem ?? "",
        /they name “Example Time Stamps”, but no root certificate/,
      );
    }));

  it("covers the packages of all workers that share the store", () =>
    withFolder(async (root) => {
      const options = await postgresOptions();
      const { archive, close } = await openTwoWorkers(root, options);
      const stampAll = () => stamp(root, { database: options.address.url });
      await archive(0, "n0");
      const path = await archive(1, "n1");
      const asked = authority.requests.length;
      const made = await stampAll();
      assert.deepEqual([made.packages, made.alreadyStamped], [2, false]);
      assert.equal((await stampAll()).alreadyStamped, true);
      await archive(1, "n2");
      const { location: newest, packages } = await stampAll();
      assert.equal(packages, 1);
      const cover = { location: made.location, newest, findings: [] };
      assert.deepEqual(await coverOf(root, path, options.address.url), cover);
      assert.equal(authority.requests.length, asked + 2);
      await close();
      const { verdict, logs } = await verify(root, roots, root, options.address.url);
      assert.deepEqual([verdict, logs.map(({ covered }) => covered)], ["ok", [3]]);
    }));

  it("asks again once the roots do not accept the time stamp that is kept", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["n0"]);
      const stampWith = (file: string) => stamp(root, { roots: join(fixtures, file) });
      await stampWith("root.crt");
      const refused = await failureOf(stampWith("middle.crt"));
      assert.equal(refused.code, "ERR_BAD_RESPONSE");
      authority.signWith("ecdsa");
      try {
        const asked = authority.requests.length;
        const made = await stampWith("middle.crt");
        assert.deepEqual([made.alreadyStamped, made.signer], [false, "Elliptic Time Stamps"]);
        assert.equal((await stampWith("middle.crt")).alreadyStamped, true);
        assert.equal(authority.requests.length, asked + 1);
      } finally {
        authority.signWith("rsa");
      }
    }));

  it("asks once for what is new in the log, and once for each server", () =>
    withFolder(async (root) => {
      const asked = authority.requests.length;
      await fillArchive(root, ["m0"]);
      const first = await stamp(root);
      const second = await stamp(root);
      assert.deepEqual(second, { ...first, alreadyStamped: true });
      assert.equal(authority.requests.length, asked + 1);
      await fillArchive(root, ["m1"]);
      assert.equal((await stamp(root)).alreadyStamped, false);
      const other = await startAuthority({ signer: "ecdsa" });
      try {
        const third = await stamp(root, { server: other.url });
        assert.deepEqual([third.alreadyStamped, third.signer], [false, "Elliptic Time Stamps"]);
      } finally {
        await other.close();
      }
      assert.equal((await stampsIn(root)).length, 3);
      assert.equal((await verify(root)).verdict, "ok");
    }));

  it("covers every package before it, and none after it; the earliest one counts", () =>
    withFolder(async (root) => {
      const paths = await fillArchive(root, ["m0", "m1", "m2"]);
      const { location } = await stamp(root);
      const [later = ""] = await fillArchive(root, ["m3"]);
      for (const path of paths) {
        assert.deepEqual(await coverOf(root, path), { location, newest: location, findings: [] });
      }
      assert.deepEqual(await coverOf(root, later), { location: null, newest: null, findings: [] });
      const { location: newest } = await stamp(root);
      assert.deepEqual(await coverOf(root, later), { location: newest, newest, findings: [] });
      // What has become of others does not matter.
      await rm(join(root, paths[1] ?? ""), { recursive: true });
      assert.deepEqual(await coverOf(root, paths[0] ?? ""), { location, newest, findings: [] });
    }));

  const damages: readonly (readonly [
    what: string,
    damage: (kept: string) => Promise<unknown>,
    said: RegExp,
  ])[] = [
    [
      "a lost time stamp",
      (kept) => rm(kept, { recursive: true }),
      /^timestamp K: the time stamp is missing, or one of its files is missing or damaged$/,
    ],
    [
      "a changed response",
      async (kept) => {
        const file = join(kept, "response.tsr");
        const bytes = await readFile(file);
        bytes.writeUInt8(bytes.readUInt8(600) ^ 1, 600);
        await writeFile(file, bytes);
      },
      /^timestamp K: the time stamp is not the one that the log names\ntimestamp K: the time stamp is not valid: .*$/,
    ],
    [
      "a time stamp of something else that was put in its place",
      (kept) => writeFile(join(kept, "response.tsr"), fixture("rsa-sha256.tsr")),
      /^timestamp K: .* the log names\ntimestamp K: .* it is for another SHA-256$/,
    ],
    [
      "a response that is none",
      (kept) => writeFile(join(kept, "response.tsr"), "<html>"),
      /^timestamp K: .* the log names\ntimestamp K: .* is not valid: it is not a time stamp as RFC 3161 defines it$/,
    ],
    [
      "another request",
      (kept) => writeFile(join(kept, "request.tsq"), fixture("request.tsq")),
      /^timestamp K: .* is not valid: it is the response to another request$/,
    ],
    [
      "a changed request",
      async (kept) => {
        const file = join(kept, "request.tsq");
        const bytes = await readFile(file);
        bytes.writeUInt8(bytes.readUInt8(40) ^ 1, 40);
        await writeFile(file, bytes);
      },
      /^timestamp K: .* is not valid: the request that is kept with it is for another SHA-256$/,
    ],
    [
      "a lost file",
      (kept) => rm(join(kept, "checkpoint")),
      /^timestamp K: the time stamp is missing, or one of its files is missing or damaged$/,
    ],
    [
      "a link to where it is",
      async (kept) => {
        await rename(kept, join(kept, "..", ".elsewhere"));
        await symlink(join(kept, "..", ".elsewhere"), kept);
      },
      /^timestamp K: the time stamp is missing, or one of its files is missing or damaged$/,
    ],
    [
      "a link to where all of them are",
      async (kept) => {
        const folder = dirname(kept);
        await rename(folder, `${folder}-elsewhere`);
        await symlink(`${folder}-elsewhere`, folder);
      },
      /^timestamp K: the time stamp is missing, or one of its files is missing or damaged$/,
    ],
    [
      "the checkpoint of fewer lines",
      async (kept) => {
        const text = await readFile(join(kept, "checkpoint"), "utf8");
        await writeFile(join(kept, "checkpoint"), text.replace(/\n\d+\n/, "\n1\n"));
      },
      /^timestamp K: the time stamp is not valid: it is for another SHA-256$/,
    ],
  ];
  for (const [what, damage, expected] of damages) {
    it(`finds ${what}`, () =>
      withFolder(async (root) => {
        const [path = ""] = await fillArchive(root, ["m0"]);
        const { location } = await stamp(root);
        await damage(join(root, location));
        const { verdict, said } = await verify(root);
        assert.equal(verdict, "wrong");
        assert.match(said.join("\n").replaceAll(location, "K"), expected);
        const cover = await coverOf(root, path);
        assert.deepEqual([cover.location, cover.findings.length], [null, 1], cover.findings.join("\n"));
        assert.ok(cover.findings[0]?.startsWith(`${location}: the time stamp `), cover.findings[0]);
      }));
  }

  it("names a changed picture, manifest, time stamp and report, each in words", () =>
    withFolder((to) =>
      withFolder(async (root) => {
        const [first = "", second = ""] = await fillArchive(root, ["m0", "m1", "m2"]);
        const { location } = await stamp(root);
        const options = { database: databaseOf(root), by: "all", to } as const;
        const { path } = await exportPackages(root, options);
        for (const { name, content } of await readZip(path)) {
          await mkdir(dirname(join(to, "x", name)), { recursive: true });
          await writeFile(join(to, "x", name), content);
        }
        await appendFile(join(to, "x", "report.html"), "<p>nothing is wrong</p>");
        const sums = spawnSync("sha256sum", ["-c", "SHA256SUMS"], { cwd: join(to, "x"), encoding: "utf8" });
        if (sums.error === undefined) {
          assert.deepEqual(sums.stdout.match(/^.*: FAILED$/gm), ["report.html: FAILED"]);
        }

        const picture = (await readdir(join(root, first))).find((name) => name.endsWith(".jpg")) ?? "";
        await appendFile(join(root, first, picture), "changed");
        const manifest = join(root, second, "manifest.json");
        await writeFile(manifest, (await readFile(manifest, "utf8")).replace("ORDER-1", "ORDER-2"));
        await writeFile(join(root, location, "response.tsr"), fixture("rsa-sha256.tsr"));
        const { said } = await verify(root);
        for (const expected of [
          new RegExp(`^changed ${first}/${picture}: `),
          new RegExp(`^changed ${second}/manifest.json: the manifest is not the one that the log names`),
          /^timestamp .*: the time stamp is not the one that the log names$/,
        ]) {
          assert.equal(
            said.filter((one) => expected.test(one)).length,
            1,
            `${expected} in\n${said.join("\n")}`,
          );
        }
      }),
    ));

  it("names a signer whose certificate leads to none of the given roots", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0"]);
      await stamp(root);
      const { verdict, said } = await verify(root, join(fixtures, "other-root.crt"));
      assert.equal(verdict, "wrong");
      assert.match(
        said[0] ?? "",
        /the certificate of “Example Time Stamps” does not lead to any of the given root certificates$/,
      );
    }));

  it("knows its time stamps after the database was made again", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0", "m1"]);
      const made = await stamp(root);
      const database = databaseOf(root);
      for (const name of [database, `${database}-wal`, `${database}-shm`]) {
        await rm(name, { force: true });
      }
      await rebuildIndex(root, { database });
      assert.deepEqual(await stamp(root), { ...made, alreadyStamped: true });
      const { verdict, said } = await verify(root);
      assert.deepEqual([verdict, said], ["ok", []]);
    }));

  it("stays valid when packages are pruned, and the next one covers that", () =>
    withFolder(async (root) => {
      const database = databaseOf(root);
      await fillArchive(root, ["m0"]);
      await stamp(root);
      const { deleted } = await pruneArchive(root, { before: new Date(Date.now() + 1), database });
      assert.equal(deleted, 1);
      assert.deepEqual((await verify(root)).said, []);
      const { alreadyStamped, packages } = await stamp(root);
      assert.deepEqual([alreadyStamped, packages], [false, 0]);
      assert.deepEqual((await verify(root)).said, []);
    }));

  it("asks for nothing, or keeps nothing, if it cannot be verified", () =>
    withFolder(async (root) => {
      const asked = authority.requests.length;
      await fillArchive(root, ["m0"]);
      const none = join(root, ".dimensioner-archive", "none.pem");
      await failsWith(stamp(root, { roots: none }), { code: "ERR_CONFIG" });
      await writeFile(none, "no certificate");
      const { message } = await failureOf(stamp(root, { roots: none }));
      assert.match(message, /cannot be used: there is no certificate in it\./);
      assert.equal(authority.requests.length, asked);
      const refused = await failureOf(stamp(root, { roots: join(fixtures, "other-root.crt") }));
      assert.equal(refused.code, "ERR_BAD_RESPONSE");
      assert.match(
        refused.message,
        /the certificate of “Example Time Stamps” does not lead to any of the given root certificates/,
      );
      assert.equal(
        (await listAll(root)).some((path) => path.includes("timestamps")),
        false,
      );
    }));

  it("is not made of an empty archive, nor of a log that is not the one that was signed before", () =>
    withFolder(async (root) => {
      const asked = authority.requests.length;
      await failsWith(
        fillArchive(root, []).then(() => stamp(root)),
        { code: "ERR_NOT_FOUND" },
      );
      await fillArchive(root, ["m0"]);
      await stamp(root);
      await fillArchive(root, ["m1"]);
      changeDatabase(
        databaseOf(root),
        "UPDATE log SET line = replace(line, 'm0', 'm9') WHERE what = 'archived'",
      );
      const { code, message } = await failureOf(stamp(root));
      assert.equal(code, "ERR_STORE");
      assert.match(
        message,
        /is not the one that was time-stamped before: one of its first \d+ lines was changed/,
      );
      assert.equal(authority.requests.length, asked + 1);
    }));

  it("needs no row of the table that shortens the calculation of the root", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0"]);
      const database = databaseOf(root);
      const place = { folder: root, database, operation: "test" };
      const lines = Array.from({ length: 1_100 }, (_, index) => ({ n: 3 + index, line: `{"n":${index}}` }));
      await withSource(place, ({ database: opened }) => opened.transaction(insertLines(lines)), {
        access: "write",
      });
      const checkpoint = () =>
        withSource(place, (source) => new LogTree(source.database).checkpointOf("s"), { access: "write" });
      const first = await checkpoint();
      assert.deepEqual(await checkpoint(), first);
      changeDatabase(database, "DELETE FROM log_blocks WHERE block = 1");
      assert.deepEqual(await checkpoint(), first);
      changeDatabase(database, `UPDATE log_blocks SET root = '${"0".repeat(64)}'`);
      const read = withSource(place, (source) => new LogTree(source.database).checkpointOf("s"));
      assert.deepEqual(await read, first, "a wrong row, in a database that is only read");
      assert.deepEqual(await checkpoint(), first);
    }));

  it("is not of another log, and is not said to be of one, where that table is wrong", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0"]);
      const database = databaseOf(root);
      const place = { folder: root, database, operation: "test" };
      const grow = () =>
        withSource(
          place,
          async (source) => {
            const at = new Date().toISOString();
            const event = { what: "opened", at, worker: "w", software: "s" } as const;
            const lines = Array.from({ length: 300 }, () => source.log.append(entryOf(event))).flat();
            await source.database.transaction([lockLog, ...lines]);
            await publishLog({ table: source.log, vault: source.vault });
          },
          { access: "write" },
        );
      const spoil = (): void => changeDatabase(database, `UPDATE log_blocks SET root = '${"0".repeat(64)}'`);
      await grow();
      await stamp(root);
      await grow();
      await withSource(place, (source) => new LogTree(source.database).rootOf(512), { access: "write" });
      await fillArchive(root, ["m1"]);
      spoil();
      await stamp(root);
      assert.deepEqual((await verify(root)).said, []);
      spoil();
      const sought = { by: "all", limit: 9 } as const;
      const proven = await withSource(place, async (source) =>
        provePackages(source, await demandListed(source, sought), roots),
      );
      assert.deepEqual(
        proven.map(({ proof }) => [proof.findings, proof.first !== null]),
        [
          [[], true],
          [[], true],
        ],
      );
    }));

  it("makes several at once without one overwriting another", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0"]);
      const made = await Promise.all([stamp(root), stamp(root), stamp(root)]);
      const locations = new Set(made.map(({ location }) => location));
      assert.equal((await stampsIn(root)).length, locations.size);
      assert.deepEqual((await verify(root)).said, []);
    }));

  it("leaves a whole time stamp or none, at whatever call the disk fails", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0"]);
      const server = new TimestampServer({ server: authority.url });
      try {
        const template = join(root, "..", `${root.split("/").at(-1)}-copy`);
        for (let failing = 0, ended = false; !ended; failing++) {
          await rm(template, { recursive: true, force: true });
          await cp(root, template, { recursive: true });
          let calls = 0;
          const disk: ArchiveDisk = diskAround(async ({ name, run }) => {
            if (!/^(?:file\.)?(?:mkdir|open|write|sync|datasync|rename|unlink|rmdir)$/.test(name)) {
              return run();
            }
            if (calls++ === failing) {
              throw systemError("ENOSPC");
            }
            return run();
          });
          const made = await withSource(
            { folder: template, database: databaseOf(template), operation: "timestamp" },
            (source) => makeTimestamp(onDisk(source, disk), server, { roots }).catch(() => undefined),
            { access: "write" },
          );
          ended = calls <= failing;
          assert.equal(ended ? made !== undefined : true, true);
          const kept = timestampsOf({ root: template, disk: plainDisk });
          const names = await kept.names();
          for (const name of names) {
            assert.ok((await kept.read(name)) !== undefined, String(failing));
          }
          for (const event of await readLogged(template)) {
            assert.ok(event.what !== "stamped" || names.includes(event.timestamp), String(failing));
          }
          const left = await readdir(join(template, stampsFolder)).catch(() => []);
          assert.deepEqual(left.sort(), names, String(failing));
        }
        await rm(template, { recursive: true, force: true });
      } finally {
        await server.close();
      }
    }));

  it("keeps a time stamp while another process finishes its own", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0"]);
      const others = join(root, stampsFolder, ".unfinished-other");
      await mkdir(others, { recursive: true });
      const disk: ArchiveDisk = diskAround(async ({ name, args: [path], run }) => {
        if (name === "lstat" && path === others) {
          await rename(others, join(root, "gone"));
        }
        return run();
      });
      const server = new TimestampServer({ server: authority.url });
      try {
        const place = { folder: root, database: databaseOf(root), operation: "timestamp" };
        const make = (source: EvidenceSource) => makeTimestamp(onDisk(source, disk), server, { roots });
        await withSource(place, make, { access: "write" });
      } finally {
        await server.close();
      }
      assert.equal((await stampsIn(root)).length, 1);
    }));

  it("ignores what a kill has left unfinished, and removes it after a day", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0"]);
      const { location } = await stamp(root);
      const [fresh, old] = ["fresh", "old"].map((name) => join(root, stampsFolder, `.unfinished-${name}`));
      for (const folder of [fresh, old]) {
        await mkdir(folder ?? "");
        await writeFile(join(folder ?? "", "request.tsq"), "");
      }
      await utimes(old ?? "", 0, 0);
      assert.deepEqual((await verify(root)).said, []);
      await fillArchive(root, ["m1"]);
      await stamp(root);
      assert.deepEqual(
        (await stampsIn(root)).filter((name) => name.startsWith(".")),
        [".unfinished-fresh"],
      );
      await rename(join(root, location), join(root, stampsFolder, ".unfinished-more"));
      assert.match((await verify(root)).said.join(), /the time stamp is missing/);
    }));
});
