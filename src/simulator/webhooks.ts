import * as http from "node:http";
import * as https from "node:https";
import { newerFidelity, sidesIn } from "./measurement.ts";
import type { RecordChanges, SimulatorOptions, Webhook } from "./options.ts";
import type { Timers } from "./timers.ts";
import { transactionBytes, type Transaction } from "./transactions.ts";

/** The flat record of a measurement transaction, as webhooks carry it. */
function transactionRecord(
  transaction: Transaction,
  version: "v1" | "v2",
  { clockAheadMs, customReferences, dimsUnit }: RecordChanges,
): Record<string, unknown> {
  const { measurement } = transaction;
  const reference = (text: string | null): string | null => (customReferences ? text : null);
  const sides = measurement === null ? null : sidesIn(measurement, dimsUnit ?? measurement.dimsUnit);
  return {
    ...(version === "v1"
      ? { id: transaction.legacyId }
      : { id: transaction.guid, legacyId: transaction.legacyId }),
    deviceClientId: transaction.deviceClientId,
    errorCode: measurement?.errorCode ?? 0,
    errorDescription: measurement === null || measurement.errorCode === 0 ? "" : measurement.errorMessage,
    transactionDateTime: new Date(transaction.at.getTime() + clockAheadMs).toISOString(),
    elapsedTimeMilliseconds: measurement?.elapsedMs ?? 0,
    isManualDimension: false,
    measurementUnitOfMeasureCd: dimsUnit ?? measurement?.dimsUnit ?? null,
    weightUnitOfMeasureCd: measurement?.weightUnit ?? null,
    measurementFidelity: newerFidelity,
    rotationAngle: measurement?.object?.rotationAngle ?? 0,
    length: sides?.length ?? 0,
    width: sides?.width ?? 0,
    height: sides?.height ?? 0,
    weight: measurement?.weight ?? 0,
    cameraSerialId: `SIM-${transaction.deviceClientId.slice(0, 8).toUpperCase()}`,
    barcodeReference: transaction.barcodeReference,
    customReference1: reference(transaction.customReference1),
    customReference2: reference(transaction.customReference2),
    customReference3: reference(transaction.customReference3),
    transactionReference: transaction.transactionReference,
  };
}

/** One post of a transaction record and its result. */
export interface WebhookPost {
  readonly url: string;
  readonly transactionId: string;
  readonly at: Date;
  /** Null if there was no response; `error` says why. */
  readonly statusCode: number | null;
  readonly error: string | null;
}

interface Webhooks {
  /** To be called for each transaction that reaches the cloud. */
  fire(transaction: Transaction): void;
  /** Deletes what was not posted yet. */
  clear(): void;
  close(): void;
}

interface Posting {
  /** How the records differ from the device's response at the time of the post. */
  readonly records: () => RecordChanges;
  /** Called with each post. */
  readonly posted: (post: WebhookPost) => void;
}

/** Records that are posted one after the other: copies of one record, or a pair out of order. */
interface Delivery {
  readonly records: Transaction[];
  readonly bytes: number;
  /** When it was first due, in milliseconds since 1970. */
  readonly since: number;
}

const responseWithinMs = 10_000;
const mostInFlight = 100;
const mostWaiting = 10_000;
const firstPauseMs = 1000;
const longestPauseMs = 30_000;

/** Whether the same post may succeed later: there was no response, or one that asks to try again. */
function mayBeRepeated(statusCode: number | null): boolean {
  return statusCode === null || statusCode === 408 || statusCode === 429 || statusCode >= 500;
}

/** Posts the records of measurements, and reports the result of each post. */
export function createWebhooks(
  { webhooks, keepBytes }: Pick<SimulatorOptions, "webhooks" | "keepBytes">,
  timers: Timers,
  posting: Posting,
): Webhooks {
  const closing = new AbortController();
  const senders = webhooks.map((hook) => createSender(hook, keepBytes, timers, closing.signal, posting));
  return {
    fire(transaction) {
      if (transaction.kind === "measurement") {
        senders.forEach((sender) => sender.fire(transaction));
      }
    },
    clear: () => senders.forEach((sender) => sender.clear()),
    close: () => closing.abort(),
  };
}

/**
 * Posts to one address. The number of waiting records is limited, whether the address is slow or does not respond at
 * all.
 */
