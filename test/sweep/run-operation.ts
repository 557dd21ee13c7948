import { type FileHandle, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { Disk } from "../../src/media/disk.ts";
import type { RequestRecord } from "../../src/simulator/index.ts";
import { systemError, watchedDisk } from "../media/support.ts";
import { connectClients } from "../support/operations.ts";
import { PointCounter, type FaultPoint, type Recording } from "./fault-points.ts";
import type { End, Run, SweptOperation } from "./operations.ts";
import type { ProxiedConnection } from "./fault-proxy.ts";
import { proxyNames, type SweepEnvironment } from "./environment.ts";
import { Steps } from "./steps.ts";

/** What is known of a run once everything is closed. */
export interface RunResult {
  readonly operation: SweptOperation;
  readonly run: Run;
  readonly point: FaultPoint | null;
  /** How the run ended: exactly one entry. */
  readonly ends: readonly End[];
  readonly limitMs: number;
  readonly tookMs: number;
  /** The connections through the proxy of the operation's peer, with all their bytes. */
  readonly proxiedConnections: readonly ProxiedConnection[];
  /** Bytes that the client's sockets sent, and how many of these sockets are not closed. */
  readonly bytesWritten: number;
  readonly openSockets: number;
  /** Files that were opened and not closed. */
  readonly openFiles: number;
  /** The requests that reached the simulator, and how often its device acted. */
  readonly requests: readonly RequestRecord[];
  readonly acts: number;
  /** What failed when the operation was repeated after the end. */
  readonly repeatError: unknown;
  /** Connections of the client to anything but the operation's peer. */
  readonly strayConnections: number;
  /** Events that were reported after the end. */
  readonly lateEvents: number;
  /** The files in the folder at the end, by name. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** The name of the call to the disk that failed. */
  readonly failedCall: string | undefined;
  readonly recording: Recording;
}

/** The deadline has to pass in a stall, and in no other case. */
const shortMs = 120;
const longMs = 20_000;
/** A run has ended this long after its deadline, also on a busy machine. */
const patienceMs = 60_000;

/** Runs the operation once, with this point failing, and closes everything. */
export async function runOperation(
  environment: SweepEnvironment,
  operation: SweptOperation,
  point: FaultPoint | null,
): Promise<RunResult> {
  const { sim, proxies, watch } = environment;
  sim.reset();
  const run = await operation.prepare(environment);
  const folder = await realpath(await mkdtemp(join(tmpdir(), "dimensioner-sweep-")));
  try {
    const existing = run.file?.existing;
    if (existing) {
      await writeFile(join(folder, existing.name), existing.content);
    }
    const limitMs = point?.in === "wire" && point.effect === "stall" ? shortMs : longMs;
    const aborting = new AbortController();
    let closed: Promise<unknown> | undefined;
    const onClientEffect = (effect: "abort" | "shut"): void => {
      if (effect === "abort") {
        aborting.abort();
      } else {
        closed ??= Promise.resolve(run.shut === undefined ? opened.close() : run.shut());
      }
    };
    for (const surface of proxyNames) {
      const isMine = point?.in === "wire" && surface === operation.surface;
      proxies[surface].failAt(isMine ? point : undefined, {
        onClientEffect: onClientEffect,
        redirectTarget: `${environment.redirectTarget.origin}/elsewhere`,
      });
    }
    const steps = new Steps({
      step: point?.in === "steps" ? point.k : 0,
      timer: point?.in === "timers" ? point.k : 0,
      onStep: () => onClientEffect(point?.in === "steps" ? point.effect : "abort"),
    });
    const diskCalls = new PointCounter(point?.in === "disk" ? point.k : 0);
    let isOver = false;
    const watched = watchedDisk((call) => {
      if (isOver) {
        return;
      }
      if (point?.in !== "disk") {
        diskCalls.pass(call);
      } else if (diskCalls.pass(call)) {
        if (point.effect === "abort") {
          onClientEffect("abort");
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
    let lateEvents = 0;
    const since = performance.now();

    const nobody = `http://127.0.0.1:${environment.unusedPort}`;
    const at = (origin: string) => ({ origin: point?.in === "connect" ? nobody : origin });
    const opened = watch.run(steps, () =>
      connectClients(
        {
          newer: at(proxies.newer.origin),
          earlier: at(proxies.earlier.origin),
          cloud: at(proxies.cloud.origin),
        },
        limitMs,
      ),
    );
    const onEvent = (): void => {
      if (ends.length > 0) {
        lateEvents += 1;
      }
    };
    const webhookOrigin = point?.in === "connect" ? nobody : proxies.webhook.origin;
    const context = {
      clients: opened,
      webhookOrigin,
      limitMs,
      signal: aborting.signal,
      disk,
      folder,
      onEvent,
    };
    const running = watch
      .run(steps, () => run.start(context))
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
    await Promise.all(proxyNames.map((surface) => proxies[surface].idle()));
    // The simulator's requests have ended when their responses are sent or given up.
    await Promise.all(sim.requests.slice(seenBefore).map((record) => sim.settled(record)));
    const acts = run.acts?.() ?? 0;
    // Other programs on this machine may connect to any port: only the client's own connections count.
    const own = new Set(steps.connections.map(({ from }) => from));
    const proxiedConnections = proxies[operation.surface].proxiedConnections.filter(({ clientPort }) =>
      own.has(clientPort),
    );
    const peerPorts = new Set(proxiedConnections.map(({ peerPort }) => peerPort));
    const requests = sim.requests.slice(seenBefore).filter(({ remotePort }) => peerPorts.has(remotePort));
    const files = await readAll(folder);
    isOver = true;
    const [end] = ends;
    const repeatError = await (end === undefined ? undefined : run.again?.(end, folder))?.catch(
      (error: unknown) => error,
    );
    return {
      operation,
      run,
      point,
      ends,
      limitMs,
      tookMs,
      proxiedConnections,
      bytesWritten,
      openFiles: handles.filter(({ fd }) => fd !== -1).length,
      openSockets: steps.sockets.filter((socket) => !socket.destroyed).length,
      requests,
      acts,
      repeatError,
      strayConnections: steps.connections.filter(({ to }) => to !== proxies[operation.surface].port).length,
      lateEvents,
      files,
      failedCall: diskCalls.reached,
      recording: {
        ...steps.counts,
        disk: diskCalls.passed,
        ...measure(proxiedConnections),
      },
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Rejects if the work has not ended after this time; leaves no timer behind. */
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

function measure(
  proxiedConnections: readonly ProxiedConnection[],
): Pick<Recording, "down" | "headEnd" | "up"> {
  const lengthOf = (chunks: readonly Buffer[]): number =>
    chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const longest = (direction: "down" | "up"): number =>
    Math.max(0, ...proxiedConnections.map((one) => lengthOf(one[direction])));
  const first = Buffer.concat(proxiedConnections[0]?.down ?? []);
  return { up: longest("up"), down: longest("down"), headEnd: first.indexOf("\r\n\r\n") + 4 };
}
