import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  appendFile,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  realpath,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  assert as assertProperty,
  asyncProperty,
  constantFrom,
  integer,
  record,
  uniqueArray,
} from "fast-check";
import { demandListed, verifyPackages, withSource } from "../../src/evidence/packages.ts";
import {
  type Finding,
  addNumbers,
  exportPackages,
  holdPackages,
  timestampArchive,
  verifyArchive,
} from "../../src/index.ts";
import { sha256Of } from "../../src/model/sha256.ts";
import { plainDisk } from "../../src/vault/archive-disk.ts";
import { type LogEvent, writeCheckpoint } from "../../src/vault/log/events.ts";
import { LogTree } from "../../src/vault/log/tree.ts";
import { provePackages } from "../../src/vault/log/package-proof.ts";
import { withFolder } from "../media/support.ts";
import { useCredentials } from "../support/s3-servers.ts";
import { rowsIn } from "../support/rows.ts";
import { hasOpenSsl, startAuthority } from "../vault/timestamp/authority.ts";
import { fixtures } from "../vault/timestamp/fixtures.ts";
import { type Place, type Verified, places, verifyAt } from "./everywhere.ts";
import { forgeLog, forgePackage, forgeRow, withManifest } from "./forger.ts";
import { changeDatabase, fillArchive } from "./packages.ts";
import { readZip } from "./read-zip.ts";
import { databaseOf } from "./store.ts";

const roots = join(fixtures, "root.crt");
const figures = { length: 33.5, width: 21, height: 15.5, dimsUnitOfMeasure: "cm" };
const measurement = JSON.stringify(figures);
const smaller = JSON.stringify({ ...figures, height: 1.5 });

/** What a verification says, as "kind path". */
async function said(folder: string, options: Parameters<typeof verifyArchive>[1] = {}) {
  const findings: Finding[] = [];
  const report = await verifyArchive(folder, { ...options, onFinding: (one) => findings.push(one) });
  return {
    verdict: report.verdict,
    findings: findings.map(({ kind, path }) => `${kind} ${path}`),
    unchecked: report.unchecked.map(({ kind }) => kind),
  };
}

