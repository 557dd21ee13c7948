import assert from "node:assert/strict";
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";

import { readArguments } from "../../src/simulator/cli-arguments.ts";

const cliPath = join(import.meta.dirname, "../../src/simulator/cli.ts");
const anyPorts = ["--control-port", "0", "--newer-port", "0", "--earlier-port", "0", "--cloud-port", "0"];

interface Run {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  readonly code: Promise<number | null>;
  out(): string;
  error(): string;
  printed(pattern: RegExp): Promise<RegExpExecArray>;
}

describe("simulator: command line", function () {
  this.timeout(20_000);
  const children: ChildProcessByStdio<null, Readable, Readable>[] = [];
  afterEach(() => children.splice(0).forEach((child) => child.kill("SIGKILL")));

  function run(...args: string[]): Run {
    const child = spawn(process.execPath, [cliPath, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    children.push(child);
    let out = "";
    let error = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (error += text));
    const code = once(child, "close").then(() => child.exitCode);
    return {
      child,
      code,
      out: () => out,
      error: () => error,
      async printed(pattern) {
        for (;;) {
          const match = pattern.exec(out);
          if (match !== null) {
            return match;
          }
          await once(child.stdout, "data");
        }
      },
    };
  }

  it("prints help and version and ends", async () => {
    const help = run("--help");
    assert.equal(await help.code, 0);
    assert.match(help.out(), /Usage: dimensioner-simulator/);
    assert.ok(
      help
        .out()
        .split("\n")
        .every((line) => line.length <= 110),
    );
    const version = run("--version");
    assert.equal(await version.code, 0);
    assert.match(version.out(), /^\d+\.\d+\.\d+\n$/);
  });

  it("prints addresses, token and device code, a line a request, and ends on a signal", async () => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      const sim = run(...anyPorts, "--measure", "0", "--token", "t0ken");
      const [, origin] = await sim.printed(/newer device +(http:\S+) +\(video-with-measurement\)/);
      await sim.printed(/token t0ken, device code ABCD2345/);
      await sim.printed(/control +http:/);
      await fetch(`${origin}/api/v1/measure?TransactionReference=a`);
      await sim.printed(/newer +GET \/api\/v1\/measure\?TransactionReference=a {2}-> {2}200 {2}\d+ ms\n/);
      sim.child.kill(signal);
      assert.equal(await sim.code, 0);
      assert.equal(sim.error(), "");
    }
  });

  it("is quiet when told to, and warns when exposed", async () => {
    const sim = run(...anyPorts, "--quiet", "--host", "0.0.0.0", "--expose");
    const [, port] = await sim.printed(/earlier device +http:\/\/0\.0\.0\.0:(\d+)/);
    await sim.printed(/Ctrl\+C/);
    await fetch(`http://127.0.0.1:${port}/api/ping`);
    sim.child.kill("SIGTERM");
    assert.equal(await sim.code, 0);
    assert.match(sim.error(), /^Warning: everybody who reaches 0\.0\.0\.0/);
    assert.doesNotMatch(sim.out(), /api\/ping/);
  });

  it("says which port is in use and ends with 1", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const address = taken.address();
    assert.ok(typeof address === "object" && address !== null);
    const sim = run(...anyPorts, "--cloud-port", String(address.port));
    assert.equal(await sim.code, 1);
    await new Promise((resolve) => taken.close(resolve));
    const expected = `Port ${address.port} is in use by another program. Choose another with --cloud-port, or 0 for any free one.\n`;
    assert.equal(sim.error(), expected);
    const parcel = run(...anyPorts, "--parcel", "elephant");
    assert.equal(await parcel.code, 1);
    assert.match(parcel.error(), /There is no parcel "elephant"\. The catalogue has: .*\n$/);
  });

  it("says what is wrong on the command line and ends with 2", async () => {
    const sim = run("--mode", "fast");
    assert.equal(await sim.code, 2);
    assert.match(sim.error(), /^--mode is one of .*, not "fast"\. See --help\.\n$/);
  });

  describe("arguments", () => {
    it("have defaults for people", () => {
      const command = readArguments([]);
      assert.equal(command.do, "run");
      if (command.do !== "run") {
        return;
      }
      assert.deepEqual(command.options.ports, { control: 8100, newer: 8101, earlier: 8102, cloud: 8103 });
      const { encodingMs, mediaDelayMs, host, seed } = command.options;
      assert.deepEqual([encodingMs, mediaDelayMs, host, seed], [3000, 2000, "127.0.0.1", 1]);
      assert.equal(command.quiet, false);
      assert.equal("token" in command.options, false);
    });

    it("become options", () => {
      const text =
        "--mode video-only --parcel none --video-bytes 4G --encoding 0.25 --media-delay 9 --token t --cloud-devices 12 " +
        "--transaction-ids guid --webhook http://127.0.0.1:1/a --webhook http://127.0.0.1:1/b --simulation-mode --seed 5 --quiet";
      const command = readArguments([...text.split(" "), "--webhook-secret", "x-secret: a b"]);
      if (command.do !== "run") {
        assert.fail();
      }
      const { options } = command;
      assert.deepEqual([options.mode, options.parcel, options.videoBytes], ["video-only", null, 4 * 2 ** 30]);
      assert.deepEqual([options.encodingMs, options.mediaDelayMs, options.token], [250, 9000, "t"]);
      assert.deepEqual(
        [options.cloudDevices, options.transactionIds, options.simulationMode],
        [12, "guid", true],
      );
      const header = { name: "x-secret", value: "a b" };
      assert.deepEqual(options.webhooks, [
        { url: "http://127.0.0.1:1/a", header },
        { url: "http://127.0.0.1:1/b", header },
      ]);
      assert.deepEqual([command.quiet, options.seed], [true, 5]);
    });

    it("are refused in a sentence", () => {
      for (const [args, sentence] of [
        [["--nope"], /Unknown option '--nope'.*\.$/],
        [["extra"], /extra/],
        [["--encoding", "soon"], /--encoding needs a number/],
        [["--encoding", "1e9"], /--encoding needs a number/],
        [["--newer-port", "70000"], /--newer-port needs a port/],
        [["--newer-port", "1.5"], /--newer-port needs a port/],
        [["--video-bytes", "big"], /--video-bytes needs a size/],
        [["--transaction-ids", "roman"], /--transaction-ids is one of/],
        [["--webhook-secret", "secret"], /--webhook-secret looks like/],
        [["--webhook", "a", "--webhook", "b", "--webhook", "c", "--webhook", "d"], /at most three/],
        [["--host", "10.0.0.1"], /add --expose/],
      ] satisfies [string[], RegExp][]) {
        assert.throws(() => readArguments(args), sentence);
      }
    });
  });
});