function createSender(
  hook: Webhook,
  mostBytes: number,
  timers: Timers,
  closing: AbortSignal,
  { posted, records }: Posting,
): Pick<Webhooks, "fire" | "clear"> {
  const { retryMs = 0, copies = 1, delayMs = 0 } = hook;
  let queue: Delivery[] = [];
  let heldBack: Transaction | null = null;
  let inFlight = 0;
  let isPaused = false;
  let pauseMs = firstPauseMs;
  let waiting = 0;
  let waitingBytes = 0;
  let generation = 0;

  function post(transaction: Transaction): Promise<number | null> {
    const body = Buffer.from(JSON.stringify(transactionRecord(transaction, hook.version ?? "v2", records())));
    const at = new Date();
    return new Promise((resolve) => {
      const done = (statusCode: number | null, error: string | null): void => {
        if (!closing.aborted) {
          posted({ url: hook.url, transactionId: transaction.id, at, statusCode, error });
        }
        resolve(statusCode);
      };
      const headers = {
        "content-type": "application/json; charset=utf-8",
        "content-length": body.length,
        ...(hook.header === undefined ? {} : { [hook.header.name]: hook.header.value }),
      };
      const { request } = hook.url.startsWith("https:") ? https : http;
      // No agent, so that no idle connection outlives the post.
      const call = request(hook.url, { method: "POST", headers, agent: false, signal: closing });
      call.setTimeout(responseWithinMs, () => call.destroy(new Error("no answer in time")));
      call.on("response", (response) => {
        response.resume();
        done(response.statusCode ?? null, null);
      });
      call.on("error", (error) => done(null, error.message));
      call.end(body);
    });
  }

  function pause(): void {
    if (isPaused) {
      return;
    }
    isPaused = true;
    timers.after(pauseMs, () => {
      isPaused = false;
      sendWaiting();
    });
    pauseMs = Math.min(2 * pauseMs, longestPauseMs);
  }

  /** Returns false if the delivery is to be tried again later. */
  async function deliver({ records, since }: Delivery): Promise<boolean> {
    for (let next = records[0]; next !== undefined; next = records[0]) {
      const statusCode = await post(next);
      if (mayBeRepeated(statusCode) && Date.now() - since < retryMs && !closing.aborted) {
        return false;
      }
      pauseMs = mayBeRepeated(statusCode) ? pauseMs : firstPauseMs;
      records.shift();
    }
    return true;
  }

  async function send(delivery: Delivery): Promise<void> {
    const begunIn = generation;
    inFlight += 1;
    const isDone = await deliver(delivery);
    inFlight -= 1;
    if (begunIn !== generation) {
      return;
    }
    if (isDone) {
      waiting -= 1;
      waitingBytes -= delivery.bytes;
    } else {
      queue.unshift(delivery);
      pause();
    }
    sendWaiting();
  }

  function sendWaiting(): void {
    if (!isPaused) {
      queue.splice(0, mostInFlight - inFlight).forEach((delivery) => void send(delivery));
    }
  }

  function enqueue(records: readonly Transaction[], bytes: number): void {
    const all = records.flatMap((record) => Array.from({ length: copies }, () => record));
    queue.push({ records: all, bytes, since: Date.now() });
    sendWaiting();
  }

  function due(transaction: Transaction, bytes: number): void {
    if (hook.outOfOrder !== true) {
      enqueue([transaction], bytes);
    } else if (heldBack === null) {
      heldBack = transaction;
    } else {
      // A pair is one delivery, and both of its records were counted.
      waiting -= 1;
      enqueue([transaction, heldBack], bytes + transactionBytes(heldBack));
      heldBack = null;
    }
  }

  return {
    fire(transaction) {
      if (hook.fires === "local" && transaction.trigger === "cloud") {
        return;
      }
      const bytes = transactionBytes(transaction);
      if (waiting >= mostWaiting || waitingBytes + bytes > mostBytes) {
        const error = `not posted: ${waiting} records wait already`;
        posted({ url: hook.url, transactionId: transaction.id, at: new Date(), statusCode: null, error });
        return;
      }
      waiting += 1;
      waitingBytes += bytes;
      const firedIn = generation;
      timers.after(delayMs, () => {
        if (firedIn === generation) {
          due(transaction, bytes);
        }
      });
    },
    clear() {
      generation += 1;
      queue = [];
      heldBack = null;
      [waiting, waitingBytes] = [0, 0];
    },
  };
}
