import assert from "node:assert/strict";
import { Agent, request } from "node:http";
import type { NodeRed } from "../support/node-red.ts";

const place = { z: "tab", x: 100, y: 100 };

/** A function node that counts, under its own name, how often each transaction has come to it. */
export function counter(id: string, name = id): object {
  const func = `const seen = global.get("${id}") || {};
    seen[msg.transactionId] = (seen[msg.transactionId] || 0) + 1;
    global.set("${id}", seen);`;
  return { ...place, id, type: "function", name, func, outputs: 0, wires: [] };
}

/** A function node that passes each message on. */
export function passOn(id: string, to: string): object {
  return { ...place, id, type: "function", func: "return msg;", outputs: 1, wires: [[to]] };
}

/** The webhook's node, wired to these. */
export function webhookNode(wires: readonly string[], more: object = {}): object {
  const settings = { path: "hook", secretIn: "none", queueLimit: 1000 };
  return { ...place, id: "in", type: "dimensioner-transaction-in", ...settings, ...more, wires: [wires] };
}

/** A page that tells what the counters have; it lies in a tab of its own. */
export function countsPage(counters: readonly string[]): object[] {
  const own = { z: "page", x: 100, y: 100 };
  const func = `msg.payload = {};
    for (const id of ${JSON.stringify(counters)}) msg.payload[id] = global.get(id) || {};
    return msg;`;
  return [
    { id: "page", type: "tab", label: "page" },
    { ...own, id: "ask", type: "http in", url: "/counts", method: "get", wires: [["tell"]] },
    { ...own, id: "tell", type: "function", func, outputs: 1, wires: [["say"]] },
    { ...own, id: "say", type: "http response", wires: [] },
  ];
}

type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>;

export async function readCounts(nodeRed: NodeRed): Promise<Counts> {
  return (await (await nodeRed.adminFetch("/counts")).json()) as Counts;
}

/** Posts records to a webhook over a few connections that are kept. */
export class WebhookLoad {
  readonly #agent: Agent;
  readonly #url: URL;
  /** The ids of the records that were answered 204. */
  readonly taken: string[] = [];
  /** How often each status was answered. */
  readonly statuses: Record<number, number> = {};
  #next = 0;
  #stopped = false;

  constructor(nodeRed: NodeRed, sockets: number) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: sockets });
    this.#url = new URL("/hook", nodeRed.url);
  }

  /** As many connections as there may be, one post after the other on each, until `count` or `stop()`. */
  async run(count: number): Promise<void> {
    const worker = async (): Promise<void> => {
      while (this.#next < count && !this.#stopped) {
        await this.post(`record-${this.#next++}`);
      }
    };
    await Promise.all(Array.from({ length: this.#agent.maxSockets }, worker));
  }

  stop(): void {
    this.#stopped = true;
  }

  async post(id: string, more: object = {}): Promise<number> {
    const body = JSON.stringify({ id, errorCode: 0, ...more });
    const status = await this.postText(body);
    if (status === 204) {
      this.taken.push(id);
    }
    return status;
  }

  postText(body: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
      const call = request(this.#url, { method: "POST", agent: this.#agent, headers }, (response) => {
        const status = response.statusCode ?? 0;
        this.statuses[status] = (this.statuses[status] ?? 0) + 1;
        response.resume().once("end", () => resolve(status));
      });
      call.once("error", (error) => {
        // The server has ended an idle connection at the moment when this request began on it.
        if (call.reusedSocket && "code" in error && ["ECONNRESET", "EPIPE"].includes(String(error.code))) {
          resolve(this.postText(body));
          return;
        }
        reject(error);
      });
      call.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Waits until each counter has all that was taken, and checks that it has each once. */
export async function untilAllCounted(
  nodeRed: NodeRed,
  counters: readonly string[],
  taken: readonly string[],
  patienceMs = 90_000,
): Promise<void> {
  for (const until = performance.now() + patienceMs; ;) {
    const counts = await readCounts(nodeRed);
    const missing = counters.flatMap((id) => taken.filter((one) => counts[id]?.[one] === undefined));
    if (missing.length === 0) {
      for (const id of counters) {
        const seen = counts[id] ?? {};
        const twice = Object.keys(seen).filter((one) => seen[one] !== 1);
        assert.deepEqual(twice, [], `${id} got these twice`);
        assert.equal(Object.keys(seen).length, new Set(taken).size, `${id} got what nobody posted`);
      }
      return;
    }
    assert.ok(
      performance.now() < until,
      `${missing.length} of ${taken.length} did not come: ${missing.slice(0, 5).join()}`,
    );
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
