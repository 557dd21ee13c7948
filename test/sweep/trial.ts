import type { FileHandle } from "node:fs/promises";
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { Disk } from "../../src/media/disk.ts";
import type { RequestRecord } from "../../src/simulator/index.ts";
import { systemError, watchedDisk } from "../media/support.ts";
import { connectClients } from "../support/operations.ts";
import { Counter, type FaultPoint, type Recording } from "./fault-points.ts";
import type { End, Run, SweptOperation } from "./operations.ts";
import type { Conversation } from "./relay.ts";
import { relayNames, type Testbed } from "./testbed.ts";
import { Steps } from "./steps.ts";

/** All that is known of one run once everything is closed. */
export interface TrialResult {
  readonly operation: SweptOperation;
  readonly run: Run;
  readonly point: FaultPoint | null;
  /** Every end; there has to be one. */
  readonly ends: readonly End[];
  readonly limitMs: number;
  readonly tookMs: number;
  /** Connections through the relay to the operation's peer, with all bytes. */
  readonly conversations: readonly Conversation[];
  /** Bytes that our own sockets took, and how many are not closed. */
  readonly bytesWritten: number;
  readonly openSockets: number;
  /** Files that were opened and not closed. */
  readonly openFiles: number;
  /** What arrived at the simulator, and what its machine did of it. */
  readonly requests: readonly RequestRecord[];
  readonly acts: number;
  /** What went wrong when it was done again. */
  readonly aftermath: unknown;
  /** Connections of ours that led anywhere else than to the operation's peer. */
  readonly strayConnections: number;
  /** Signs of life after the end. */
  readonly lateSigns: number;
  /** What is in the folder now, by name. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** The call to the disk that failed. */
  readonly brokenCall: string | undefined;
  readonly recording: Recording;
}

/** For a stall the deadline is to pass; for all else it is not. */
const shortMs = 120;
const longMs = 4_000;
/** So long after its deadline even a busy machine has ended a run. */
const patienceMs = 15_000;

