import assert from "node:assert/strict";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readToBuffer } from "../../src/media/read-to-buffer.ts";
import { saveToFile } from "../../src/media/save-to-file.ts";
import type { Download } from "../../src/model/download.ts";
import { failureOf } from "../support/failures.ts";
import type { Opened } from "../support/opened.ts";
import {
  type Clients,
  commands,
  connectClients,
  downloads,
  reads,
  surfaceNames,
} from "../support/operations.ts";
import { type Count, add, nothing } from "./count.ts";
import { shortMs } from "./endings.ts";
import type { CountedOperation } from "./expected.ts";
import { type AskedOperation, openPeer, openRowResources } from "./open-peer.ts";
import type { Peer } from "./peer.ts";
import { onReusedConnection } from "./reused-connection.ts";
import { type PlainEnding, type Row, endingOf } from "./row.ts";
import { untilArrived, untilSent } from "./short-deadlines.ts";

/** A running operation and the inspection of its result. */
interface RunningOperation {
  run(): Promise<unknown>;
  /** To be called after its end; counts files. */
  look(isWell: boolean): Promise<{ whole: number; partial: number }>;
}

/** An operation of the sources; a download is one to a buffer and another one to a file. */
export interface TriedOperation extends AskedOperation, CountedOperation {
  readonly name: string;
  begin(clients: Clients, peer: Peer, row: Row, opened: Opened): Promise<RunningOperation>;
}

/** How much longer than a deadline a busy computer may take. */
const graceMs = 60_000;
/** Shorter than the 30 s that a peer may ask to wait. */
const longMs = 25_000;
const noFiles = { whole: 0, partial: 0 } as const;

/** Every operation of the clients and of the media pipeline. */
export const operations: readonly TriedOperation[] = [
  ...commands.map((command): TriedOperation => ({
    ...command,
    name: `${command.surface} ${command.operation}`,
    begin: async (clients) => ({ run: () => command.run(clients), look: async () => noFiles }),
  })),
  ...reads.map((read): TriedOperation => ({
    ...read,
    name: `${read.surface} ${read.operation}`,
    begin: async (clients, { id }) => ({
      run: () => read.run(clients, {}, ...(id === "" ? [] : [id])),
      look: async () => noFiles,
    }),
  })),
  ...downloads.flatMap((download): TriedOperation[] => {
    const facts = {
      operation: download.operation,
      surface: surfaceNames[download.surface],
      host: "the peer",
    };
    const name = download.path.split("/").at(-1) || download.operation;
    const start =
      (clients: Clients, { id }: Peer, { waitMs = 0 }: Row): (() => Promise<Download>) =>
      () =>
        download.start(clients, id, waitMs);
    return [
      {
        ...download,
        name: `${name} to a buffer`,
        async begin(clients, peer, row) {
          let got: Buffer | undefined;
          return {
            async run() {
              got = (await readToBuffer(start(clients, peer, row), { suggestedBase: "x", ...facts })).payload;
            },
            async look(isWell) {
              assert.ok(!isWell || got?.equals(peer.content()), "the whole, and nothing else");
              return noFiles;
            },
          };
        },
      },
      {
        ...download,
        name: `${name} to a file`,
        savesFile: true,
        async begin(clients, peer, row, opened) {
          const folder = await mkdtemp(join(tmpdir(), "matrix-"));
          opened({ close: () => rm(folder, { recursive: true }) });
          const target = { folder, suggestedBase: "x", ifExists: "rename" } as const;
          return {
            run: () => saveToFile(start(clients, peer, row), target, facts),
            look: () => lookInto(folder, peer.content()),
          };
        },
      },
    ];
  }),
];

/** Counts the files in a folder, including hidden unfinished ones. */
export async function lookInto(folder: string, content: Buffer): Promise<{ whole: number; partial: number }> {
  const names = await readdir(folder);
  const files = await Promise.all(names.map((name) => readFile(join(folder, name))));
  const whole = files.filter((file) => file.equals(content)).length;
  return { whole, partial: files.length - whole };
}

