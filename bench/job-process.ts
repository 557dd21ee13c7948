/**
 * Archives transactions in a process of its own, with the archive or with the bare script, and sends what each has cost. The argument is a
 * `JobRun` as JSON.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { CloudClient } from "../src/cloud/client.ts";
import { missingMedia } from "../src/cloud/expected-media.ts";
import { StoreDatabases } from "../src/database/store-databases.ts";
import { Archives } from "../src/jobs/archive.ts";
import { JobRunner } from "../src/jobs/runner.ts";
import { unknownInstrument } from "../src/model/instrument.ts";
import type { Intent } from "../src/vault/packages/intent.ts";
import { Store } from "../src/vault/store.ts";
import { archiveBare } from "./bare-job.ts";
import { measurementAnswer } from "./measurement.ts";

export interface JobRun {
  readonly contender: "archive" | "bare";
  /** An existing folder: in it, `packages` and the database `store.sqlite` are made if they are missing. */
  readonly root: string;
  readonly cloud: string;
  /** How many jobs come before those that are measured: their numbers are taken. */
  readonly from: number;
  /** How many are done first, so that the process is warm. */
  readonly warm: number;
  readonly count: number;
  readonly atOnce: number;
  /** The size of each of the two media of a job. */
  readonly mediaBytes: number;
}

/** What each job has cost. */
export interface JobCost {
  readonly ms: number;
  readonly cpuMs: number;
}

const { contender, root, cloud, from, warm, count, atOnce, mediaBytes } = JSON.parse(
  process.argv[2] ?? "",
) as JobRun;
const folder = join(root, "packages");
await mkdir(folder, { recursive: true });

const { archive, close } = contender === "bare" ? bare() : await open();
await run(from, from + warm);
const usedBefore = process.cpuUsage();
const startedAt = performance.now();
await run(from + warm, from + warm + count);
const ms = performance.now() - startedAt;
const { user, system } = process.cpuUsage(usedBefore);
await close();
process.send?.({ ms: ms / count, cpuMs: (user + system) / 1_000 / count } satisfies JobCost);
process.disconnect?.();

/** Archives the jobs from one number up to another one. */
async function run(first: number, end: number): Promise<void> {
  let next = first;
  const work = async (): Promise<void> => {
    while (next < end) {
      next += 1;
      await archive(next);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

function idOf(index: number): string {
  return `pair-${mediaBytes}-${String(index).padStart(7, "0")}`;
}

function bare() {
  return {
    archive: (index: number) => archiveBare(folder, cloud, idOf(index), measurementAnswer),
    close: async () => undefined,
  };
}

async function open() {
  const client = new CloudClient({ baseUrl: cloud, token: "bench" });
  const database = { kind: "file", file: join(root, "store.sqlite") } as const;
  const store = new Store(database, { kind: "folder", path: folder }, new StoreDatabases());
  const use = await new Archives().open(store);
  const runner = new JobRunner(use.archive, {
    node: "bench",
    concurrency: 16,
    cloud: () => client,
    device: () => {
      throw new Error("there is no device");
    },
    findMissing: missingMedia,
  });
  return {
    archive: async (index: number): Promise<void> => {
      const submission = await runner.submit(intentOf(index, client.peer.origin));
      await submission.end();
      submission.messageSent();
    },
    close: async () => {
      await runner.close();
      await use.release();
      await client.close();
    },
  };
}

/** A thousand packages are in one folder, as those of a day. */
function intentOf(index: number, origin: string): Intent {
  const reference = `ORDER-${String(index).padStart(7, "0")}`;
  return {
    origin,
    transactionId: idOf(index),
    measuredBy: null,
    sought: null,
    recording: null,
    media: "all",
    contentType: null,
    expect: [],
    settleMs: 0,
    waitMs: 0,
    giveUpMs: 0,
    onIncomplete: "error",
    folder: [`day-${Math.floor(index / 1_000)}`, reference],
    references: {
      transactionReference: reference,
      customReference1: `CUSTOMER-${index % 1_000}`,
      customReference2: null,
      customReference3: null,
      barcodeReference: null,
    },
    device: "Dock 7",
    instrument: unknownInstrument,
    deviceLocalTime: null,
    deviceUtcTime: "2026-01-02T03:04:05.135Z",
    legalForTrade: false,
    billable: null,
    scan: null,
    measurement: measurementAnswer,
    raw: null,
    keep: {},
    cloudName: null,
    sequence: null,
  };
}
