/**
 * Downloads to a file, compared with curl, sync and sha256sum one after the other (where there is no curl, with Node.js doing the
 * same), and the memory that they take. Both take turns, so that the ratio depends on the machine as little as possible:
 *
 *   node test/long/downloads.ts [megabytes, 512] [rounds, 5]
 */
import assert from "node:assert/strict";
import { fork, spawnSync, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, mkdtemp, open, rm } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Meter } from "../../bench/driver/meter.ts";
import { median } from "../../bench/median.ts";
import { commandContenders, commandNames } from "../../bench/parts/download-commands.ts";
import { evenDisk } from "../../bench/parts/downloads.ts";
import { startServer } from "../../bench/server-process.ts";
import { CloudClient, saveToFile } from "../../src/index.ts";

/** The ratio is 0.3 to 0.4. With one sync at the end, and memory that is left to the garbage collector, it was 0.7 to 0.9. */
const mostOfBaseline = 0.6;
/** A download takes 25 to 35 MB. With memory that is left to the garbage collector, it took 62 to 106 MB. */
const mostMemoryMb = 52;

interface Order {
  readonly bytes: number;
}

interface Told {
  readonly seconds: number;
  readonly memoryBytes: number;
}

/** The process that downloads, so that its memory is its own. */
async function serveDownloads(cloudUrl: string, folder: string): Promise<void> {
  const cloud = new CloudClient({ baseUrl: cloudUrl, token: "any" });
  const save = async (bytes: number): Promise<void> => {
    const { path, bytes: saved } = await saveToFile(await cloud.media("905865", String(bytes)), { folder });
    assert.equal(saved, bytes);
    await rm(path);
  };
  const megabyte = 1e6;
  await save(megabyte);
  globalThis.gc?.();
  const idleBytes = process.memoryUsage.rss();
  const measure = async ({ bytes }: Order): Promise<void> => {
    const meter = new Meter();
    meter.start();
    await save(bytes);
    const { ms, peakRssBytes } = meter.stop();
    process.send?.({ seconds: ms / 1000, memoryBytes: peakRssBytes - idleBytes } satisfies Told);
  };
  process.on("message", (order: Order) => void measure(order));
  process.on("disconnect", () => process.exit());
  process.send?.("ready");
}

/** The next message of a process. */
async function hear<T>(child: ChildProcess): Promise<T> {
  const [said, signal] = (await Promise.race([once(child, "message"), once(child, "exit")])) as [T, unknown];
  assert.ok(
    child.exitCode === null && child.signalCode === null,
    `the download ended with ${String(said ?? signal)}`,
  );
  return said;
}

/** What `curl -o && sync && sha256sum` does. */
async function oneAfterTheOther(url: string, path: string): Promise<number> {
  const startedAt = performance.now();
  const [answer] = (await once(get(url), "response")) as [IncomingMessage];
  await pipeline(answer, createWriteStream(path));
  const file = await open(path);
  await file.sync();
  await file.close();
  await pipeline(createReadStream(path), createHash("sha256"));
  return (performance.now() - startedAt) / 1000;
}

/** Seconds that a download takes without this package. */
function baseline(files: string): {
  readonly name: string;
  run(bytes: number, url: string): Promise<number>;
} {
  const command = commandContenders(files).find(({ name }) => name === commandNames.checked);
  if (command === undefined || spawnSync("curl", ["--version"]).status !== 0) {
    return { name: "Node.js", run: (_bytes, url) => oneAfterTheOther(url, join(files, "baseline")) };
  }
  return {
    name: command.name,
    run: async (bytes, url) => (await command.run({ bytes, atOnce: 1, rounds: 1 }, url)).seconds,
  };
}

async function compare(bytes: number, rounds: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "downloads-"));
  const files = join(folder, "files");
  await mkdir(files);
  const server = await startServer();
  const child = fork(import.meta.filename, ["child", server.cloud, files], { execArgv: ["--expose-gc"] });
  try {
    await hear(child);
    const other = baseline(files);
    const theirs: number[] = [];
    const ours: Told[] = [];
    for (let round = 0; round < rounds; round++) {
      await evenDisk(folder, bytes);
      theirs.push(await other.run(bytes, `${server.cloud}/api/transactionmedia/905865/${bytes}`));
      await rm(files, { recursive: true });
      await mkdir(files);
      await evenDisk(folder, bytes);
      child.send({ bytes } satisfies Order);
      ours.push(await hear<Told>(child));
    }
    const ratio = median(ours.map(({ seconds }) => seconds)) / median(theirs);
    const memoryMb = Math.max(...ours.map(({ memoryBytes }) => memoryBytes)) / 1e6;
    console.log(
      `downloads: ${bytes / 1e6} MB in ${ratio.toFixed(2)} of the time of ${other.name}, with ${memoryMb.toFixed(0)} MB of memory`,
    );
    assert.ok(
      ratio <= mostOfBaseline,
      `${ratio.toFixed(2)} of the time, at most ${mostOfBaseline} is expected`,
    );
    assert.ok(memoryMb <= mostMemoryMb, `${memoryMb.toFixed(0)} MB, at most ${mostMemoryMb} are expected`);
  } finally {
    if (child.exitCode === null) {
      const exited = once(child, "exit");
      child.kill();
      await exited;
    }
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const [first = "512", second = "5", third = ""] = process.argv.slice(2);
await (first === "child" ? serveDownloads(second, third) : compare(Number(first) * 1e6, Number(second)));
