import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFile, cp, mkdir, readFile, readdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeTimestamp } from "../../src/evidence/make-timestamp.ts";
import { type EvidenceSource, withSource } from "../../src/evidence/packages.ts";
import {
  type Finding,
  exportPackages,
  pruneArchive,
  rebuildIndex,
  timestampArchive,
  verifyArchive,
} from "../../src/index.ts";
import { sha256Of } from "../../src/model/sha256.ts";
import { type ArchiveDisk, plainDisk } from "../../src/vault/archive-disk.ts";
import { FolderFiles } from "../../src/vault/files/folder-files.ts";
import { TimestampFolder, locationOf } from "../../src/vault/timestamp-folder.ts";
import { TimestampServer } from "../../src/vault/timestamp-server/client.ts";
import { PackageTimestamps } from "../../src/vault/timestamps.ts";
import { postgresOptions } from "../database/databases.ts";
import { diskAround, listAll, systemError, withFolder } from "../media/support.ts";
import { failsWith, failureOf } from "../support/failures.ts";
import { openssl, startAuthority, useAuthority } from "../vault/timestamp/authority.ts";
import { certificates, fixture, fixtures } from "../vault/timestamp/fixtures.ts";
import { fillArchive } from "./packages.ts";
import { readZip } from "./read-zip.ts";
import { openSharedStore } from "./shared-store.ts";
import { databaseOf } from "./store.ts";
import { intentOf, mediumOf, openArchive } from "./support.ts";
import { openTwoWorkers } from "./two-workers.ts";

const roots = join(fixtures, "root.crt");
const stampsFolder = ".dimensioner-archive/timestamps";

/** The same store, whose disk is slow or fails. */
function onDisk(source: EvidenceSource, disk: ArchiveDisk): EvidenceSource {
  return { ...source, files: new FolderFiles(source.files.root, disk) };
}

