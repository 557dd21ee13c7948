import assert from "node:assert/strict";
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { freePort } from "../support/servers.ts";

import { readOptions, simulator } from "../../src/cli/simulator.ts";

const cliPath = join(import.meta.dirname, "../../src/cli/dimensioner.ts");

/** What a command line means. */
function optionsOf(args: readonly string[]) {
  return readOptions(simulator.parse(args).values);
}

const anyPorts = ["control", "newer", "earlier", "cloud", "scanner"].flatMap((name) => [
  `--${name}-port`,
  "0",
]);
/** Free ports, and nothing for a Node-RED that may be running on this computer. */
const onlyItself = [...anyPorts, "--no-webhook"];

interface Run {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  readonly code: Promise<number | null>;
  out(): string;
  error(): string;
  printed(pattern: RegExp): Promise<RegExpExecArray>;
}

describe("simulator: command line", () => {
  const children: ChildProcessByStdio<null, Readable, Readable>[] = [];
  afterEach(() => children.splice(0).forEach((child) => child.kill("SIGKILL")));

  function run(...args: string[]): Run {
    const child = spawn(process.execPath, [cliPath, "simulator", ...args], {
      stdio: ["ignore", "pipe", "pipe"],
    });
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

  it("prints help and ends", async () => {
    const help = run("--help");
    assert.equal(await help.code, 0);
    assert.match(help.out(), /Usage: dimensioner simulator/);
    assert.ok(
      help
        .out()
        .split("\n")
        .every((line) => line.length <= 110),
    );
  });

  it("prints addresses, token and registration code, a line a request, and ends on a signal", async () => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      const sim = run(...onlyItself, "--measure", "0", "--token", "t0ken");
      const [, origin] = await sim.printed(/newer device +(http:\S+) +\(video-with-measurement\)/);
      await sim.printed(/token t0ken, registration code ABCD2345/);
      await sim.printed(/scanner +127\.0\.0\.1:\d+ +for a tcp in node/);
      await sim.printed(/control +http:/);
      await fetch(`${origin}/api/v1/measure?TransactionReference=a`);
      await sim.printed(/newer +GET \/api\/v1\/measure\?TransactionReference=a {2}-> {2}200 {2}\d+ ms\n/);
      sim.child.kill(signal);
      assert.equal(await sim.code, 0);
      assert.equal(sim.error(), "");
    }
  });

  it("is quiet when told to, and warns when exposed", async () => {
    const sim = run(...onlyItself, "--quiet", "--host", "0.0.0.0", "--expose");
    const [, port] = await sim.printed(/earlier device +http:\/\/0\.0\.0\.0:(\d+)/);
    await sim.printed(/Ctrl\+C/);
    await fetch(`http://127.0.0.1:${port}/api/ping`);
    sim.child.kill("SIGTERM");
    assert.equal(await sim.code, 0);
    assert.match(sim.error(), /^Warning: everyone who can reach 0\.0\.0\.0/);
    assert.doesNotMatch(sim.out(), /api\/ping/);
  });

  it("prints its seed, which repeats the ids", async () => {
    const idOf = async (...args: string[]): Promise<{ id: unknown; seed: string }> => {
      const sim = run(...onlyItself, "--measure", "0", ...args);
      const [, origin] = await sim.printed(/newer device +(http:\S+)/);
      const [, seed = ""] = await sim.printed(/seed +\d+ +--seed (\d+) repeats/);
      await sim.printed(/webhook +none/);
      const result: unknown = await (await fetch(`${origin}/api/v1/measure`)).json();
      assert.ok(typeof result === "object" && result !== null && "imageIdentifier" in result);
      return { id: result.imageIdentifier, seed };
    };
    const [one, other] = await Promise.all([idOf(), idOf()]);
    assert.notEqual(one.id, other.id);
    assert.deepEqual(await idOf("--seed", one.seed), one);
  });

  it("says once that nobody takes the webhook's records, goes on, and delivers them as soon as somebody does", async () => {
    const server = createHttpServer();
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    const sim = run(
      ...anyPorts,
      "--quiet",
      "--measure",
      "0",
      "--webhook",
      `${origin}/dimensioner/transaction`,
    );
    const [, newer] = await sim.printed(/newer device +(http:\S+)/);
    await sim.printed(/with the header x-webhook-secret: simulator/);
    await fetch(`${newer}/api/v1/measure?TransactionReference=first`);
    await sim.printed(/^Webhook: .* does not respond/m);
    await fetch(`${newer}/api/v1/measure?TransactionReference=second`);
    const references: string[] = [];
    const secrets = new Set<unknown>();
    server.on("request", (request, response) => {
      secrets.add(request.headers["x-webhook-secret"]);
      const receive = async (): Promise<void> => {
        const body = await text(request);
        references.push(/"transactionReference":"(\w+)"/.exec(body)?.[1] ?? body);
        response.writeHead(204).end();
      };
      void receive();
    });
    server.listen(port, "127.0.0.1");
    await sim.printed(/^Webhook: .* now accepts the records\.$/m);
    while (references.length < 2) {
      await once(server, "request");
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual(references.toSorted(), ["first", "second"]);
    assert.deepEqual([...secrets], ["simulator"]);
    assert.equal(sim.out().match(/^Webhook: /gm)?.length, 2);
    server.close();
    server.closeAllConnections();
  });

  it("says which port is in use and ends with 2", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const address = taken.address();
    assert.ok(typeof address === "object" && address !== null);
    const sim = run(...onlyItself, "--cloud-port", String(address.port));
    assert.equal(await sim.code, 2);
    await new Promise((resolve) => taken.close(resolve));
    const expected = `dimensioner simulator: Port ${address.port} is in use by another program. Choose another with --cloud-port, or 0 for any free one.\n`;
    assert.equal(sim.error(), expected);
    const parcel = run(...onlyItself, "--parcel", "elephant");
    assert.equal(await parcel.code, 2);
    assert.match(parcel.error(), /There is no parcel "elephant"\. The catalogue has: .*\n$/);
  });

  it("says what is wrong on the command line and ends with 2", async () => {
    const sim = run("--mode", "fast");
    assert.equal(await sim.code, 2);
    assert.match(
      sim.error(),
      /^dimensioner simulator: --mode must be one of .*, not “fast”\. See dimensioner simulator --help\.\n$/,
    );
  });

  describe("arguments", () => {
    it("have defaults for people", () => {
      const options = optionsOf([]);
      const ports = { control: 8100, newer: 8101, earlier: 8102, cloud: 8103, scanner: 8104 };
      assert.deepEqual(options.ports, ports);
      assert.deepEqual(options.scanner, { aim: true, connectTo: null });
      const { encodingMs, mediaDelayMs, host, webhooks } = options;
      assert.deepEqual([encodingMs, mediaDelayMs, host], [3000, 2000, "127.0.0.1"]);
      assert.deepEqual(
        webhooks?.map(({ url, header }) => [url, header?.name, header?.value]),
        ["transaction", "operator-scans"].map((path) => [
          `http://127.0.0.1:1880/dimensioner/${path}`,
          "x-webhook-secret",
          "simulator",
        ]),
      );
      assert.equal("seed" in options, false);
      assert.equal("token" in options, false);
    });

    it("become options", () => {
      const text =
        "--mode video-only --parcel none --video-bytes 4G --encoding 0.25 --media-delay 9 --token t --cloud-devices 12 " +
        "--transaction-ids guid --webhook http://127.0.0.1:1/a --webhook http://127.0.0.1:1/b --simulation-mode --seed 5 --keep 7 --keep-bytes 2M --quiet";
      const options = optionsOf([...text.split(" "), "--webhook-secret", "x-secret: a b"]);
      assert.deepEqual([options.mode, options.parcel, options.videoBytes], ["video-only", null, 4 * 2 ** 30]);
      assert.deepEqual([options.encodingMs, options.mediaDelayMs, options.token], [250, 9000, "t"]);
      assert.deepEqual(
        [options.cloudDevices, options.transactionIds, options.simulationMode],
        [12, "guid", true],
      );
      const header = { name: "x-secret", value: "a b" };
      assert.deepEqual(options.webhooks, [
        { url: "http://127.0.0.1:1/a", header, retryMs: 600_000 },
        { url: "http://127.0.0.1:1/b", header, retryMs: 600_000 },
      ]);
      assert.equal(options.seed, 5);
      assert.deepEqual(
        [options.keepTransactions, options.keepRequests, options.keepBytes],
        [7, 7, 2 * 2 ** 20],
      );
    });

    it("set the scanner", () => {
      const text =
        "--scanner-suffix tab --scanner-no-aim --scanner-repeats 3 --scanner-chunk 4 --scanner-connect [::1]:4001";
      const options = optionsOf(text.split(" "));
      assert.deepEqual(options.scanner, {
        connectTo: { host: "::1", port: 4001 },
        aim: false,
        suffix: "\t",
        repeats: 3,
        chunkBytes: 4,
      });
    });

    it("leave the webhook out where it is not wanted", () => {
      const options = optionsOf(["--no-webhook"]);
      assert.deepEqual(options.webhooks, []);
    });

    it("are refused in a sentence", () => {
      for (const [args, sentence] of [
        [["--nope"], /Unknown option '--nope'.*\.$/],
        [["--encoding", "soon"], /--encoding needs a number/],
        [["--encoding", "1e9"], /--encoding needs a number/],
        [["--newer-port", "70000"], /--newer-port needs a port/],
        [["--newer-port", "1.5"], /--newer-port needs a port/],
        [["--video-bytes", "big"], /--video-bytes needs a size/],
        [["--transaction-ids", "roman"], /--transaction-ids must be one of/],
        [["--seed", "1.5"], /--seed needs a whole number of at least 0/],
        [["--keep", "0"], /--keep needs a whole number of at least 1/],
        [["--keep-bytes", "much"], /--keep-bytes needs a size/],
        [["--no-webhook", "--webhook", "http://127.0.0.1:1/"], /cannot be used together/],
        [["--webhook-secret", "secret"], /--webhook-secret needs/],
        [["--webhook", "a", "--webhook", "b", "--webhook", "c", "--webhook", "d"], /at most three/],
        [["--host", "10.0.0.1"], /add --expose/],
        [["--scanner-suffix", "return"], /--scanner-suffix must be one of cr, lf, crlf/],
        [["--scanner-connect", "4001"], /--scanner-connect needs/],
      ] satisfies [string[], RegExp][]) {
        assert.throws(() => optionsOf(args), sentence);
      }
    });
  });
});
