import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { request } from "undici";
import { cloudNode, credentials, driverOf, ring, tab } from "../flows.ts";
import { startNodeRed } from "../node-red.ts";
import type { Progress } from "../progress.ts";
import type { Runtime } from "../runtimes.ts";
import { startServer } from "../server-process.ts";
import { quantile } from "../median.ts";

/** Videos are archived while records of the cloud's webhook arrive at a fixed rate. */
export interface TogetherRow {
  readonly runtime: string;
  readonly atOnce: number;
  readonly bytes: number;
  readonly videos: number;
  /** How long all of them took together. */
  readonly seconds: number;
  /** How many records were posted each second. */
  readonly postsPerSecond: number;
  /** Records that were stored and answered with 204 meanwhile. */
  readonly posts: number;
  readonly postP50Ms: number;
  readonly postP99Ms: number;
  /** How much later than due a timer of Node-RED fired. */
  readonly delayP50Ms: number;
  readonly delayP99Ms: number;
  readonly delayMaxMs: number;
  /** The highest resident memory above that of an idle Node-RED. */
  readonly memoryBytes: number;
}

export interface TogetherSizes {
  readonly atOnce: number;
  readonly bytes: number;
  readonly videos: number;
  readonly postsPerSecond: number;
  /** An existing folder on the disk to write to. */
  readonly folder: string;
}

const path = "dimensioner/transaction";

export async function measureTogether(
  runtime: Runtime,
  { atOnce, bytes, videos, postsPerSecond, folder }: TogetherSizes,
  progress: Progress,
): Promise<TogetherRow> {
  progress(`${runtime.title}: ${atOnce} videos at once, and ${postsPerSecond} records a second`);
  const server = await startServer();
  const packages = await mkdtemp(join(folder, "bench-together-"));
  try {
    const nodeRed = await startNodeRed({
      runtime,
      credentials,
      flows: tab([
        cloudNode(server.cloud),
        { id: "store", type: "dimensioner-store", name: "", folder: packages, folderType: "str" },
        // A record that returns to its node has been handled.
        {
          id: "records",
          type: "dimensioner-transaction-in",
          name: "",
          path,
          secretIn: "none",
          store: "store",
          wires: [["records"]],
        },
        ...ring("archive", [
          {
            type: "dimensioner-archive",
            name: "",
            cloud: "cloud",
            store: "store",
            // Settled at once, because the server lists all media at first.
            settle: 0,
            concurrency: atOnce,
          },
        ]),
      ]),
    });
    try {
      const { rssBytes } = await nodeRed.memory();
      const posts = new RecordPoster(`${nodeRed.url}/${path}`, postsPerSecond);
      await posts.first();
      await nodeRed.startDelay();
      const { ms, peakRssBytes } = await nodeRed.loop({
        node: driverOf("archive"),
        inFlight: atOnce,
        count: videos,
        unique: { property: "transactionId", prefix: `video-${bytes}-` },
        messages: [{}],
      });
      const delay = await nodeRed.stopDelay();
      const latencies = await posts.stop();
      return {
        runtime: runtime.title,
        atOnce,
        bytes,
        videos,
        seconds: ms / 1000,
        postsPerSecond,
        posts: latencies.length,
        postP50Ms: quantile(latencies, 0.5),
        postP99Ms: quantile(latencies, 0.99),
        delayP50Ms: delay.p50Ms,
        delayP99Ms: delay.p99Ms,
        delayMaxMs: delay.maxMs,
        memoryBytes: peakRssBytes - rssBytes,
      };
    } finally {
      await nodeRed.stop();
    }
  } finally {
    await server.stop();
    await rm(packages, { recursive: true, force: true });
  }
}

/** Posts records at a fixed rate, whether or not the earlier ones were answered. */
class RecordPoster {
  readonly #url: string;
  readonly #posts: Promise<number>[] = [];
  readonly #everyMs: number;
  #timer: NodeJS.Timeout | undefined;
  #next = 0;

  constructor(url: string, perSecond: number) {
    this.#url = url;
    this.#everyMs = 1000 / perSecond;
  }

  /** Posts one record, waits for its response, and then starts the rate. */
  async first(): Promise<void> {
    await this.#post();
    const startedAt = performance.now();
    let sent = 0;
    // A late timer makes up for the missed posts.
    this.#timer = setInterval(() => {
      for (const due = (performance.now() - startedAt) / this.#everyMs; sent < due; sent++) {
        const post = this.#post();
        // `stop` awaits the posts; until then a failed one must not end the process.
        post.catch(() => undefined);
        this.#posts.push(post);
      }
    }, this.#everyMs);
  }

  /** Resolves with the milliseconds of each post. Throws if one was not answered with 204. */
  async stop(): Promise<readonly number[]> {
    clearInterval(this.#timer);
    return await Promise.all(this.#posts);
  }

  async #post(): Promise<number> {
    const transactionId = String(900_000 + this.#next++);
    const sentAt = performance.now();
    const { statusCode, body } = await request(this.#url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...record, transactionId, transactionReference: `ORDER-${transactionId}` }),
    });
    await body.dump();
    if (statusCode !== 204) {
      throw new Error(`A record was answered with ${statusCode}.`);
    }
    return performance.now() - sentAt;
  }
}

const record = {
  deviceClientId: "5e0c9a52-3f7b-4f1c-8a66-1f4f8f2f1f20",
  errorCode: 0,
  errorMessage: "-",
  dateTimeUtc: "2026-01-02T03:04:05.135Z",
  elapsedMs: 498,
  isManualDimension: false,
  dimsUnitOfMeasure: "cm",
  weightUnitOfMeasure: "kg",
  measurementFidelity: 0.5,
  rotationAngle: 14.2,
  length: 33.5,
  width: 21,
  height: 12.5,
  weight: 2.8,
  cameraSerialId: "bench",
  barcodeReference: "395212345678",
  customReference1: null,
  customReference2: null,
  customReference3: null,
};