/** Runs the operation once, with this point struck, and closes everything. */
export async function runTrial(
  testbed: Testbed,
  operation: SweptOperation,
  point: FaultPoint | null,
): Promise<TrialResult> {
  const { sim, relays, watch } = testbed;
  sim.reset();
  const run = await operation.prepare(testbed);
  const folder = await realpath(await mkdtemp(join(tmpdir(), "dimensioner-sweep-")));
  try {
    const standing = run.file?.standing;
    if (standing) {
      await writeFile(join(folder, standing.name), standing.content);
    }
    const limitMs = point?.in === "wire" && point.effect === "stall" ? shortMs : longMs;
    const aborting = new AbortController();
    let closed: Promise<unknown> | undefined;
    const ownEffect = (effect: "abort" | "shut"): void => {
      if (effect === "abort") {
        aborting.abort();
      } else {
        closed ??= Promise.resolve(run.shut === undefined ? opened.close() : run.shut());
      }
    };
    for (const surface of relayNames) {
      const isMine = point?.in === "wire" && surface === operation.surface;
      relays[surface].arm(isMine ? point : undefined, {
        onOwnEffect: ownEffect,
        elsewhere: `${testbed.elsewhere.origin}/elsewhere`,
      });
    }
    const steps = new Steps({
      step: point?.in === "steps" ? point.k : 0,
      timer: point?.in === "timers" ? point.k : 0,
      onStep: () => ownEffect(point?.in === "steps" ? point.effect : "abort"),
    });
    const diskCalls = new Counter(point?.in === "disk" ? point.k : 0);
    let isOver = false;
    const watched = watchedDisk((call) => {
      if (isOver) {
        return;
      }
      if (point?.in !== "disk") {
        diskCalls.pass(call);
      } else if (diskCalls.pass(call)) {
        if (point.effect === "abort") {
          ownEffect("abort");
        } else {
          throw systemError(point.effect);
        }
      }
    });
    const handles: FileHandle[] = [];
    const disk: Disk = new Proxy(watched, {
      get(real, key) {
        if (key !== "open") {
          return Reflect.get(real, key) as unknown;
        }
        return async (...given: Parameters<Disk["open"]>) => {
          const handle = await real.open(...given);
          handles.push(handle);
          return handle;
        };
      },
    });
    const seenBefore = sim.requests.length;
    const ends: End[] = [];
    let lateSigns = 0;
    const since = performance.now();

    const dead = `http://127.0.0.1:${testbed.deadPort}`;
    const at = (origin: string) => ({ origin: point?.in === "connect" ? dead : origin });
    const opened = watch.run(steps, () =>
      connectClients(
        {
          newer: at(relays.newer.origin),
          earlier: at(relays.earlier.origin),
          cloud: at(relays.cloud.origin),
        },
        limitMs,
      ),
    );
    const onSign = (): void => {
      if (ends.length > 0) {
        lateSigns += 1;
      }
    };
    const webhookOrigin = point?.in === "connect" ? dead : relays.webhook.origin;
    const means = { clients: opened, webhookOrigin, limitMs, signal: aborting.signal, disk, folder, onSign };
    const running = watch
      .run(steps, () => run.start(means))
      .then(
        (value) => ends.push({ value }),
        (error: unknown) => ends.push({ error }),
      )
      .finally(() => steps.end());
    await Promise.race([running, timeout(limitMs + patienceMs, running)]);
    const tookMs = performance.now() - since;
    const { bytesWritten } = steps;
    await closed;
    await opened.close();
    await Promise.all(relayNames.map((surface) => relays[surface].idle()));
    // What the simulator began is done when its last answer is out or given up.
    await Promise.all(sim.requests.slice(seenBefore).map((record) => sim.settled(record)));
    const acts = run.acts?.() ?? 0;
    // Whoever else is on this machine may knock at any port: only our own connections count.
    const own = new Set(steps.connections.map(({ from }) => from));
    const conversations = relays[operation.surface].conversations.filter(({ clientPort }) =>
      own.has(clientPort),
    );
    const peerPorts = new Set(conversations.map(({ peerPort }) => peerPort));
    const requests = sim.requests.slice(seenBefore).filter(({ remotePort }) => peerPorts.has(remotePort));
    const files = await readAll(folder);
    isOver = true;
    const [end] = ends;
    const aftermath = await (end === undefined ? undefined : run.again?.(end, folder))?.catch(
      (error: unknown) => error,
    );
    return {
      operation,
      run,
      point,
      ends,
      limitMs,
      tookMs,
      conversations,
      bytesWritten,
      openFiles: handles.filter(({ fd }) => fd !== -1).length,
      openSockets: steps.sockets.filter((socket) => !socket.destroyed).length,
      requests,
      acts,
      aftermath,
      strayConnections: steps.connections.filter(({ to }) => to !== relays[operation.surface].port).length,
      lateSigns,
      files,
      brokenCall: diskCalls.struck,
      recording: {
        ...steps.counts,
        disk: diskCalls.passed,
        ...measure(conversations),
      },
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Fails when the work has not ended by then; leaves no timer behind. */
async function timeout(ms: number, work: Promise<unknown>): Promise<never> {
  return await new Promise((_resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no end within ${ms} ms`)), ms);
    void work.finally(() => clearTimeout(timer));
  });
}

/** Every file below a folder, by its path. */
async function readAll(folder: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    // The files of a database come and go until its thread has ended.
    .filter((one) => one.isFile() && !one.name.startsWith("store.sqlite"))
    .map((one) => join(one.parentPath, one.name));
  const files = paths.map(async (path) => [relative(folder, path), await readFile(path)] as const);
  return new Map(await Promise.all(files));
}

function measure(conversations: readonly Conversation[]): Pick<Recording, "down" | "headEnd" | "up"> {
  const lengthOf = (chunks: readonly Buffer[]): number =>
    chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const longest = (direction: "down" | "up"): number =>
    Math.max(0, ...conversations.map((one) => lengthOf(one[direction])));
  const first = Buffer.concat(conversations[0]?.down ?? []);
  return { up: longest("up"), down: longest("down"), headEnd: first.indexOf("\r\n\r\n") + 4 };
}
