import * as http from "node:http";
import * as https from "node:https";

import type { Webhook } from "./options.ts";
import type { Timers } from "./timers.ts";
import { transactionRecord, type Transaction } from "./transactions.ts";

/** One post of a transaction record and what came of it. */
export interface WebhookPost {
  readonly url: string;
  readonly transactionId: string;
  readonly at: Date;
  /** Null when there was no answer; `error` says why. */
  readonly statusCode: number | null;
  readonly error: string | null;
}

export interface Webhooks {
  /** To be called for each transaction that reaches the cloud. */
  fire(transaction: Transaction): void;
  close(): void;
}

const answerWithinMs = 10_000;

/** Posts the records of measurements, and tells what came of each post. */
export function createWebhooks(
  hooks: readonly Webhook[],
  timers: Timers,
  posted: (post: WebhookPost) => void,
): Webhooks {
  const closing = new AbortController();
  const heldBack = new Map<Webhook, Transaction>();

  function post(hook: Webhook, transaction: Transaction): Promise<void> {
    const body = Buffer.from(JSON.stringify(transactionRecord(transaction, hook.version ?? "v2")));
    const at = new Date();
    return new Promise((resolve) => {
      const done = (statusCode: number | null, error: string | null): void => {
        if (!closing.signal.aborted) {
          posted({ url: hook.url, transactionId: transaction.id, at, statusCode, error });
        }
        resolve();
      };
      const headers = {
        "content-type": "application/json; charset=utf-8",
        "content-length": body.length,
        ...(hook.header === undefined ? {} : { [hook.header.name]: hook.header.value }),
      };
      const { request } = hook.url.startsWith("https:") ? https : http;
      // No agent, so that no idle connection outlives the post.
      const call = request(hook.url, { method: "POST", headers, agent: false, signal: closing.signal });
      call.setTimeout(answerWithinMs, () => call.destroy(new Error("no answer in time")));
      call.on("response", (response) => {
        response.resume();
        done(response.statusCode ?? null, null);
      });
      call.on("error", (error) => done(null, error.message));
      call.end(body);
    });
  }

  async function postCopies(hook: Webhook, transaction: Transaction): Promise<void> {
    for (let copy = 0; copy < (hook.copies ?? 1); copy += 1) {
      await post(hook, transaction);
    }
  }

  function send(hook: Webhook, transaction: Transaction): void {
    if (hook.outOfOrder !== true) {
      void postCopies(hook, transaction);
      return;
    }
    const earlier = heldBack.get(hook);
    if (earlier === undefined) {
      heldBack.set(hook, transaction);
      return;
    }
    heldBack.delete(hook);
    void postCopies(hook, transaction).then(() => postCopies(hook, earlier));
  }

  return {
    fire(transaction) {
      if (transaction.kind !== "measurement") {
        return;
      }
      for (const hook of hooks) {
        if (hook.fires === "local" && transaction.trigger === "cloud") {
          continue;
        }
        timers.after(hook.delayMs ?? 0, () => send(hook, transaction));
      }
    },
    close() {
      closing.abort();
      heldBack.clear();
    },
  };
}
