import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const root = join(import.meta.dirname, "..", "..");
const demoScript = [join(root, "tools", "demo.ts")];

interface Demo {
  readonly process: ChildProcess;
  readonly lines: readonly string[];
  /** The first line that matches, printed already or to come; rejects when the demo ends without it. */
  line(pattern: RegExp): Promise<string>;
  readonly ended: Promise<unknown>;
}

describe("npm run demo", function () {
  // Four of them start at once, beside whatever else a busy computer does.
  this.timeout(600_000);
  const started: ChildProcess[] = [];
  let archive: string;
  let archiving: Demo;
  let failing: Demo;
  let staying: Demo;
  let parent: Demo;

  // All at once: a demo mostly waits for its simulated device, and for the video.
  before(async () => {
    archive = await mkdtemp(join(tmpdir(), "demo-archive-"));
    archiving = startDemo([...demoScript, "--once", "--archive", archive]);
    failing = startDemo([...demoScript, "--once", "--parcel", "none"]);
    staying = startDemo(demoScript);
    const script = `
      const { spawn } = require("node:child_process");
      spawn(process.execPath, ${JSON.stringify(demoScript)}, { stdio: "inherit" });`;
    parent = startDemo(["--eval", script]);
  });
  after(async () => {
    for (const child of started) {
      child.kill("SIGKILL");
    }
    await rm(archive, { recursive: true, force: true });
  });

  function startDemo(args: readonly string[]): Demo {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    started.push(child);
    const lines: string[] = [];
    const input = createInterface({ input: child.stdout });
    const errors = createInterface({ input: child.stderr });
    for (const stream of [input, errors]) {
      stream.on("line", (text) => lines.push(text));
    }
    const ended = once(child, "close");
    return {
      process: child,
      lines,
      ended,
      line: (pattern) =>
        new Promise((resolve, reject) => {
          const look = (text: string) => pattern.test(text) && resolve(text);
          lines.forEach(look);
          input.on("line", look);
          ended.then(() => reject(new Error(`The demo has ended:\n${lines.join("\n")}`)), reject);
        }),
    };
  }

  it("takes one parcel from the scan to the archive and tells each step", async () => {
    await archiving.ended;
    const told = archiving.lines.join("\n");
    assert.equal(archiving.process.exitCode, 0, told);
    assert.match(told, /Start the video +recording/);
    assert.match(told, /Measure the parcel +33\.5×21×12\.5 cm/);
    const [folder = ""] = (await readdir(archive, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.name === "ColorVideoMp4.mp4")
      .map((entry) => entry.parentPath);
    for (const name of ["ColorVideoMp4.mp4", "manifest.json", "measurement.json", "measurement.raw"]) {
      const bytes = await readFile(join(folder, name));
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      assert.match(told, new RegExp(`${name} +${bytes.length} bytes +sha256 ${sha256}`));
    }
  });

  it("ends with an error when a step fails", async () => {
    await failing.ended;
    const told = failing.lines.join("\n");
    assert.equal(failing.process.exitCode, 1, told);
    assert.match(told, /The demo failed\. .*Measurement failed: No object on the table/);
  });

  it("stays up until it is interrupted, and leaves nothing behind", async () => {
    const editor = addressIn(await staying.line(/Node-RED's editor/));
    assert.equal((await fetch(editor)).status, 200);
    const headers = { accept: "application/json" };
    const nodeSets = (await (await fetch(`${editor}/nodes`, { headers })).json()) as { types: string[] }[];
    assert.ok(
      nodeSets.some(({ types }) => types.includes("xml")),
      "a node of Node-RED is left out",
    );
    const [, page = "", name, password] =
      /(http:\S+) +\(user name (.+), password (.+)\)/.exec(await staying.line(/The evidence page/)) ?? [];
    const logIn = await fetch(`${page}api/login`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: editor },
      body: JSON.stringify({ name, password }),
    });
    const cookie = logIn.headers.get("set-cookie")?.split(";")[0] ?? "";
    const found = await fetch(`${page}api/packages?text=`, { headers: { cookie } });
    const { packages } = (await found.json()) as { packages: unknown[] };
    assert.equal(packages.length, 1, "the page shows the package");
    const files =
      /package of this parcel, (.*?)\/dimensioner\/packages\//.exec(staying.lines.join("\n"))?.[1] ?? "";
    staying.process.kill("SIGINT");
    await staying.ended;
    assert.equal(staying.process.exitCode, 0, staying.lines.join("\n"));
    await assert.rejects(fetch(editor));
    await assert.rejects(readdir(files), { code: "ENOENT" });
  });

  it("ends by itself, with Node-RED, when what has started it is killed", async () => {
    const editor = addressIn(await parent.line(/Node-RED's editor/));
    parent.process.kill("SIGKILL");
    // Closed only when the demo, which writes there too, is gone.
    await parent.ended;
    await assert.rejects(fetch(editor));
  });

  it("explains itself", async () => {
    const demo = startDemo([...demoScript, "--help"]);
    await demo.ended;
    assert.equal(demo.process.exitCode, 0);
    assert.match(demo.lines.join("\n"), /^Usage: npm run demo/);
    const wrong = startDemo([...demoScript, "--parcel", "elephant"]);
    await wrong.ended;
    assert.equal(wrong.process.exitCode, 2);
    assert.match(wrong.lines.join("\n"), /There is no parcel “elephant”/);
  });
});

function addressIn(line: string): string {
  return /http:\S+/.exec(line)?.[0] ?? "";
}
