/**
 * What the simulator keeps in memory, with its default limits, however many parcels it measures:
 *
 *   node test/long/simulator-memory.ts [measurements, 100000]
 */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";

const measurements = Number(process.argv[2] ?? 100_000);
const warmUp = Math.min(1000, measurements);
/** docs/simulator.md promises it. */
const mostGrowthMb = 100;
const atOnce = 16;

const cli = join(import.meta.dirname, "../../src/cli/dimensioner.ts");
const anyPort = ["control", "newer", "earlier", "cloud"].flatMap((name) => [`--${name}-port`, "0"]);
const options = [...anyPort, "--measure", "0", "--media-delay", "0", "--no-webhook", "--quiet"];
const child = spawn(process.execPath, [cli, "simulator", ...options], {
  stdio: ["ignore", "pipe", "inherit"],
});
const agent = new Agent({ keepAlive: true, maxSockets: atOnce });

/** Resident memory of the simulator's process, in MB. */
function residentMb(): number {
  const kilobytes = execFileSync("ps", ["-o", "rss=", "-p", String(child.pid)], { encoding: "utf8" });
  return Number(kilobytes) / 1024;
}

async function originOfNewer(): Promise<string> {
  for await (const line of createInterface({ input: child.stdout })) {
    const origin = /^newer device +(http:\S+)/.exec(line)?.[1];
    if (origin !== undefined) {
      child.stdout.resume();
      return origin;
    }
  }
  throw new Error("The simulator has ended.");
}

async function measureOnce(origin: string, reference: string): Promise<void> {
  const request = get(`${origin}/api/v1/measure?TransactionReference=${reference}`, { agent });
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  assert.equal(answer.statusCode, 200);
  answer.resume();
  await once(answer, "end");
}

async function measureMany(origin: string, from: number, to: number): Promise<void> {
  let next = from;
  const work = async (): Promise<void> => {
    while (next < to) {
      next += 1;
      await measureOnce(origin, `ORDER-${next}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

try {
  const origin = await originOfNewer();
  await measureMany(origin, 0, warmUp);
  const before = residentMb();
  await measureMany(origin, warmUp, measurements);
  const after = residentMb();
  const growth = after - before;
  console.log(
    `simulator: ${before.toFixed(0)} MB after ${warmUp} measurements, ${after.toFixed(0)} MB after ${measurements}`,
  );
  assert.ok(growth < mostGrowthMb, `${growth.toFixed(0)} MB more, at most ${mostGrowthMb} are expected`);
} finally {
  agent.destroy();
  child.kill();
}
