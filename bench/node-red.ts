import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { request } from "undici";
import type { DelayFacts, LoopOrder, LoopResult, MemoryFacts, RawOrder } from "./driver/protocol.ts";
import { repository, type Runtime } from "./runtimes.ts";
import { makeUserDir, writeUserDir, type FlowNode } from "./user-dir.ts";

const startTimeoutMs = 120_000;
/** An aborted benchmark must not leave a Node-RED behind. */
const endWithParent = pathToFileURL(join(repository, "tools/demo/end-with-parent.mjs")).href;

export interface NodeRedOptions {
  readonly runtime: Runtime;
  readonly flows?: readonly FlowNode[];
  /** Credentials by the id of their node. */
  readonly credentials?: Readonly<Record<string, object>>;
  /** An existing user folder to load; without it a new one with this package linked. */
  readonly userDir?: string;
  /** Any free port if left out. */
  readonly port?: number;
  readonly env?: Readonly<Record<string, string>>;
}

export interface NodeRed {
  readonly url: string;
  readonly pid: number;
  /** The time from the start of the process until its flows ran. */
  readonly startMs: number;
  /** The part of it in which Node-RED loaded all node types. */
  readonly paletteMs: number;
  loop(order: LoopOrder): Promise<LoopResult>;
  raw(order: RawOrder): Promise<LoopResult>;
  memory(): Promise<MemoryFacts>;
  startDelay(): Promise<void>;
  stopDelay(): Promise<DelayFacts>;
  startProfile(): Promise<void>;
  /** The text of a .cpuprofile. */
  stopProfile(): Promise<string>;
  /** Resolves when Node-RED has ended, by itself or by `stop`. */
  readonly ended: Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts a Node-RED on a free loopback port, with the driver node, and resolves when its flows run. */
export async function startNodeRed(options: NodeRedOptions): Promise<NodeRed> {
  const { runtime, flows = [], credentials = {}, port = 0 } = options;
  const userDir = options.userDir ?? (await makeUserDir());
  await writeUserDir(userDir, { flows, credentials, port });
  const startedAt = performance.now();
  const child = spawn(runtime.node.path, [runtime.script, "--userDir", userDir], {
    cwd: userDir,
    env: { ...process.env, NODE_OPTIONS: `--import=${endWithParent}`, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit").then(() => undefined);
  const stop = async (signal: NodeJS.Signals = "SIGTERM"): Promise<void> => {
    child.kill(signal);
    const killer = setTimeout(() => child.kill("SIGKILL"), 20_000);
    await ended;
    clearTimeout(killer);
    if (options.userDir === undefined) {
      await rm(userDir, { recursive: true, force: true, maxRetries: 3 });
    }
  };

  const lines: string[] = [];
  const seen = new Map<string, number>();
  const ready = new Promise<string>((resolve, reject) => {
    let url = "";
    const read = (line: string): void => {
      lines.push(line);
      for (const mark of ["Loading palette nodes", "Settings file", "Started flows"]) {
        if (line.includes(mark)) {
          seen.set(mark, performance.now());
        }
      }
      url = /now running at (http:\S+?)\/?$/.exec(line)?.[1] ?? url;
      if (seen.has("Started flows") && url !== "") {
        resolve(url);
      }
    };
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", read);
    }
    const fail = (what: string) => reject(new Error(`${what}:\n${lines.slice(-30).join("\n")}`));
    const timer = setTimeout(() => fail("Node-RED did not start in time"), startTimeoutMs);
    child.once("exit", () => {
      clearTimeout(timer);
      fail("Node-RED ended");
    });
    child.once("error", (error) => fail(error.message));
  });

  try {
    const url = await ready;
    const at = (mark: string) => seen.get(mark) ?? Number.NaN;
    const post = async (path: string, order: object): Promise<string> => {
      const { statusCode, body } = await request(url + path, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(order),
        // Ten thousand jobs take longer than undici's default timeout.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      const text = await body.text();
      if (statusCode !== 200) {
        throw new Error(`${path}: ${text}\n${lines.slice(-10).join("\n")}`);
      }
      return text;
    };
    return {
      url,
      pid: child.pid ?? 0,
      startMs: at("Started flows") - startedAt,
      paletteMs: at("Settings file") - at("Loading palette nodes"),
      loop: async (order) => JSON.parse(await post("/bench/loop", order)) as LoopResult,
      raw: async (order) => JSON.parse(await post("/bench/raw", order)) as LoopResult,
      memory: async () => JSON.parse(await post("/bench/memory", {})) as MemoryFacts,
      startDelay: async () => void (await post("/bench/delay/start", {})),
      stopDelay: async () => JSON.parse(await post("/bench/delay/stop", {})) as DelayFacts,
      startProfile: async () => void (await post("/bench/profile/start", {})),
      stopProfile: () => post("/bench/profile/stop", {}),
      ended,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
