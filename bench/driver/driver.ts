/**
 * The node that sends messages to a contender and counts those that return. It is bundled into the user folder of the
 * measured Node-RED.
 */
import { Session } from "node:inspector/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Node, NodeAPI, NodeMessage } from "node-red";
import { request } from "undici";
import { Meter } from "./meter.ts";
import type { DelayFacts, LoopOrder, LoopResult, MemoryFacts, RawOrder } from "./protocol.ts";

type Message = Record<string, unknown>;

/** One run of messages in a loop through a contender. */
class Loop {
  readonly #node: Node;
  readonly #order: LoopOrder;
  readonly #meter = new Meter();
  readonly #under = new Map<string, { slot: number; sentAt: number; left: number }>();
  readonly #turns: number[];
  readonly #unique: string;
  readonly #prefix: string;
  readonly #key: string;
  #sent = 0;
  #end: (() => void) | undefined;
  #fail: ((error: Error) => void) | undefined;

  constructor(node: Node, order: LoopOrder) {
    this.#node = node;
    this.#order = order;
    this.#unique = order.unique?.property ?? "benchId";
    this.#prefix = order.unique?.prefix ?? "";
    this.#key = order.key ?? this.#unique;
    this.#turns = Array.from({ length: order.inFlight }, (_, slot) => slot);
  }

  async run(): Promise<LoopResult> {
    const ended = new Promise<void>((resolve, reject) => {
      this.#end = resolve;
      this.#fail = reject;
    });
    this.#meter.start();
    for (let slot = 0; slot < this.#order.inFlight; slot++) {
      this.#sendNext(slot);
    }
    await ended;
    return this.#meter.stop();
  }

  onReturn(msg: Message): void {
    if ("error" in msg) {
      this.#fail?.(new Error(String((msg["error"] as { message?: unknown }).message ?? msg["error"])));
      return;
    }
    const key = String(msg[this.#key]);
    const one = this.#under.get(key);
    if (one === undefined) {
      return;
    }
    one.left -= 1;
    if (one.left === 0) {
      this.#under.delete(key);
      this.#meter.count(performance.now() - one.sentAt);
      this.#sendNext(one.slot);
    }
  }

  #sendNext(slot: number): void {
    const { messages, inFlight, forMs = Infinity, count = Infinity } = this.#order;
    const isTimeOver = this.#sent > 0 && this.#meter.elapsedMs >= forMs;
    if (isTimeOver || this.#sent >= count) {
      if (this.#under.size === 0) {
        this.#end?.();
      }
      return;
    }
    const turn = this.#turns[slot] ?? slot;
    this.#turns[slot] = turn + inFlight < messages.length ? turn + inFlight : slot;
    this.#sent += 1;
    const id = `${this.#prefix}${this.#sent}`;
    this.#under.set(id, { slot, sentAt: performance.now(), left: this.#order.returns ?? 1 });
    this.#node.send({ ...messages[turn % messages.length], [this.#unique]: id } as NodeMessage);
  }
}

async function runRaw({ urls, inFlight, forMs, headers }: RawOrder): Promise<LoopResult> {
  const meter = new Meter();
  meter.start();
  const work = async (slot: number): Promise<void> => {
    let turn = slot;
    do {
      const url = urls[turn % urls.length] as string;
      const sentAt = performance.now();
      const { body } = await request(url, { headers });
      await body.json();
      meter.count(performance.now() - sentAt);
      turn = turn + inFlight < urls.length ? turn + inFlight : slot;
    } while (meter.elapsedMs < forMs);
  };
  await Promise.all(Array.from({ length: inFlight }, (_, slot) => work(slot)));
  return meter.stop();
}

/**
 * The memory in use after garbage collections that also compact the heap: what a burst has left half empty would otherwise
 * count as used, more or less of it in each run.
 */
async function readMemory(): Promise<MemoryFacts> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: {
    type: "major";
    execution: "sync";
    flavor: "last-resort";
  }) => void;
  for (let turn = 0; turn < 5; turn++) {
    collect({ type: "major", execution: "sync", flavor: "last-resort" });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { rss, heapUsed } = process.memoryUsage();
  return { rssBytes: rss, heapBytes: heapUsed };
}

const delayEveryMs = 1;

class DelayMeter {
  readonly #histogram = monitorEventLoopDelay({ resolution: delayEveryMs });

  start(): void {
    this.#histogram.reset();
    this.#histogram.enable();
  }

  stop(): DelayFacts {
    this.#histogram.disable();
    // The measured delay includes the interval of the timer.
    const late = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - delayEveryMs);
    const { max } = this.#histogram;
    return {
      p50Ms: late(this.#histogram.percentile(50)),
      p99Ms: late(this.#histogram.percentile(99)),
      maxMs: late(max),
    };
  }
}

export default function (RED: NodeAPI): void {
  const loops = new Map<string, Loop>();
  const session = new Session();
  const delay = new DelayMeter();

  function DriverNode(this: Node, config: { id: string; type: string; name: string; z: string }): void {
    RED.nodes.createNode(this, config);
    this.on("input", (msg, _send, done) => {
      loops.get(this.id)?.onReturn(msg as Message);
      done();
    });
  }
  RED.nodes.registerType("bench-driver", DriverNode);

  const serve = (path: string, work: (order: never) => Promise<unknown>): void => {
    RED.httpAdmin.post(path, (request_, response) => {
      work(request_.body as never).then(
        (result) => response.json(result),
        (error: unknown) => response.status(500).send(String(error)),
      );
    });
  };
  serve("/bench/loop", async (order: LoopOrder) => {
    const loop = new Loop(RED.nodes.getNode(order.node), order);
    loops.set(order.node, loop);
    try {
      return await loop.run();
    } finally {
      loops.delete(order.node);
    }
  });
  serve("/bench/raw", runRaw);
  serve("/bench/memory", readMemory);
  serve("/bench/delay/start", async () => {
    delay.start();
    return {};
  });
  serve("/bench/delay/stop", async () => delay.stop());
  serve("/bench/profile/start", async () => {
    session.connect();
    await session.post("Profiler.enable");
    await session.post("Profiler.start");
    return {};
  });
  serve("/bench/profile/stop", async () => {
    const { profile } = await session.post("Profiler.stop");
    session.disconnect();
    return profile;
  });
}
