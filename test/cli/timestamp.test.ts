import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { timestampArchive } from "../../src/index.ts";
import { fillArchive } from "../archive/packages.ts";
import { bundleVerb, runChild, type Script } from "../archive/processes.ts";
import { databaseOf } from "../archive/store.ts";
import { withFolder } from "../media/support.ts";
import { useAuthority } from "../vault/timestamp/authority.ts";
import { fixtures } from "../vault/timestamp/fixtures.ts";

const roots = join(fixtures, "root.crt");

describe("dimensioner timestamp", () => {
  const authority = useAuthority();
  let script: Script = "";
  let verifyScript: Script = "";

  before(async () => {
    script = await bundleVerb("timestamp");
    verifyScript = await bundleVerb("verify");
  });

  it("has the log signed, says by whom, and dimensioner verify says so too", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0"]);
      const given = [root, "--database", databaseOf(root), "--server", authority.url];
      const open = await runChild(script, given);
      assert.deepEqual([open.code, open.stderr], [0, ""]);
      assert.match(
        open.stdout,
        /^the log with 3 lines is time-stamped, 1 package for the first time: 20.*Z, signed by “Example Time Stamps” \(not checked against a root certificate: give --timestamp-roots\)/,
      );
      const rooted = await runChild(script, [...given, "--timestamp-roots", roots]);
      assert.match(rooted.stdout, /^the log with 3 lines was time-stamped before, /);
      assert.match(
        rooted.stdout,
        /\(root certificate: “Example Root”\)\nkept in \.dimensioner-archive\/timestamps\//,
      );
      const { stdout } = await runChild(script, [...given, "--timestamp-roots", roots, "--json"]);
      assert.equal(JSON.parse(stdout).packages, 1);

      const database = ["--database", databaseOf(root)];
      const uncheckedRun = await runChild(verifyScript, [root, ...database]);
      assert.equal(uncheckedRun.code, 2);
      assert.match(uncheckedRun.stdout, /not checked: who has signed the time stamps/);
      const verified = await runChild(verifyScript, [root, ...database, "--timestamp-roots", roots]);
      assert.equal(verified.code, 0, verified.stdout);
      assert.match(
        verified.stdout,
        /: the log: 1 package, 0 pruned, 0 on hold; 1 covered by the newest time stamp \(20.*, 0 not yet\n/,
      );
    }));

  it("takes a store file in the place of the folder and the database", () =>
    withFolder((root) =>
      withFolder(async (elsewhere) => {
        await fillArchive(root, ["m0"]);
        const store = join(elsewhere, "store.json");
        const named = { files: { kind: "folder", path: root }, database: databaseOf(root) };
        await writeFile(store, JSON.stringify(named));
        const given = [store, "--server", authority.url];
        const { code, stdout, stderr } = await runChild(script, [
          ...given,
          "--timestamp-roots",
          roots,
          "--json",
        ]);
        assert.deepEqual([code, stderr], [0, ""]);
        assert.equal(JSON.parse(stdout).packages, 1);
      }),
    ));

  it("exits with 2 and says what is missing or wrong", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0"]);
      const database = ["--database", databaseOf(root)];
      const server = ["--server", authority.url];
      for (const [args, said] of [
        [[root, ...server], /--database is missing/],
        [[root, ...database], /--server is missing/],
        [[...database, ...server], /exactly one store/],
        [[root, ...database, "--server", "tsa"], /only http and https/],
        [[root, ...database, ...server, "--timestamp-roots", `${root}/none`], /there is no such file/],
      ] as const) {
        const { code, stderr } = await runChild(script, args);
        assert.equal(code, 2);
        assert.match(stderr, said);
      }
      const options = { database: databaseOf(root), server: authority.url, timeoutMs: 0 };
      await assert.rejects(timestampArchive(root, options), { code: "ERR_INPUT" });
    }));
});
