import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { npm, readTarball, repository, type Tarball } from "./packed.ts";

const execute = promisify(execFile);

/** Copies what Git knows, as a clone has it: nothing that was built, nothing that is ignored. */
async function copyClone(to: string): Promise<void> {
  const listed = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
  const { stdout } = await execute("git", listed, { cwd: repository, maxBuffer: 16 * 1024 * 1024 });
  for (const path of stdout.split("\0").filter((one) => one !== "")) {
    await cp(join(repository, path), join(to, path)).catch((error: NodeJS.ErrnoException) => {
      // Deleted and not committed yet.
      assert.equal(error.code, "ENOENT", error.message);
    });
  }
  await symlink(join(repository, "node_modules"), join(to, "node_modules"));
}

describe("A6: a package made of a clean clone", function () {
  // It copies, builds and packs everything.
  this.timeout(600_000);
  let folder = "";
  let tarball: Tarball;

  before(async function () {
    if (!existsSync(join(repository, ".git"))) {
      console.warn("Skipped: this folder is no clone, so that nothing says which files one would have.");
      this.skip();
    }
    folder = await mkdtemp(join(tmpdir(), "clone-"));
    await copyClone(folder);
    const { exitCode, stdout, stderr } = await npm(folder, "pack", "--json");
    assert.equal(exitCode, 0, stderr);
    // What the build prints comes first.
    tarball = readTarball(JSON.parse(stdout.slice(stdout.search(/^[[{]/m))));
  });
  after(async () => {
    if (folder !== "") {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  });

  it("is built before it is packed, and holds every node type, the library and the simulator's page", async () => {
    const files = tarball.files.map(({ path }) => path);
    const names = await readdir(join(repository, "nodes"));
    const needed = [
      "dist/src/index.js",
      "dist/src/index.d.ts",
      "dist/src/simulator/index.js",
      "dist/src/simulator/page/page.js",
      ...names.flatMap((name) => [`${name}.js`, `${name}.html`].map((file) => `dist/nodes/${name}/${file}`)),
      ...names.map((name) => `dist/nodes/${name}/locales/en-US/${name}.json`),
    ];
    assert.deepEqual(
      needed.filter((path) => !files.includes(path)),
      [],
    );
  });

  it("has the same files as the package that the other tests install", async () => {
    const { exitCode, stdout, stderr } = await npm(
      repository,
      "pack",
      "--json",
      "--ignore-scripts",
      "--dry-run",
    );
    assert.equal(exitCode, 0, stderr);
    const pathsOf = ({ files }: Tarball): string[] => files.map(({ path }) => path).toSorted();
    assert.deepEqual(pathsOf(tarball), pathsOf(readTarball(JSON.parse(stdout))));
  });

  it("has commands that can be executed (C5)", async () => {
    const { bin } = JSON.parse(await readFile(join(repository, "package.json"), "utf8")) as {
      bin: Record<string, string>;
    };
    assert.deepEqual(Object.keys(bin), ["dimensioner"]);
    for (const [command, path] of Object.entries(bin)) {
      const file = tarball.files.find((one) => one.path === path);
      assert.equal(file?.mode.toString(8), "755", command);
      assert.match(await readFile(join(folder, path), "utf8"), /^#!\/usr\/bin\/env node\n/, command);
    }
  });
});
