import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { appendFile, cp, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { holdPackages, pruneArchive, releasePackages } from "../../src/index.ts";
import { sha256Of } from "../../src/model/sha256.ts";
import { entryOf, readEvent } from "../../src/vault/log/events.ts";
import { Rebuild } from "../../src/vault/upkeep/rebuild.ts";
import { rowsIn } from "../support/rows.ts";
import { changeDatabase, copiesOfArchive, verify } from "./packages.ts";
import { databaseOf } from "./store.ts";

/** What somebody does who may write to the folder of packages, and who knows how everything is written. */
describe("archive: what a forger changes in the folder of packages", () => {
  const archive = copiesOfArchive(["m0", "m1", "m2"], () => ({ measurement: '{"length":15.5}' }));
  const [first, second] = ["2026-11-02/ORDER-1-m0", "2026-11-02/ORDER-1-m1"];

  /** The file of the log, and its lines. */
  async function logIn(root: string): Promise<{ readonly file: string; readonly lines: string[] }> {
    const folder = join(root, ".dimensioner-archive/log");
    const [store = ""] = await readdir(folder);
    const [name = ""] = await readdir(join(folder, store));
    const file = join(folder, store, name);
    return { file, lines: (await readFile(file, "utf8")).trimEnd().split("\n") };
  }

  /** Rewrites the lines of the log that are about a package. */
  async function rewriteLog(root: string, path: string, change: (line: string) => string): Promise<void> {
    const { file, lines } = await logIn(root);
    const changed = lines.map((line) => (line.includes(`"path":"${path}"`) ? change(line) : line));
    await writeFile(file, `${changed.join("\n")}\n`);
  }

  async function shorten(root: string, path: string): Promise<readonly [before: string, after: string]> {
    const folder = join(root, path);
    const [measurement, manifest] = ["measurement.json", "manifest.json"].map((name) => join(folder, name));
    assert.ok(measurement !== undefined && manifest !== undefined);
    const [text, described] = [await readFile(measurement, "utf8"), await readFile(manifest, "utf8")];
    const changed = text.replace("15.5", "1.55");
    await writeFile(measurement, changed);
    const now = described.replace(sha256Of(text), sha256Of(changed)).replace("15.5", "1.55");
    await writeFile(manifest, now);
    return [sha256Of(described), sha256Of(now)];
  }

  it("is noticed if it is a package that he has deleted", () =>
    archive.withArchive(async (root) => {
      await rm(join(root, first), { recursive: true });
      for (const database of [undefined, null]) {
        assert.ok((await verify(root, database)).said.includes(`missing-package ${first}`));
      }
    }));

  it("is noticed if he adds a line that says that a package on hold was deleted", () =>
    archive.withArchive(async (root, database) => {
      await holdPackages(root, { database, by: "transactionId", value: "m0", reason: "claim" });
      const { file, lines } = await logIn(root);
      const archived = lines.map((line) => readEvent(line.replace(/^\d+ /, "")));
      const one = archived.find((event) => event?.what === "archived" && event.path === first);
      assert.ok(one?.what === "archived");
      const at = new Date(Date.now() + 1_000).toISOString();
      const { package: id, path, sha256 } = one;
      const event = {
        what: "pruned",
        at,
        package: id,
        path,
        sha256,
        transactionId: "m0",
        before: at,
      } as const;
      const numbers = (
        await Promise.all(
          (await readdir(join(file, ".."))).map((name) => readFile(join(file, "..", name), "utf8")),
        )
      ).flatMap((text) => [...text.matchAll(/^(\d+) /gm)].map(([, n]) => Number(n)));
      await appendFile(file, `${Math.max(...numbers) + 1} ${entryOf(event).line}\n`);
      await rm(join(root, first), { recursive: true });
      const { findings } = await verify(root, null);
      assert.ok(findings.some(({ problem }) => problem.endsWith("was deleted while it was on hold")));
      const known = await verify(root);
      assert.ok(
        known.said.some((one) => one.startsWith("database ")),
        "the database does not have the line",
      );
    }));

  it("is noticed if he removes the file of a hold, which does not end it", () =>
    archive.withArchive(async (root, database) => {
      await holdPackages(root, { database, by: "transactionId", value: "m0", reason: "claim" });
      assert.deepEqual((await verify(root)).said, []);
      await rm(join(root, first, "hold.json"));
      assert.deepEqual((await verify(root)).said, [`hold ${first}`]);
      const { held } = await pruneArchive(root, { before: new Date(), database });
      assert.equal(held, 1);
      await writeFile(join(root, first, "hold.json"), "{}");
      await releasePackages(root, { database, by: "transactionId", value: "m0", reason: "settled" });
      assert.deepEqual((await verify(root)).said, ["no-packages "].slice(1));
    }));

  it("is noticed if he lets the file of a hold say something else", () =>
    archive.withArchive(async (root, database) => {
      const reason = "claim 7 \u{1F4E6}\uD800";
      await holdPackages(root, { database, by: "transactionId", value: "m0", reason, person: "Anna" });
      const file = join(root, first, "hold.json");
      const text = await readFile(file, "utf8");
      assert.deepEqual((await verify(root)).said, []);
      for (const [from, to] of [
        ["claim 7", "released"],
        ["Anna", "Bob"],
        [/"heldAt": "20/, '"heldAt": "19'],
        ["{", '{ "released": "settled, Bob",'],
        ['"reason"', '"reason": "settled",\n  "reason"'],
        [/^/, "x"],
      ] as const) {
        await writeFile(file, text.replace(from, to));
        assert.deepEqual((await verify(root)).said, [`hold ${first}`], to);
      }
    }));

  it("is noticed if he writes another figure, also with all that is computed from it", () =>
    archive.withArchive(async (root, file) => {
      const [before, after] = await shorten(root, first);
      assert.ok((await verify(root, null)).said.includes(`changed ${first}/manifest.json`));
      await rewriteLog(root, first, (line) => line.replace(before, after));
      assert.ok(
        (await verify(root)).findings.some(
          ({ kind, problem }) => kind === "log" && /one of the two/.test(problem),
        ),
      );
      changeDatabase(file, `UPDATE log SET line = replace(line, '${before}', '${after}')`);
      // Who may write to both is found out by a checkpoint or a time stamp only.
      assert.ok(rowsIn(file, "SELECT * FROM log").length > 0);
    }));

  it("is noticed if it is a package that he has added", () =>
    archive.withArchive(async (root) => {
      await cp(join(root, second), join(root, "2026-11-02/ORDER-2"), { recursive: true });
      const manifest = join(root, "2026-11-02/ORDER-2/manifest.json");
      const other = (await readFile(manifest, "utf8")).replace(/"job": "[^"]+"/, '"job": "made up"');
      await writeFile(manifest, other.replace(/"store": "[^"]+"/, '"store": "made up"'));
      assert.ok((await verify(root, null)).said.includes("not-logged 2026-11-02/ORDER-2"));
    }));

  it("is noticed if it is a package that the log of another store knows in its place", () =>
    archive.withArchive(async (root) => {
      const { file, lines } = await logIn(root);
      const [before, after] = await shorten(root, first);
      const other = join(dirname(file), "..", randomUUID());
      await mkdir(other);
      const line = lines.find((one) => one.includes(before))?.replace(before, after);
      await writeFile(join(other, "other.log"), `${line}\n`.replace(/^\d+/, "0"));
      assert.ok((await verify(root, null)).said.includes(`changed ${first}/manifest.json`));
    }));

  it("is noticed if he puts the log of another store in the place of one, which excuses what he has deleted", () =>
    archive.withArchive(async (root) => {
      const { file } = await logIn(root);
      const logs = join(dirname(file), "..");
      const text = await readFile(file, "utf8");
      const one = text
        .split("\n")
        .map((line) => readEvent(line.replace(/^\d+ /, "")))
        .find((event) => event?.what === "archived" && event.path === first);
      assert.ok(one?.what === "archived");
      const { package: id, path, sha256 } = one;
      const at = new Date(Date.now() + 1_000).toISOString();
      const of = { at, package: id, path, sha256 };
      const { line } = entryOf({ what: "pruned", ...of, transactionId: "m0", before: at });
      const [own, other] = [basename(dirname(file)), randomUUID()];
      await mkdir(join(logs, other));
      const forged = `${text}${text.trimEnd().split("\n").length} ${line}\n`;
      await writeFile(join(logs, other, "other.log"), forged);
      await rm(dirname(file), { recursive: true });
      await rm(join(root, first), { recursive: true });
      const copied = `log .dimensioner-archive/log/${other}`;
      const gone = `log .dimensioner-archive/log/${own}`;
      assert.deepEqual((await verify(root)).said, [copied, gone]);
      assert.ok((await verify(root, null)).said.includes(copied));
      // Also where its first line says what its folder says.
      await writeFile(
        join(logs, other, "other.log"),
        forged.replace(`"store":"${own}"`, `"store":"${other}"`),
      );
      assert.deepEqual((await verify(root)).said, [gone]);
      for await (const _problem of new Rebuild(root, { database: databaseOf(root) }).run()) {
        // What it cannot index does not matter here.
      }
      assert.ok(!(await verify(root)).said.includes(gone));
    }));

  it("is noticed if lines of the log are gone", () =>
    archive.withArchive(async (root) => {
      const { file, lines } = await logIn(root);
      await writeFile(file, `${lines.filter((_, index) => index !== 2).join("\n")}\n`);
      const { findings } = await verify(root, null);
      assert.ok(findings.some(({ kind, problem }) => kind === "log" && problem.endsWith("is missing")));
      // That a kill has done it is not known.
      const known = await verify(root);
      assert.match(
        known.findings.map(({ problem }) => problem).join("\n"),
        /in the database and not beside the packages: somebody has removed .* or a kill .* dimensioner rebuild puts it back/,
      );
      assert.match(known.report.unchecked[0]?.problem ?? "", /or the lines were removed/);
      for await (const _problem of new Rebuild(root, { database: databaseOf(root) }).run()) {
        // Nothing is wrong but what it puts back.
      }
      assert.deepEqual((await verify(root)).said, []);
    }));
});
