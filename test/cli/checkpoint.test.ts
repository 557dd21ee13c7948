import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { changeDatabase, fillArchive } from "../archive/packages.ts";
import { bundleVerb, runChild } from "../archive/processes.ts";
import { databaseOf } from "../archive/store.ts";
import { withFolder } from "../media/support.ts";

describe("dimensioner checkpoint", () => {
  let script: Awaited<ReturnType<typeof bundleVerb>>;
  let verifyScript: Awaited<ReturnType<typeof bundleVerb>>;
  before(async () => {
    script = await bundleVerb("checkpoint");
    verifyScript = await bundleVerb("verify");
  });

  it("prints what dimensioner verify holds the archive against later", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0"]);
      const given = [root, "--database", databaseOf(root)];
      const { code, stdout, stderr } = await runChild(script, given);
      assert.deepEqual([code, stderr], [0, ""]);
      const [origin = "", size, hash = "", ...rest] = stdout.split("\n");
      assert.match(origin, /^dimensioner-archive\/[0-9a-f-]{36}$/);
      assert.deepEqual([size, Buffer.from(hash, "base64").length, rest], ["3", 32, [""]]);
      const json = JSON.parse((await runChild(script, [...given, "--json"])).stdout);
      assert.deepEqual([json.checkpoint, json.logSize, json.logRoot], [stdout, 3, hash]);

      await fillArchive(root, ["m1"]);
      const file = join(root, "..", `${root.split("/").at(-1)}-checkpoint.txt`);
      await writeFile(file, stdout);
      const later = await runChild(verifyScript, [...given, "--checkpoint", file]);
      assert.equal(later.code, 0, later.stdout);
      await writeFile(file, stdout.replace("\n3\n", "\n2\n"));
      const other = await runChild(verifyScript, [...given, "--checkpoint", file]);
      assert.equal(other.code, 1);
      assert.match(
        other.stdout,
        /the log does not agree with this checkpoint: one of the first 2 lines of the log was changed/,
      );
      await writeFile(file, stdout.replace("\n3\n", "\n999\n"));
      const cut = await runChild(verifyScript, [...given, "--checkpoint", file]);
      assert.match(
        cut.stdout,
        /it is of 999 lines of the log, which has only 5: its last lines were cut off/,
      );
    }));

  it("exits with 2 where the database is not named, or its log lacks a line", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0"]);
      const none = await runChild(script, [root]);
      assert.deepEqual([none.code, /--database is missing/.test(none.stderr)], [2, true]);
      changeDatabase(databaseOf(root), "DELETE FROM log WHERE n = 1");
      const gap = await runChild(script, [root, "--database", databaseOf(root)]);
      assert.equal(gap.code, 2);
      assert.match(gap.stderr, /The log in the database lacks the line 1/);
    }));
});