describe("archive: whoever may write to the packages and the database", () => {
  useCredentials();
  let template = "";
  let paths: readonly string[] = [];
  let stamps: readonly string[] = [];
  before(async function () {
    if (!hasOpenSsl) {
      this.skip();
    }
    template = await realpath(await mkdtemp(join(tmpdir(), "forged-")));
    const authority = await startAuthority();
    try {
      const stamp = async (): Promise<string> =>
        (await timestampArchive(template, { database: databaseOf(template), server: authority.url, roots }))
          .location;
      const first = await fillArchive(template, ["m0", "m1", "m2"], () => ({ measurement }));
      stamps = [await stamp()];
      const known = { database: databaseOf(template), by: "transactionId", value: "m1" } as const;
      await addNumbers(template, { ...known, numbers: ["1Z 4711"], person: "Anna" });
      const later = await fillArchive(template, ["m3", "m4"], () => ({ measurement }));
      stamps = [...stamps, await stamp()];
      await holdPackages(template, { ...known, reason: "claim 7" });
      paths = [...first, ...later];
    } finally {
      await authority.close();
    }
    const place = { folder: template, database: databaseOf(template), operation: "checkpoint" };
    const checkpoint = await withSource(place, ({ database, log }) =>
      new LogTree(database).checkpointOf(log.store),
    );
    await writeFile(join(template, "..", "forged-checkpoint"), writeCheckpoint(checkpoint));
  });
  after(async () => {
    await rm(template, { recursive: true, force: true });
    await rm(join(template, "..", "forged-checkpoint"), { force: true });
  });
  const checkpointFile = () => join(template, "..", "forged-checkpoint");
  const withArchive = (body: (root: string) => Promise<void>): Promise<void> =>
    withFolder(async (root) => {
      await cp(template, root, { recursive: true });
      changeDatabase(databaseOf(root), `UPDATE store SET folder = '${root}'`);
      await body(root);
    });
  /** The second package is time-stamped twice. */
  const forgeFigure = (root: string) =>
    forgePackage(
      root,
      paths[1] ?? "",
      (manifest) => {
        manifest["measured"] = { ...(manifest["measured"] as object), height: 1.5 };
      },
      { "measurement.json": smaller },
    );
  const verifyOne = async (root: string, id: string) => {
    const place = { folder: root, database: databaseOf(root), operation: "verify" };
    const proven = await withSource(place, async (source) =>
      provePackages(source, await demandListed(source, { by: "transactionId", value: id, limit: 1 }), roots),
    );
    const findings: string[] = [];
    const { verdict, notes } = await verifyPackages({ root, disk: plainDisk }, proven, {
      onFinding: ({ kind }) => findings.push(kind),
      onProgress: () => undefined,
      signal: new AbortController().signal,
    });
    return { verdict, findings, covered: notes[0]?.timestamp ?? null };
  };
  /** As it is in a folder and in a bucket, with each of the two databases: all four say the same. */
  const verifyWith = async (root: string, more: object = { timestampRoots: roots }): Promise<Verified> => {
    const [first, ...others] = await Promise.all(places.map((place) => verifyAt(place, root, more)));
    assert.ok(first !== undefined);
    for (const [index, other] of others.entries()) {
      assert.deepEqual(other, first, places[index + 1]);
    }
    return first;
  };

  it("has not been there: everything is as it was archived", () =>
    withArchive(async (root) => {
      const more = { timestampRoots: roots, checkpoints: [checkpointFile()] };
      assert.deepEqual(await verifyWith(root, more), { verdict: "ok", findings: [], unchecked: [] });
      assert.deepEqual((await verifyOne(root, "m1")).findings, []);
    }));

  it("and changes a figure in a time-stamped package with its manifest and row is noticed by the log", () =>
    withArchive(async (root) => {
      forgeRow(root, await forgeFigure(root));
      const { verdict, findings } = await verifyWith(root);
      assert.equal(verdict, "wrong");
      assert.ok(findings.includes(`changed ${paths[1]}/manifest.json`), findings.join("\n"));
      const one = await verifyOne(root, "m1");
      assert.equal(one.verdict, "wrong");
      assert.ok(one.findings.includes("manifest"), one.findings.join());
    }));

  it("and also writes the log anew, is noticed by the time stamps, and by a checkpoint that was kept elsewhere", () =>
    withArchive(async (root) => {
      const forged = await forgeFigure(root);
      forgeRow(root, forged);
      await forgeLog(root, (events) => withManifest(events, forged));
      const { verdict, findings } = await verifyWith(root);
      assert.deepEqual(
        [verdict, findings.filter((one) => !one.startsWith("index"))],
        ["wrong", stamps.map((stamp) => `timestamp ${stamp}`)],
      );
      const one = await verifyOne(root, "m1");
      assert.deepEqual([one.verdict, one.covered], ["wrong", null]);
      assert.ok(one.findings.includes("timestamp"));

      // Without the time stamps and what names them, only the checkpoint is left.
      await rm(join(root, ".dimensioner-archive", "timestamps"), { recursive: true });
      await forgeLog(root, (events) => events.filter(({ what }) => what !== "stamped"));
      assert.deepEqual((await verifyWith(root)).unchecked, ["no-timestamps"]);
      // Nor with what an interrupted one has left in a bucket.
      await mkdir(join(root, ".dimensioner-archive", "timestamps", "none"), { recursive: true });
      assert.deepEqual((await verifyWith(root)).unchecked, ["no-timestamps"]);
      const kept = await verifyWith(root, { checkpoints: [checkpointFile()] });
      assert.equal(kept.verdict, "wrong");
      assert.ok(kept.findings.includes(`checkpoint ${checkpointFile()}`));
      assert.equal((await verifyOne(root, "m1")).covered, null);
    }));

  it("and cuts off the end of the log with its packages, is noticed by what was signed", () =>
    withArchive(async (root) => {
      await forgeLog(root, (events) => events.slice(0, 6));
      for (const path of paths.slice(3)) {
        await rm(join(root, path), { recursive: true });
      }
      changeDatabase(databaseOf(root), "DELETE FROM packages WHERE transaction_id IN ('m3', 'm4')");
      const { verdict, findings } = await verifyWith(root);
      assert.equal(verdict, "wrong");
      assert.ok(findings.includes(`timestamp ${stamps[1]}`), findings.join("\n"));
    }));

  it("and lets the manifest say other figures than the measurement, is noticed without any of them", () =>
    withArchive(async (root) => {
      await rm(join(root, ".dimensioner-archive", "timestamps"), { recursive: true });
      const forged = await forgePackage(root, paths[1] ?? "", (manifest) => {
        manifest["measured"] = { ...(manifest["measured"] as object), height: 1.5 };
      });
      forgeRow(root, forged);
      await forgeLog(root, (events) => withManifest(events, forged).filter(({ what }) => what !== "stamped"));
      const { findings } = await verifyWith(root, {});
      assert.ok(findings.includes(`manifest ${paths[1]}/manifest.json`), findings.join("\n"));
      assert.ok((await verifyOne(root, "m1")).findings.includes("manifest"));
    }));

  for (const isMoved of [false, true]) {
    const what = isMoved ? "moves a time-stamped package" : "puts another package in the place of one";
    it(`and ${what}, with a row and a line of its own at the end of the log, is noticed`, () =>
      withArchive(async (root) => {
        const path = paths[2] ?? "";
        const place = isMoved ? "2026-11-03/elsewhere" : path;
        if (isMoved) {
          await cp(join(root, path), join(root, place), { recursive: true });
          await rm(join(root, path), { recursive: true });
        }
        const { before, after } = await forgePackage(root, place, (manifest) => {
          manifest["job"] = isMoved ? manifest["job"] : "another";
        });
        const where = `WHERE location = '${path}'`;
        changeDatabase(
          databaseOf(root),
          `UPDATE packages SET location = '${place}', manifest_sha256 = '${after}' ${isMoved ? "" : ", package_id = 'another'"} ${where}`,
        );
        await forgeLog(root, (events) => [
          ...events,
          ...events.flatMap((event) =>
            event.what === "archived" && event.sha256 === before
              ? [{ ...event, package: "another", path: place, sha256: after }]
              : [],
          ),
        ]);
        const { findings } = await verifyWith(root, {
          checkpoints: [checkpointFile()],
          timestampRoots: roots,
        });
        assert.deepEqual(findings, [isMoved ? `missing-package ${path}` : `changed ${path}/manifest.json`]);
      }));
  }

  it("and lets the log say that a time stamp is of more lines than it is of, is noticed", () =>
    withArchive(async (root) => {
      await forgeLog(root, (events) => {
        const newest = events.findLast(({ what }) => what === "stamped");
        return newest?.what === "stamped" ? [...events, { ...newest, size: events.length }] : events;
      });
      assert.deepEqual((await verifyWith(root)).findings, [`timestamp ${stamps[1]}`]);
    }));

  it("and changes what one of the checkpoints in a file is of, is noticed", () =>
    withArchive(async (root) => {
      const text = await readFile(checkpointFile(), "utf8");
      const file = join(root, "..", "checkpoints");
      const other = text.replace(/\n[^\n]+\n$/, `\n${Buffer.alloc(32).toString("base64")}\n`);
      try {
        // PowerShell writes UTF-16, and an answered e-mail is quoted.
        for (const content of [Buffer.from(`\uFEFF${text}`, "utf16le"), text.replaceAll(/^/gm, "> ")]) {
          await writeFile(file, content);
          const { verdict } = await said(root, {
            database: databaseOf(root),
            checkpoints: [file],
            timestampRoots: roots,
          });
          assert.equal(verdict, "ok");
        }
        await writeFile(file, `${text}${other}${text}`);
        const { findings } = await verifyWith(root, { checkpoints: [file], timestampRoots: roots });
        assert.deepEqual(findings, [`checkpoint ${file}`]);
      } finally {
        await rm(file);
      }
    }));

  it("gives a checkpoint of another store, or what is none: that is not checked", () =>
    withArchive(async (root) => {
      const [other, none] = [join(root, "..", "other-checkpoint"), join(root, "..", "no-checkpoint")];
      const text = await readFile(checkpointFile(), "utf8");
      await writeFile(other, text.replace("archive/", "archive/x"));
      await writeFile(none, "hello");
      try {
        const { verdict, unchecked } = await verifyWith(root, {
          timestampRoots: roots,
          checkpoints: [other, none, `${none}-gone`],
        });
        assert.deepEqual([verdict, unchecked], ["unchecked", ["checkpoint", "checkpoint", "checkpoint"]]);
      } finally {
        await rm(other);
        await rm(none);
      }
    }));

  /** Changes of what was there when the checkpoint was made, each made as consistent as public hashes allow. */
  const edits = {
    figure: async (root: string, at: number) => {
      const forged = await forgePackage(
        root,
        paths[at] ?? "",
        (manifest) => {
          manifest["measured"] = { ...(manifest["measured"] as object), height: 1.5 };
        },
        { "measurement.json": smaller },
      );
      forgeRow(root, forged);
      await forgeLog(root, (events) => withManifest(events, forged));
    },
    time: async (root: string, at: number) => {
      const archived = "2020-01-01T00:00:00.000Z";
      const forged = await forgePackage(root, paths[at] ?? "", (manifest) => {
        manifest["times"] = { ...(manifest["times"] as object), archived };
      });
      forgeRow(root, forged);
      changeDatabase(
        databaseOf(root),
        `UPDATE packages SET archived_at = '${archived}' WHERE manifest_sha256 = '${forged.after}'`,
      );
      await forgeLog(root, (events) =>
        withManifest(events, forged).map((event) =>
          event.what === "archived" && event.sha256 === forged.after ? { ...event, archived } : event,
        ),
      );
    },
    forget: async (root: string, at: number): Promise<void> => {
      await rm(join(root, paths[at] ?? ""), { recursive: true, force: true });
      changeDatabase(databaseOf(root), `DELETE FROM packages WHERE location = '${paths[at]}'`);
      await forgeLog(root, (events) =>
        events.filter((event) => !("path" in event) || event.path !== paths[at]),
      );
    },
    prune: async (root: string, at: number): Promise<void> => {
      if (at === paths.length - 1) {
        // A line after the last package would come after what is signed: whoever has the log may add to it.
        await edits.forget(root, at);
        return;
      }
      await rm(join(root, paths[at] ?? ""), { recursive: true, force: true });
      changeDatabase(databaseOf(root), `DELETE FROM packages WHERE location = '${paths[at]}'`);
      await forgeLog(root, (events) =>
        events.flatMap((event): LogEvent[] => {
          const now = new Date().toISOString();
          return event.what === "archived" && event.path === paths[at]
            ? [
                event,
                {
                  what: "pruned",
                  at: now,
                  package: event.package,
                  path: event.path,
                  sha256: event.sha256,
                  transactionId: `m${at}`,
                  before: now,
                },
              ]
            : [event];
        }),
      );
    },
    order: (root: string, at: number) =>
      forgeLog(root, (events) => {
        const swapped = [...events];
        // Another edit may have cut some off.
        const first = Math.min(at + 1, swapped.length - 2);
        const [one, other] = [swapped[first], swapped[first + 1]];
        assert.ok(one !== undefined && other !== undefined);
        swapped.splice(first, 2, other, one);
        return swapped;
      }),
    // The last two lines, of the last time stamp itself and of the hold, came after what that time stamp is of.
    cut: (root: string, at: number) => forgeLog(root, (events) => events.slice(0, events.length - 3 - at)),
    byte: async (root: string, at: number) => {
      const folder = join(root, ".dimensioner-archive", "log");
      const [store = ""] = await readdir(folder);
      const names = (await readdir(join(folder, store))).sort();
      const file = join(folder, store, names[at % names.length] ?? "");
      const text = await readFile(file, "utf8");
      await writeFile(file, text.replace(/"at":"2/, '"at":"3'));
    },
    // Also with a row, as the package that was archived; another edit may have removed that one.
    add: async (root: string, at: number) => {
      const added = `${paths[at]}-added`;
      await cp(join(root, paths[at] ?? ""), join(root, added), { recursive: true }).catch(() => undefined);
      const { after } = await forgePackage(root, added, (manifest) => {
        manifest["job"] = "added";
      }).catch(() => ({ after: "" }));
      const [row] = rowsIn(databaseOf(root), `SELECT * FROM packages WHERE location = '${paths[at]}'`);
      if (row !== undefined) {
        const { indexed_order: _order, ...copied } = row;
        const values = { ...copied, package_id: "added", location: added, manifest_sha256: after };
        const texts = Object.values(values).map((value) => (value === null ? "NULL" : `'${value}'`));
        changeDatabase(
          databaseOf(root),
          `INSERT OR REPLACE INTO packages (${Object.keys(values).join(", ")}) VALUES (${texts.join(", ")})`,
        );
      }
    },
    // The second package is on hold.
    unhold: async (root: string) => {
      await rm(join(root, paths[1] ?? "", "hold.json"), { force: true });
    },
    gone: async (root: string) => {
      await rm(join(root, ".dimensioner-archive", "log"), { recursive: true, force: true });
      changeDatabase(
        databaseOf(root),
        "DELETE FROM log; UPDATE log_head SET size = 0; DELETE FROM log_writers",
      );
    },
  } as const;
  const names = Object.keys(edits) as (keyof typeof edits)[];

  it("and changes anything that the last checkpoint and the last time stamp are of, is noticed by each of both", async function () {
    this.timeout(600_000);
    const edit = record({ name: constantFrom(...names), at: integer({ min: 0, max: 4 }) });
    // Both kinds of vault and of database; the random ones are in all four places.
    const all = names.flatMap((name) =>
      (["folder, PostgreSQL", "bucket, SQLite"] as const).map(
        (place): [readonly { name: typeof name; at: number }[], Place] => [[{ name, at: 1 }], place],
      ),
    );
    await assertProperty(
      asyncProperty(
        uniqueArray(edit, { minLength: 1, maxLength: 2, selector: ({ at }) => at }),
        constantFrom(...places),
        (some, place) =>
          withArchive(async (root) => {
            // Others write the log anew, and could not read a damaged one.
            const rank = ({ name }: { readonly name: string }): number => ["byte", "gone"].indexOf(name);
            for (const { name, at } of some.toSorted((one, other) => rank(one) - rank(other))) {
              await edits[name](root, at);
            }
            for (const more of [{ checkpoints: [checkpointFile()] }, { timestampRoots: roots }]) {
              const { verdict } = await verifyAt(place, root, more);
              assert.notEqual(verdict, "ok", JSON.stringify([some, place, Object.keys(more)]));
            }
          }),
      ),
      {
        numRuns: 40,
        examples: [
          ...all,
          [
            [
              { name: "unhold", at: 1 },
              { name: "cut", at: 0 },
            ],
            "folder, SQLite",
          ],
        ],
      },
    );
  });

  describe("and gives away an export", () => {
    /** Changes a manifest, and its hash in the line of the log. */
    const forgeWithLine = async (folder: string): Promise<void> => {
      const { before, after } = await forgePackage(join(folder, "packages"), paths[1] ?? "", (manifest) => {
        manifest["device"] = "another device";
      });
      const log = join(folder, "proof", "log");
      await writeFile(log, (await readFile(log, "utf8")).replace(before, after));
    };
    const extracted = async (root: string, to: string): Promise<string> => {
      const { path } = await exportPackages(root, {
        database: databaseOf(root),
        by: "all",
        to,
        timestampRoots: roots,
      });
      const folder = join(to, "x");
      for (const { name, content } of await readZip(path)) {
        await mkdir(dirname(join(folder, name)), { recursive: true });
        await writeFile(join(folder, name), content);
      }
      return folder;
    };
    /** The list of hashes as anybody can write it again. */
    const forgeSums = async (folder: string): Promise<void> => {
      const sums = await readFile(join(folder, "SHA256SUMS"), "utf8");
      const lines = sums.trim().split("\n");
      const forged = await Promise.all(
        lines.map(
          async (line) => `${sha256Of(await readFile(join(folder, line.slice(66))))}  ${line.slice(66)}\n`,
        ),
      );
      await writeFile(join(folder, "SHA256SUMS"), forged.join(""));
    };
    /** Whether the standard programs accept it; null where there is none. */
    const standard = async (folder: string) => {
      const run = (program: string, ...args: readonly string[]): boolean | null => {
        const { status, error } = spawnSync(program, args, { cwd: folder, encoding: "utf8" });
        return error === undefined ? status === 0 : null;
      };
      const readMe = await readFile(join(folder, "proof", "README.txt"), "utf8");
      const commands = [...readMe.matchAll(/^ {3}openssl (ts -verify .*)$/gm)].map(([, args = ""]) =>
        args.split(" "),
      );
      const signed = commands.map((args) =>
        run("openssl", ...args.map((one) => (one === "roots.pem" ? roots : one))),
      );
      return {
        sums: run("sha256sum", "-c", "SHA256SUMS"),
        script: run("python3", join("proof", "check.py")),
        signed: signed.every((one) => one !== false),
        stamps: signed.length,
      };
    };
    /** An export as it was made, of which each test has a copy. */
    let made = "";
    before(async () => {
      made = await realpath(await mkdtemp(join(tmpdir(), "forged-export-")));
      await withArchive(async (root) => void (await extracted(root, made)));
    });
    after(() => rm(made, { recursive: true, force: true }));
    const withExport = (body: (folder: string) => Promise<void>): Promise<void> =>
      withFolder(async (to) => {
        const folder = join(to, "x");
        await cp(join(made, "x"), folder, { recursive: true });
        await body(folder);
      });

    it("that is as it was made: dimensioner verify and the standard programs of its README accept it", () =>
      withExport(async (folder) => {
        assert.deepEqual(await said(folder, { timestampRoots: roots }), {
          verdict: "ok",
          findings: [],
          unchecked: [],
        });
        assert.deepEqual(await said(folder), {
          verdict: "unchecked",
          findings: [],
          unchecked: ["timestamp-signer"],
        });
        const { sums, script, signed, stamps: count } = await standard(folder);
        assert.ok(sums !== false && script !== false && signed);
        assert.equal(count, 2);
        const report = await readFile(join(folder, "report.html"), "utf8");
        assert.match(report, /Time-stamped on 20/);
        assert.match(report, /Number added: 1Z 4711[^<]*<\/bdi>\s*<\/td>\s*<td>\s*<div><bdi>Anna/);
        assert.match(report, /Put on hold<\/bdi>\s*<br \/><small>No time stamp covers this yet/);
        assert.match(
          report,
          /openssl ts -verify -data proof\/\S+\/checkpoint -in proof\/\S+\/response\.tsr -CAfile proof\//,
        );
      }));

    it("of one package: nothing else in it is about another one", () =>
      withFolder((to) =>
        withArchive(async (root) => {
          const options = { database: databaseOf(root), by: "transactionId", value: "m1", to } as const;
          const { path } = await exportPackages(root, { ...options, timestampRoots: roots });
          for (const { name, content } of await readZip(path, (one) => !one.startsWith("packages/"))) {
            for (const other of [0, 2, 3, 4].map((at) => paths[at] ?? "")) {
              assert.ok(!content.includes(other), `${other} in ${name}`);
            }
          }
        }),
      ));

    const forgeries: readonly (readonly [
      what: string,
      forge: (folder: string) => Promise<unknown>,
      notices: { readonly sums: boolean; readonly script: boolean; readonly signed: boolean },
    ])[] = [
      [
        "with a smaller figure, and all hashes of the package and of the list",
        async (folder) => {
          await forgePackage(
            join(folder, "packages"),
            paths[1] ?? "",
            (manifest) => {
              manifest["measured"] = { ...(manifest["measured"] as object), height: 1.5 };
            },
            { "measurement.json": smaller },
          );
          await forgeSums(folder);
        },
        { sums: false, script: true, signed: false },
      ],
      [
        "with a picture exchanged, and the list of hashes",
        async (folder) => {
          const [name = ""] = (await readdir(join(folder, "packages", paths[0] ?? ""))).filter((one) =>
            one.endsWith(".jpg"),
          );
          await writeFile(join(folder, "packages", paths[0] ?? "", name), "another picture");
          await forgeSums(folder);
        },
        { sums: false, script: true, signed: false },
      ],
      [
        "with the line of the log that fits to a forged manifest",
        async (folder) => {
          await forgeWithLine(folder);
          await forgeSums(folder);
        },
        { sums: false, script: true, signed: false },
      ],
      [
        "with another number in the line of the log that has added it",
        async (folder) => {
          const log = join(folder, "proof", "log");
          const text = await readFile(log, "utf8");
          assert.ok(text.includes("1Z 4711"));
          await writeFile(log, text.replace("1Z 4711", "1Z 4712"));
          await forgeSums(folder);
        },
        { sums: false, script: true, signed: false },
      ],
      [
        "with another number in that line, and without the ways from it",
        async (folder) => {
          const log = join(folder, "proof", "log");
          const text = await readFile(log, "utf8");
          const n = /^(\d+) .*1Z 4711/m.exec(text)?.[1] ?? "";
          await writeFile(log, text.replace("1Z 4711", "1Z 4712"));
          for (const name of await readdir(join(folder, "proof"))) {
            const file = join(folder, "proof", name, "paths");
            const ways = await readFile(file, "utf8").catch(() => undefined);
            if (ways !== undefined) {
              await writeFile(file, ways.replace(new RegExp(`^${n} .*\\n`, "m"), ""));
            }
          }
          await forgeSums(folder);
        },
        { sums: false, script: true, signed: false },
      ],
      [
        "with a line of the log about a package that is not in it",
        async (folder) => {
          const log = join(folder, "proof", "log");
          const [, n = "", line = ""] =
            /^(\d+) (.*"what":"named".*)$/m.exec(await readFile(log, "utf8")) ?? [];
          const other = line.replace(/"(package|sha256)":"[^"]+"/g, `"$1":"${"0".repeat(64)}"`);
          await appendFile(log, `${Number(n) + 90} ${other}\n`);
          await forgeSums(folder);
        },
        { sums: false, script: true, signed: false },
      ],
      [
        "with checkpoints that fit to a forged line",
        async (folder) => {
          await forgeWithLine(folder);
          for (const name of await readdir(join(folder, "proof"))) {
            const file = join(folder, "proof", name, "checkpoint");
            const text = await readFile(file, "utf8").catch(() => undefined);
            if (text !== undefined) {
              await writeFile(
                file,
                text.replace(/\n[^\n]+\n$/, `\n${Buffer.alloc(32).toString("base64")}\n`),
              );
            }
          }
          await forgeSums(folder);
        },
        { sums: false, script: true, signed: true },
      ],
      [
        "without one of its packages",
        async (folder) => {
          await rm(join(folder, "packages", paths[2] ?? ""), { recursive: true });
          const sums = await readFile(join(folder, "SHA256SUMS"), "utf8");
          const left = sums.split("\n").filter((line) => !line.includes(`packages/${paths[2]}/`));
          await writeFile(join(folder, "SHA256SUMS"), left.join("\n"));
        },
        { sums: false, script: true, signed: false },
      ],
      [
        "with one package more",
        async (folder) => {
          const added = join(folder, "packages", `${paths[1]}-added`);
          await cp(join(folder, "packages", paths[1] ?? ""), added, { recursive: true });
          await forgePackage(join(folder, "packages"), `${paths[1]}-added`, (manifest) => {
            manifest["job"] = "added";
          });
          for (const name of await readdir(added)) {
            const line = `${sha256Of(await readFile(join(added, name)))}  packages/${paths[1]}-added/${name}\n`;
            await appendFile(join(folder, "SHA256SUMS"), line);
          }
        },
        { sums: false, script: true, signed: false },
      ],
      [
        "with two packages in each other's folders",
        async (folder) => {
          const [one, other] = [paths[0] ?? "", paths[2] ?? ""].map((path) => join(folder, "packages", path));
          assert.ok(one !== undefined && other !== undefined);
          await rename(one, `${one}-`);
          await rename(other, one);
          await rename(`${one}-`, other);
          await forgeSums(folder);
        },
        { sums: false, script: true, signed: false },
      ],
      [
        "with a picture beside its packages",
        async (folder) => {
          const name = "packages/2026-11-02/added.jpg";
          await writeFile(join(folder, name), "a picture");
          await appendFile(join(folder, "SHA256SUMS"), `${sha256Of("a picture")}  ${name}\n`);
        },
        { sums: false, script: true, signed: false },
      ],
      [
        "with a line of the log in two ways",
        async (folder) => {
          const log = join(folder, "proof", "log");
          const text = await readFile(log, "utf8");
          await writeFile(log, `${text.replace(/\n.*/s, "").replace("2026", "2025")}\n${text}`);
          await forgeSums(folder);
        },
        { sums: false, script: true, signed: false },
      ],
      [
        "with a file that the list of hashes does not have",
        (folder) => writeFile(join(folder, "correction.html"), "<p>1.5</p>"),
        { sums: false, script: true, signed: false },
      ],
      [
        "with a page that the list of hashes has no more, and changed",
        async (folder) => {
          const file = join(folder, "SHA256SUMS");
          await writeFile(file, (await readFile(file, "utf8")).replace(/^.* report\.html\n/m, ""));
          await appendFile(join(folder, "report.html"), "<p>1.5</p>");
        },
        { sums: false, script: true, signed: false },
      ],
      [
        "with lines in the list of hashes that sha256sum passes over",
        (folder) => appendFile(join(folder, "SHA256SUMS"), "# corrected\n"),
        { sums: false, script: true, signed: false },
      ],
      [
        "with a hold in a package, and in the list of hashes",
        async (folder) => {
          const name = `packages/${paths[0]}/hold.txt`;
          await writeFile(join(folder, name), "claim 8");
          await appendFile(join(folder, "SHA256SUMS"), `${sha256Of("claim 8")}  ${name}\n`);
        },
        { sums: false, script: true, signed: false },
      ],
      [
        "with an empty folder in a package",
        (folder) => mkdir(join(folder, "packages", paths[0] ?? "", "more")),
        { sums: false, script: true, signed: false },
      ],
      [
        "with text behind the last line of the log",
        async (folder) => {
          await appendFile(join(folder, "proof", "log"), "released");
          await forgeSums(folder);
        },
        { sums: false, script: true, signed: false },
      ],
      [
        "with a line of the log that says the reason of a hold twice",
        async (folder) => {
          const log = join(folder, "proof", "log");
          const text = await readFile(log, "utf8");
          await writeFile(log, text.replace('"reason":"claim 7"', '"reason":"settled","reason":"claim 7"'));
          await forgeSums(folder);
        },
        { sums: false, script: true, signed: false },
      ],
      [
        "with the last two lines of the log in another order",
        async (folder) => {
          const log = join(folder, "proof", "log");
          const lines = (await readFile(log, "utf8")).trimEnd().split("\n");
          const last = lines.splice(-2).toReversed();
          await writeFile(log, `${[...lines, ...last].join("\n")}\n`);
          await forgeSums(folder);
        },
        { sums: false, script: true, signed: false },
      ],
      [
        "with ways from the lines to a checkpoint that are written in another form",
        async (folder) => {
          const [name = ""] = (await readdir(join(folder, "proof"))).filter((one) => /^\d{8}T/.test(one));
          const file = join(folder, "proof", name, "paths");
          await writeFile(file, (await readFile(file, "utf8")).replaceAll("\n", "\r\n"));
          await forgeSums(folder);
        },
        { sums: false, script: true, signed: false },
      ],
      [
        "with a link in the place of its packages",
        async (folder) => {
          await rename(join(folder, "packages"), join(folder, "..", "elsewhere"));
          await symlink(join(folder, "..", "elsewhere"), join(folder, "packages"));
        },
        { sums: false, script: true, signed: false },
      ],
      [
        "with a page changed",
        (folder) => appendFile(join(folder, "report.html"), "<p>15.5</p>"),
        { sums: true, script: false, signed: false },
      ],
      [
        "with another hash for a picture in the list of hashes",
        async (folder) => {
          const file = join(folder, "SHA256SUMS");
          const sums = await readFile(file, "utf8");
          await writeFile(file, sums.replace(/^[0-9a-f]{64}(?=  packages\/.*\.jpg$)/m, "0".repeat(64)));
        },
        { sums: true, script: false, signed: false },
      ],
      [
        "with a file in the list of hashes that no package has",
        (folder) =>
          appendFile(join(folder, "SHA256SUMS"), `${"0".repeat(64)}  packages/${paths[1]}/none.jpg\n`),
        { sums: true, script: false, signed: false },
      ],
      [
        "with two lines for one file in the list of hashes",
        async (folder) => {
          const file = join(folder, "SHA256SUMS");
          const [first = ""] = (await readFile(file, "utf8")).split("\n");
          await appendFile(file, `${"0".repeat(64)}${first.slice(64)}\n${first}\n`);
        },
        { sums: true, script: false, signed: false },
      ],
    ];
    for (const [what, forge, notices] of forgeries) {
      it(`${what}: dimensioner verify notices it, and the standard programs whose part it is`, () =>
        withExport(async (folder) => {
          await forge(folder);
          assert.equal((await said(folder, { timestampRoots: roots })).verdict, "wrong");
          const { sums, script, signed } = await standard(folder);
          const noticed = { sums: sums === false, script: script === false, signed: !signed };
          const expected = {
            sums: sums === null ? false : notices.sums,
            script: script === null ? false : notices.script,
            signed: notices.signed,
          };
          assert.deepEqual(noticed, expected);
        }));
    }

    it("without its time stamps: it is not called as archived", () =>
      withExport(async (folder) => {
        for (const name of await readdir(join(folder, "proof"))) {
          if (/^\d{8}T/.test(name)) {
            await rm(join(folder, "proof", name), { recursive: true });
          }
        }
        const sums = await readFile(join(folder, "SHA256SUMS"), "utf8");
        const left = sums.split("\n").filter((line) => !/ proof\/\d{8}T/.test(line));
        await writeFile(join(folder, "SHA256SUMS"), left.join("\n"));
        const { verdict, unchecked } = await said(folder, { timestampRoots: roots });
        assert.deepEqual([verdict, unchecked], ["unchecked", ["no-timestamps"]]);
        assert.notEqual((await standard(folder)).script, true);
      }));
  });
});