/**
 * Runs every operation that a row can happen to, and compares each ending with the expected one. All peers are
 * there before the first one begins: a deadline that is to pass shall pass for no other reason.
 */
export async function runRow(row: Row, opened: Opened): Promise<Count> {
  const resources = await openRowResources(row, opened);
  const met = operations.flatMap((tried) => {
    const ending = endingOf(row, tried);
    return ending === undefined ? [] : [{ tried, ending }];
  });
  const ready = await Promise.all(
    met.map(async ({ tried, ending }) => {
      const peer = await openPeer(row, tried, resources, opened);
      return { tried, ending, peer };
    }),
  );
  const counts = await Promise.all(
    ready.map(({ tried, ending, peer }) =>
      runCase(row, tried, ending, peer, opened).catch((error: unknown) => {
        throw new Error(tried.name, { cause: error });
      }),
    ),
  );
  return counts.reduce(add, nothing);
}

async function runCase(
  row: Row,
  tried: TriedOperation,
  ending: PlainEnding,
  peer: Peer,
  opened: Opened,
): Promise<Count> {
  const { takesMs } = row;
  const isWell = ending.code === undefined;
  // A short deadline is for operations that are to miss it; others must succeed on a busy computer.
  const { timeoutMs = longMs } = isWell && row.timeoutMs === shortMs ? {} : row;
  const clients = opened(connectClients(peer.origins, timeoutMs, peer.tls));
  let trial = await tried.begin(clients, peer, row, opened);
  let since = 0;
  const run = (): Promise<unknown> => {
    since = performance.now();
    return trial.run();
  };
  if (row.warm === true) {
    const first = async (): Promise<void> => {
      trial = await tried.begin(clients, peer, row, opened);
      await trial.run();
    };
    await settle(onReusedConnection(peer, first, run), ending, tried, peer);
  } else {
    await peer.arm();
    const running = untilSent(ending, run, async (failing) => (await failureOf(failing)).code);
    await settle(running, ending, tried, peer);
  }
  const took = performance.now() - since;
  // Downloads may last as long as bytes come.
  const [shortest, longest] = takesMs ?? [0, tried.kind === "download" ? Infinity : timeoutMs + graceMs];
  assert.ok(took >= shortest && took < longest, `${took} ms`);
  const files = await trial.look(isWell);
  await untilArrived(ending, peer, tried.path);
  const { requests } = peer;
  assert.ok(requests >= ending.fewest && requests <= ending.most, `${requests} requests`);
  const acts = await peer.acts();
  assert.equal(acts, ending.acts, "acts");
  assert.equal(files.partial, 0, "partial files");
  assert.ok(files.whole === 0 || isWell, "a file, though it failed");
  assert.deepEqual(peer.complaints(), []);
  return { tried: 1, requests, acts, ended: 1, ...files };
}

async function settle(
  running: Promise<unknown>,
  { code, outcome, retryable, statusCode }: PlainEnding,
  { surface, operation, path, kind }: TriedOperation,
  { origins }: Peer,
): Promise<void> {
  if (code === undefined || code === "ERR_MEASURE_FAILED") {
    const value: unknown = await running;
    // The sources hand a failed result on; it is the node that makes an error of it.
    const isFailed = typeof value === "object" && value !== null && "result" in value && !isOk(value.result);
    assert.equal(isFailed, code !== undefined, "a result that is not ok");
    return;
  }
  const error = await failureOf(running);
  const { details } = error;
  assert.deepEqual(
    {
      code: error.code,
      outcome: details.outcome,
      retryable: details.retryable,
      statusCode: details.statusCode,
    },
    { code, outcome, retryable, statusCode: statusCode ?? details.statusCode },
    error.message,
  );
  assert.deepEqual([details.surface, details.operation], [surfaceNames[surface], operation]);
  const { origin } = origins[surface];
  // What is wrong with a content is said without an address.
  const needsNone = kind === "download" && code === "ERR_BAD_RESPONSE" && details.url === undefined;
  assert.ok(needsNone || details.url?.startsWith(`${origin}${path}`), details.url);
}

function isOk(result: unknown): boolean {
  return typeof result === "object" && result !== null && "ok" in result && result.ok === true;
}