describe("archive: time stamps from OpenSSL", () => {
  // Its stored time stamps are verified in test/vault/timestamp, also where OpenSSL is missing.
  const authority = useAuthority();

  const stamp = (root: string, more: object = {}) =>
    timestampArchive(root, { database: databaseOf(root), server: authority.url, roots, ...more });
  const verify = async (root: string, timestampRoots = roots, folder = root) => {
    const findings: Finding[] = [];
    const options = { database: databaseOf(root), timestampRoots };
    const report = await verifyArchive(folder, { ...options, onFinding: (one) => findings.push(one) });
    return { ...report, said: findings.map(({ kind, path, problem }) => `${kind} ${path}: ${problem}`) };
  };
  const manifestIn = (root: string, path = ""): Promise<Buffer> =>
    readFile(join(root, path, "manifest.json"));
  const stampsIn = async (root: string): Promise<string[]> =>
    (await readdir(join(root, stampsFolder))).sort();
  const coverOf = async (root: string, path: string) => {
    const placed = { path, sha256: sha256Of(await manifestIn(root, path)) };
    const timestamps = new PackageTimestamps({ root, disk: plainDisk }, { roots: certificates("root") });
    const found = await timestamps.find(placed);
    return {
      ...found.timestamp,
      findings: found.findings.map(({ path: of, problem }) => `${of}: ${problem}`),
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
          /Time stamp .*\n?.*\d UTC: signed by .* \(not checked against a root certificate\)/,
        );
        assert.match(
          await reportOf(roots),
          /Time stamp .*\n?.*\d UTC: signed by .* \(root certificate: .*\)/,
        );
      }),
    ));

  it("is in an export, whose report says how OpenSSL verifies it, and dimensioner verify does so, too", () =>
    withFolder((to) =>
      withFolder(async (root) => {
        await fillArchive(root, ["m0"]);
        const { manifestSha256 } = await stamp(root);
        await fillArchive(root, ["m1", "m2"]);
        await stamp(root);
        const options = { database: databaseOf(root), by: "transactionId", value: "m0", to } as const;
        const { path } = await exportPackages(root, { ...options, timestampRoots: roots });
        const folder = join(to, "extracted");
        for (const { name, content } of await readZip(path)) {
          await mkdir(dirname(join(folder, name)), { recursive: true });
          await writeFile(join(folder, name), content);
        }
        const report = await readFile(join(folder, "report.html"), "utf8");
        const [, command = ""] = /<pre>\s*openssl (ts [^<]*)<\/pre/.exec(report) ?? [];
        const said = await openssl(
          ...command
            .trim()
            .split(" ")
            .map((one) => (one.startsWith("time") ? join(folder, one) : one)),
        );
        assert.match(said, /Verification: OK/);
        assert.ok(command.includes(manifestSha256));
        const check = async (of = folder, timestampRoots?: string) => {
          const findings: Finding[] = [];
          const onFinding = (one: Finding) => findings.push(one);
          const { verdict, notes, unchecked } = await verifyArchive(of, { timestampRoots, onFinding });
          return {
            verdict,
            said: [...findings, ...unchecked, ...notes].map(({ kind, path: at }) => `${kind} ${at}`),
          };
        };
        const [stamped = ""] = await readdir(join(folder, "timestamps"));
        const note = `timestamp timestamps/${stamped}`;
        assert.deepEqual(await check(folder, roots), { verdict: "ok", said: [note] });
        assert.deepEqual(await check(join(folder, "packages"), roots), { verdict: "ok", said: [note] });
        assert.equal((await check()).verdict, "unchecked");
        await writeFile(join(folder, "timestamps", stamped, "response.tsr"), fixture("rsa-sha256.tsr"));
        const damaged = await check(folder, roots);
        assert.deepEqual(
          [damaged.verdict, damaged.said],
          ["wrong", [`changed timestamps/${stamped}/response.tsr`, note]],
        );
      }),
    ));

  it("has the newest manifest signed, keeps it, and verifies it offline as OpenSSL does", () =>
    withFolder(async (root) => {
      const paths = await fillArchive(root, ["m0", "m1"]);
      const made = await stamp(root);
      assert.deepEqual([made.package, made.alreadyStamped], [paths[1], false]);
      assert.deepEqual([made.signer, made.root], ["Example Time Stamps", "Example Root"]);
      assert.equal(made.manifestSha256, sha256Of(await manifestIn(root, paths[1])));
      const kept = join(root, made.location);
      assert.deepEqual((await readdir(kept)).sort(), ["request.tsq", "response.tsr", "timestamp.json"]);

      const response = ["-in", join(kept, "response.tsr"), "-CAfile", roots];
      await openssl("ts", "-verify", "-queryfile", join(kept, "request.tsq"), ...response);
      await openssl("ts", "-verify", "-data", join(root, paths[1] ?? "", "manifest.json"), ...response);

      const { verdict, said, notes } = await verify(root);
      assert.deepEqual([verdict, said], ["ok", []]);
      const [{ kind, path, text } = assert.fail(), ...others] = notes;
      assert.deepEqual([kind, path, others], ["timestamp", made.location, []]);
      assert.match(
        text,
        /“Example Time Stamps” \(root certificate: “Example Root”\) signed the manifest of /,
      );
      assert.equal((await verify(root, roots, join(root, paths[0] ?? ""))).verdict, "ok");
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

  it("is made of the end of each chain if several workers share the store, and once of each", () =>
    withFolder(async (root) => {
      const options = await postgresOptions();
      const workers = [await openSharedStore(root, options), await openSharedStore(root, options)];
      const paths: string[] = [];
      for (const [index, { store }] of workers.entries()) {
        const ids = [0, 1].map((number) => `m${index}${number}`);
        paths.push(...(await fillArchive(root, ids, () => ({}), { store })));
      }
      const asked = authority.requests.length;
      const stampAll = () => stamp(root, { database: options.address.url });
      // The second chain begins at the end of the first one, which nothing else has named.
      const made = await stampAll();
      assert.deepEqual([made.package, made.alreadyStamped], [paths[3], false]);
      const third = await openSharedStore(root, options);
      const fourth = await openSharedStore(root, options);
      const both = await Promise.all(
        [third, fourth].map(({ store }) => openArchive(root, undefined, { store })),
      );
      for (const [index, { runner }] of both.entries()) {
        const intent = intentOf(`n${index}`, { origin: null });
        const submission = await runner.submitMedia(intent, [mediumOf(`n${index}`)], null);
        await submission.end();
        submission.messageSent();
      }
      assert.equal((await stampAll()).alreadyStamped, false);
      assert.equal((await stampAll()).alreadyStamped, true);
      assert.equal(authority.requests.length, asked + 3);
      await Promise.all(both.map((one) => one.close()));
      for (const path of paths) {
        assert.ok((await coverOf(root, path)) !== null, path);
      }
    }));

  it("passes over the end of a chain that was pruned, and reports one that was lost after the others", () =>
    withFolder(async (root) => {
      const options = await postgresOptions();
      const { archive, close } = await openTwoWorkers(root, options);
      const stampAll = () => stamp(root, { database: options.address.url });

      // Without the database, the row of what was pruned stays.
      await archive(0, "n0");
      const before = new Date();
      const newest = await archive(1, "n1");
      assert.equal((await pruneArchive(root, { before })).deleted, 1);
      assert.equal((await stampAll()).package, newest);
      assert.equal((await stampAll()).alreadyStamped, true);

      await rm(join(root, await archive(1, "n2")), { recursive: true });
      await failsWith(stampAll(), { code: "ERR_NOT_FOUND" });
      const live = await archive(0, "n3");
      const { message } = await failureOf(stampAll());
      assert.match(message, /is in the index, but its folder is missing/);
      assert.equal((await coverOf(root, live)).links, 0);
      await close();
    }));

  it("asks again, for the end of each chain, once the roots do not accept the time stamp that is kept", () =>
    withFolder(async (root) => {
      const options = await postgresOptions();
      const { archive, close } = await openTwoWorkers(root, options);
      await archive(0, "n0");
      await archive(1, "n1");
      const stampWith = (file: string) =>
        stamp(root, { database: options.address.url, roots: join(fixtures, file) });
      await stampWith("root.crt");
      const refused = await failureOf(stampWith("middle.crt"));
      assert.equal(refused.code, "ERR_BAD_RESPONSE");
      authority.signWith("ecdsa");
      try {
        const asked = authority.requests.length;
        const made = await stampWith("middle.crt");
        assert.deepEqual([made.alreadyStamped, made.signer], [false, "Elliptic Time Stamps"]);
        assert.equal((await stampWith("middle.crt")).alreadyStamped, true);
        assert.equal(authority.requests.length, asked + 2);
      } finally {
        authority.signWith("rsa");
        await close();
      }
    }));

  it("asks once for each new manifest, and once for each server", () =>
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

  it("covers every package before the one that was signed, and none after it", () =>
    withFolder(async (root) => {
      const paths = await fillArchive(root, ["m0", "m1", "m2"]);
      const made = await stamp(root);
      const [later = ""] = await fillArchive(root, ["m3"]);
      const links = await Promise.all(paths.map(async (path) => (await coverOf(root, path)).links));
      assert.deepEqual(links, [2, 1, 0]);
      const nameOf = async (path = ""): Promise<string> =>
        locationOf((await coverOf(root, path)).kept?.name ?? "");
      assert.equal(await nameOf(paths[0]), made.location);
      assert.deepEqual(await coverOf(root, later), { findings: [] });
      await stamp(root);
      assert.equal((await coverOf(root, later)).links, 0);
      assert.equal(await nameOf(paths[0]), made.location);
      // Without the manifest between them, nothing leads from the signed one to the first.
      await rm(join(root, paths[1] ?? ""), { recursive: true });
      assert.deepEqual(await coverOf(root, paths[0] ?? ""), { findings: [] });
      assert.equal((await coverOf(root, paths[2] ?? "")).links, 0);
    }));

  const damages: readonly (readonly [
    what: string,
    damage: (kept: string, root: string, path: string) => Promise<unknown>,
    said: RegExp,
  ])[] = [
    [
      "a lost time stamp",
      (kept) => rm(kept, { recursive: true }),
      /^timestamp K: the time stamp of the package P is missing$/,
    ],
    [
      "a changed response",
      async (kept) => {
        const file = join(kept, "response.tsr");
        const bytes = await readFile(file);
        bytes.writeUInt8(bytes.readUInt8(600) ^ 1, 600);
        await writeFile(file, bytes);
      },
      /^timestamp K: the time stamp of the package P is not the original one$/,
    ],
    [
      "a time stamp of something else that was put in its place",
      (kept) => writeFile(join(kept, "response.tsr"), fixture("rsa-sha256.tsr")),
      /^timestamp K: .* is not the original one$/,
    ],
    [
      "one of something else, with the log that was deleted",
      async (kept, root) => {
        await writeFile(join(kept, "response.tsr"), fixture("rsa-sha256.tsr"));
        await rm(join(root, ".dimensioner-archive/timestamps.jsonl"));
      },
      /^timestamp K: the time stamp of the package P is not valid: it is for another SHA-256$/,
    ],
    [
      "a response that is none",
      async (kept, root) => {
        await writeFile(join(kept, "response.tsr"), "<html>");
        await rm(join(root, ".dimensioner-archive/timestamps.jsonl"));
      },
      /^timestamp K: .* is not valid: it is not a time stamp as RFC 3161 defines it$/,
    ],
    [
      "another request",
      (kept) => writeFile(join(kept, "request.tsq"), fixture("request.tsq")),
      /^timestamp K: .* is not valid: it is the response to another request$/,
    ],
    [
      "a lost file",
      (kept) => rm(join(kept, "timestamp.json")),
      /^timestamp K: the time stamp cannot be read: a file of it is missing or damaged$/,
    ],
  ];
  for (const [what, damage, expected] of damages) {
    it(`finds ${what}`, () =>
      withFolder(async (root) => {
        const [path = ""] = await fillArchive(root, ["m0"]);
        const { location } = await stamp(root);
        await damage(join(root, location), root, path);
        const { verdict, said } = await verify(root);
        assert.equal(verdict, "wrong");
        assert.deepEqual(said.length, 1, said.join("\n"));
        assert.match(said.join("\n").replace(location, "K").replace(path, "P"), expected);
        const { links, findings } = await coverOf(root, path);
        assert.deepEqual([links, findings.length], [undefined, 1], findings.join("\n"));
        assert.ok(findings[0]?.startsWith(`${location}: the time stamp `), findings[0]);
      }));
  }

  it("finds a package that was changed after its manifest was signed, even if the manifest was changed with it", () =>
    withFolder(async (root) => {
      const [path = ""] = await fillArchive(root, ["m0"]);
      const { location } = await stamp(root);
      const file = join(root, path, "manifest.json");
      await writeFile(file, (await readFile(file, "utf8")).replace("ORDER-1", "ORDER-2"));
      const said = (await verify(root)).said.filter((one) => one.startsWith("timestamp"));
      assert.deepEqual(said, [
        `timestamp ${location}: the manifest that was time-stamped, that of ${path}, is missing or has been changed`,
      ]);
    }));

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
          new RegExp(`^changed ${second}/manifest.json: the manifest differs`),
          /^timestamp .*: the time stamp of the package .* is not the original one$/,
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

  it("keeps a time stamp whose package was pruned", () =>
    withFolder(async (root) => {
      const database = databaseOf(root);
      await fillArchive(root, ["m0"]);
      await stamp(root);
      const before = new Date(Date.now() + 1_000);
      // Whether its row stays or not, there is nothing to be time-stamped, and nothing is wrong.
      for (const more of [{}, { database }]) {
        await pruneArchive(root, { before, ...more });
        assert.deepEqual((await verify(root)).said, []);
        const { code, message } = await failureOf(stamp(root));
        assert.equal(code, "ERR_NOT_FOUND");
        assert.match(message, /^There is no package yet/);
      }
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

  it("signs no manifest that is not as it was archived", () =>
    withFolder(async (root) => {
      const asked = authority.requests.length;
      await failsWith(
        fillArchive(root, []).then(() => stamp(root)),
        { code: "ERR_NOT_FOUND" },
      );
      const [path = ""] = await fillArchive(root, ["m0"]);
      const file = join(root, path, "manifest.json");
      await writeFile(file, (await readFile(file, "utf8")).replace("ORDER-1", "ORDER-2"));
      const { code, message } = await failureOf(stamp(root));
      assert.equal(code, "ERR_FILE");
      assert.match(message, /has changed since it was archived, so it was not time-stamped/);
      assert.equal(authority.requests.length, asked);
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
      const [path = ""] = await fillArchive(root, ["m0"]);
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
          );
          ended = calls <= failing;
          assert.equal(ended ? made !== undefined : true, true);
          const kept = new TimestampFolder(template, plainDisk);
          const names = await kept.names();
          for (const name of names) {
            assert.equal((await kept.read(name))?.about.package, path, String(failing));
          }
          for await (const { timestamp } of kept.logged()) {
            assert.ok(names.includes(timestamp), String(failing));
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
        await withSource(place, (source) => makeTimestamp(onDisk(source, disk), server, { roots }));
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
      assert.match((await verify(root)).said.join(), /is missing$/);
    }));
});
