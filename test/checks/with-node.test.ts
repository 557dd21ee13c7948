import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const root = join(import.meta.dirname, "..", "..");
const platform = `${process.platform}-${process.arch}`;

describe("the script that selects Node.js for npm scripts", () => {
  let folder: string;
  let oldNode: string;

  before(async () => {
    // A repository of its own, in which nothing is installed, and a Node.js that is too old.
    folder = await mkdtemp(join(tmpdir(), "with-node-"));
    await cp(join(root, "tools", "with-node.mjs"), join(folder, "tools", "with-node.mjs"));
    await cp(join(root, "package.json"), join(folder, "package.json"));
    oldNode = join(folder, "old-node");
    await writeFile(oldNode, "#!/bin/sh\necho v20.20.2\n", { mode: 0o755 });
  });
  after(() => rm(folder, { recursive: true, force: true }));

  function start(ownNode: string, script: string, ...args: string[]) {
    return spawn(
      process.execPath,
      [join(folder, "tools", "with-node.mjs"), "--eval", script, "--", ...args],
      {
        env: { ...process.env, npm_node_execpath: ownNode, npm_config_loglevel: "notice" },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
  }

  async function run(ownNode: string, script: string, ...args: string[]) {
    const child = start(ownNode, script, ...args);
    const [stdout, stderr] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close"),
    ]);
    return { exitCode: child.exitCode, stdout: stdout.trim(), stderr: stderr.trim() };
  }

  it("runs the program on the user's Node.js where that is new enough, with its arguments and its exit code", async () => {
    const script = "console.log(process.execPath, process.argv.slice(1).join()); process.exitCode = 3";
    assert.deepEqual(await run(process.execPath, script, "one", "two three"), {
      exitCode: 3,
      stdout: `${process.execPath} one,two three`,
      stderr: "",
    });
  });

  it("says what to do where the user's Node.js is too old and none is installed", async () => {
    assert.deepEqual(await run(oldNode, "console.log(1)"), {
      exitCode: 1,
      stdout: "",
      stderr:
        `Your Node.js is 20.20.2; this needs 22.19 or later, and npm ci has installed none for ${platform}. ` +
        "Install a newer one from https://nodejs.org, then run npm ci again.",
    });
  });

  it("runs the program on the Node.js that npm ci has installed where the user's is too old, and says so", async () => {
    const bin = join(folder, "node_modules", `node-24-${platform}`, "bin");
    await mkdir(bin, { recursive: true });
    await symlink(process.execPath, join(bin, "node"));
    try {
      assert.deepEqual(await run(oldNode, "console.log(process.version)"), {
        exitCode: 0,
        stdout: process.version,
        stderr: `Your Node.js is 20.20.2; this runs on the ${process.versions.node} that npm ci has installed.`,
      });
    } finally {
      await rm(join(folder, "node_modules"), { recursive: true });
    }
  });

  it("passes signals on to the program", async () => {
    const child = start(
      process.execPath,
      "setInterval(() => {}, 1000); process.once('SIGTERM', () => process.exit(7)); console.log('up')",
    );
    await once(child.stdout, "data");
    child.kill("SIGTERM");
    await once(child, "close");
    assert.equal(child.exitCode, 7);
  });

  it("starts every npm script that runs a program by its path", async () => {
    const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    for (const command of Object.values(scripts)) {
      assert.doesNotMatch(command, /\bnode (?!tools\/with-node\.mjs |-e )/);
    }
  });
});
