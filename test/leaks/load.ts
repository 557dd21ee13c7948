import { EventEmitter, once } from "node:events";
import { request } from "node:http";
import { createRequire } from "node:module";
import { setImmediate as turn } from "node:timers/promises";
import type { Message, TestFlow } from "../support/flow.ts";
import { nodeRedMajor } from "../support/node-red.ts";
import type { Places } from "./places.ts";
import { casesOf } from "./cases.ts";

interface Handled {
  readonly msg: Message;
  readonly destination?: { readonly node: { readonly id: string; readonly type: string } };
  readonly node?: { readonly id: string; readonly node: { readonly type: string } };
}

interface Hooks {
  add(name: string, hook: (event: Handled) => void): void;
}

interface Webhook {
  readonly url: string;
  readonly secret: string;
}

/** Sends messages and posts without end to a flow that is deployed again and again. */
export class Load {
  begun = 0;
  ended = 0;
  posted = 0;
  /** How many deploys happened while connections were open or timers waited. */
  metBusy = 0;
  readonly surprises = new Set<string>();
  readonly #events = new EventEmitter();
  readonly #flow: TestFlow;
  readonly #webhook: Webhook;
  readonly #pumps: readonly { readonly id: string; readonly make: () => Message; readonly atOnce: number }[];
  /** How often each message has ended, by node and id. */
  readonly #open = new Map<string, number>();
  #pumping = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(flow: TestFlow, places: Places, webhook: Webhook) {
    this.#flow = flow;
    this.#webhook = webhook;
    const { largeId } = places;
    const waiting = ["wait-1", "wait-2", "wait-3"];
    let next = 0;
    const large = (): Message => ({ transactionId: "large", payload: { contentId: largeId } });
    const oneOfThree = (): Message => ({ transactionId: waiting[next++ % waiting.length] });
    this.#pumps = [
      ...casesOf(places).map(({ node, good }) => ({ id: node.id, make: good, atOnce: 2 })),
      { id: "download", make: large, atOnce: 2 },
      { id: "download-2", make: large, atOnce: 1 },
      { id: "wait", make: oneOfThree, atOnce: 2 },
      { id: "wait-video", make: () => ({}), atOnce: 2 },
      { id: "job", make: oneOfThree, atOnce: 3 },
      { id: "queue", make: () => ({}), atOnce: 8 },
      { id: "stuck", make: () => ({}), atOnce: 4 },
    ];
    this.#watch();
  }

  start(): void {
    this.#pumping = new AbortController();
    const pumps = this.#pumps.flatMap((pump) =>
      Array.from({ length: pump.atOnce }, () => this.#pump(pump.id, pump.make)),
    );
    this.#running = Promise.all([...pumps, this.#post()]);
  }

  /** Starts nothing more; what was started goes on. */
  async stop(): Promise<void> {
    this.#pumping.abort();
    await turn();
  }

  async untilEnded(more: number): Promise<void> {
    const enough = this.ended + more;
    while (this.ended < enough) {
      await once(this.#events, "ended");
    }
  }

  /** Resolves when every message that a node has received has ended. */
  async untilAllEnded(): Promise<void> {
    await this.#running;
    for (const [key, ends] of this.#open) {
      if (ends !== 1) {
        this.surprises.add(`${key} ended ${ends} times`);
      }
    }
    this.#open.clear();
  }

  noteBusy(passing: number): void {
    this.metBusy += passing > 0 ? 1 : 0;
  }

  forget(): void {
    this.begun = 0;
    this.ended = 0;
    this.posted = 0;
    this.metBusy = 0;
  }

  /** Resumed archive jobs come in without anybody sending them, so that it is the runtime that counts. */
  #watch(): void {
    const { hooks } = createRequire(import.meta.url)(`node-red-${nodeRedMajor}`) as { hooks: Hooks };
    const isOurs = (type = ""): boolean => type.startsWith("dimensioner-");
    hooks.add("onReceive.load", ({ msg, destination }) => {
      if (isOurs(destination?.node.type)) {
        this.begun++;
        this.#open.set(`${destination?.node.id} ${String(msg["_msgid"])}`, 0);
      }
    });
    hooks.add("onComplete.load", ({ msg, node }) => {
      if (isOurs(node?.node.type)) {
        this.ended++;
        const key = `${node?.id} ${String(msg["_msgid"])}`;
        this.#open.set(key, (this.#open.get(key) ?? 0) + 1);
        this.#events.emit("ended");
      }
    });
  }

  async #pump(id: string, make: () => Message): Promise<void> {
    const { signal } = this.#pumping;
    while (!signal.aborted) {
      await turn();
      // Between the two halves of a deploy the node does not exist, contrary to its type.
      const node: unknown = this.#flow.node(id);
      if (node) {
        await this.#flow.start(id, make());
      }
    }
  }

  async #post(): Promise<void> {
    const { signal } = this.#pumping;
    for (let id = 0; !signal.aborted; id++) {
      const status = await this.#postOne(JSON.stringify({ id, errorCode: 0 }));
      // 404: during a deploy there is a moment without the path.
      if (status !== 204 && status !== 404 && status !== 503) {
        this.surprises.add(`the webhook answered ${status}`);
      }
      this.posted += status === 204 ? 1 : 0;
    }
  }

  /** Without fetch, which keeps a line of each request for those who measure pages. */
  #postOne(body: string): Promise<number> {
    const { url, secret } = this.#webhook;
    const headers = { "content-type": "application/json", "x-webhook-secret": secret };
    return new Promise((resolve, reject) => {
      const call = request(url, { method: "POST", agent: false, headers }, (answer) => {
        answer.resume().once("end", () => resolve(answer.statusCode ?? 0));
      });
      call.once("error", reject);
      call.end(body);
    });
  }
}
