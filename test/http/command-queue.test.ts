import assert from "node:assert/strict";
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import { CloudClient } from "../../src/cloud/client.ts";
import { DeviceClient, type DeviceClientOptions } from "../../src/device/client.ts";
import { CommandQueues } from "../../src/http/command-queue.ts";
import { failsWith, failureOf } from "../support/failures.ts";
import { closesAfterEach } from "../support/opened.ts";
import { deviceCode, token } from "../support/operations.ts";
import { type RawRequest, type RawServer, reply, replyJson, startServer } from "../support/servers.ts";

const result = { errorCode: 0, measuredObjects: [] };

/** A server that holds back every response until it is released. */
interface Gate {
  readonly server: RawServer;
  /** How many requests wait for their response. */
  readonly held: readonly RawRequest[];
  /** The largest number of requests that waited at the same time. */
  readonly most: number;
  /** Responds to the oldest request. */
  letGo(): void;
  /** Responds to all requests at once from now on. */
  open(): void;
  /** Resolves when this many requests are held. */
  holds(count: number): Promise<void>;
  close(): Promise<void>;
}

async function startGate(): Promise<Gate> {
  const held: { readonly request: RawRequest; readonly go: () => void }[] = [];
  let most = 0;
  let isOpen = false;
  const server = await startServer((request, socket) => {
    const go = (): void =>
      request.target.includes("measure") ? replyJson(socket, result) : reply(socket, { body: "" });
    if (isOpen) {
      go();
      return;
    }
    held.push({ request, go });
    most = Math.max(most, held.length);
  });
  return {
    server,
    get held() {
      return held.map(({ request }) => request);
    },
    get most() {
      return most;
    },
    letGo: () => held.shift()?.go(),
    open() {
      isOpen = true;
      held.splice(0).forEach(({ go }) => go());
    },
    async holds(count) {
      while (held.length < count) {
        await server.next();
      }
    },
    close: () => server.close(),
  };
}

describe("the queue of commands", () => {
  const opened = closesAfterEach();
  let gate: Gate;
  let queues: CommandQueues;

  beforeEach(async () => {
    gate = opened(await startGate());
    queues = new CommandQueues();
  });
  afterEach(() => {
    assert.equal(queues.size, 0, "an idle machine has no queue");
  });

  const device = (options: Partial<DeviceClientOptions> = {}): DeviceClient =>
    opened(new DeviceClient({ address: gate.server.origin, queues, timeoutMs: 60_000, ...options }));
  const reference = ({ target }: RawRequest): string =>
    new URLSearchParams(target.split("?")[1]).get("TransactionReference") ?? "";

  it("fifty commands over two clients of one device are sent in order, one at a time", async () => {
    const first = device({ queueLimit: 50 });
    // The same address in another spelling.
    const second = device({ address: `127.0.0.1:${gate.server.port}`, queueLimit: 50 });
    gate.open();
    const names = Array.from({ length: 50 }, (_, index) => `parcel ${index}`);
    await Promise.all(
      names.map((name, index) => (index % 2 === 0 ? first : second).measure({ transactionReference: name })),
    );
    assert.deepEqual(gate.server.requests.map(reference), names);
  });

  it("the second command is sent only after the response to the first", async () => {
    const [first, second] = [device(), device()];
    const waits: number[] = [];
    const order: string[] = [];
    const running = [
      first.measure({}, { onWaiting: (count) => waits.push(count), onTurn: () => order.push("first") }),
      second.measure({}, { onWaiting: (count) => waits.push(count), onTurn: () => order.push("second") }),
      first.startVideo({}, { onWaiting: (count) => waits.push(count), onTurn: () => order.push("third") }),
    ];
    await gate.holds(1);
    assert.deepEqual([waits, order], [[1, 2], ["first"]]);
    gate.letGo();
    await gate.holds(1);
    assert.deepEqual(order, ["first", "second"]);
    gate.open();
    await Promise.all(running);
    assert.equal(gate.most, 1);
    assert.deepEqual(order, ["first", "second", "third"]);
  });

  it("a command is sent only when the promise of its turn has resolved, and not at all if it was aborted meanwhile", async () => {
    const client = device();
    for (const isAborted of [false, true]) {
      const abort = new AbortController();
      const [begun, ready] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const onTurn = (): Promise<void> => {
        begun.resolve();
        return ready.promise;
      };
      const running = client.measure({}, { onTurn, signal: abort.signal });
      await begun.promise;
      assert.equal(gate.server.requests.length, Number(isAborted));
      gate.open();
      if (isAborted) {
        abort.abort();
        ready.resolve();
        await failsWith(running, { code: "ERR_CANCELLED", outcome: "not-sent" });
      } else {
        ready.resolve();
        await running;
      }
    }
    assert.equal(gate.server.requests.length, 1);
  });

  it("a command that fails makes way for the next", async () => {
    const client = device();
    const abort = new AbortController();
    const failing = failsWith(client.measure({}, { signal: abort.signal }), {
      code: "ERR_CANCELLED",
      outcome: "unknown",
    });
    const next = client.stopVideo();
    await gate.holds(1);
    abort.abort();
    await failing;
    await gate.holds(2);
    gate.open();
    await next;
    assert.deepEqual(
      gate.server.requests.map(({ target }) => target),
      ["/api/v1/measure", "/api/v1/video/stop"],
    );
  });

  it("reads do not wait behind commands", async () => {
    const client = device();
    const measuring = client.measure();
    await gate.holds(1);
    const pinging = client.ping().catch(() => undefined);
    await gate.holds(2);
    gate.open();
    await Promise.all([measuring, pinging]);
  });

  it("each device of the cloud has one queue, whatever the letter case, and delays no other", async () => {
    const cloud = opened(new CloudClient({ baseUrl: gate.server.origin, token, queues }));
    const same = opened(new CloudClient({ baseUrl: `${gate.server.origin}/`, token, queues }));
    const running = [
      cloud.measure(deviceCode, "1"),
      same.stopVideo(deviceCode.toLowerCase()),
      same.measure("EFGH6789", "2"),
    ];
    await gate.holds(2);
    await turn();
    assert.deepEqual(
      gate.held.map(({ target }) => new URLSearchParams(target.split("?")[1]).get("deviceReference")),
      [deviceCode, "EFGH6789"],
    );
    gate.open();
    await Promise.all(running);
    assert.equal(gate.server.requests.length, 3);
  });

  for (const queueLimit of [0, 1, 3]) {
    it(`queueLimit ${queueLimit}: so many wait, the next is refused at once`, async () => {
      const client = device({ queueLimit });
      const running = [client.measure()];
      for (let waiting = 0; waiting < queueLimit; waiting++) {
        running.push(client.measure());
      }
      const error = await failsWith(client.measure(), {
        code: "ERR_QUEUE_FULL",
        outcome: "not-sent",
        retryable: true,
        url: `${gate.server.origin}/api/v1/measure`,
      });
      assert.match(error.message, new RegExp(`waiting: ${queueLimit}\\b`));
      gate.open();
      await Promise.all(running);
      assert.equal(gate.server.requests.length, queueLimit + 1);
    });
  }

  it("maxWait: a command that has waited too long is dropped, and the others move up", async () => {
    const [patient, hasty] = [device({ maxWaitMs: 0 }), device({ maxWaitMs: 60 })];
    const running = [patient.measure({ transactionReference: "1" })];
    const expired = failsWith(hasty.measure({ transactionReference: "2" }), {
      code: "ERR_EXPIRED",
      outcome: "not-sent",
      retryable: true,
    });
    running.push(patient.measure({ transactionReference: "3" }));
    const { message } = await expired;
    assert.match(message, /0\.06 s/);
    await sleep(100);
    gate.open();
    await Promise.all(running);
    assert.deepEqual(gate.server.requests.map(reference), ["1", "3"]);
  });

  it("the deadline counts from the turn, not from the wait", async () => {
    const [patient, hasty] = [device(), device({ timeoutMs: 300 })];
    const first = patient.measure();
    await gate.holds(1);
    let turnAt = Number.NaN;
    const onTurn = (): void => void (turnAt = performance.now());
    let tookMs = Number.NaN;
    const second = failureOf(hasty.measure({}, { onTurn })).then(() => (tookMs = performance.now() - turnAt));
    // Longer than the second may take: it has none of this time left if the wait counts.
    await sleep(400);
    gate.letGo();
    await first;
    await second;
    assert.ok(tookMs >= 299, `${tookMs} ms`);
  });

  for (const [reason, sentence] of [
    ["reset", "cancelledReset"],
    [undefined, "cancelledClose"],
  ] as const) {
    for (const option of ["signal", "waitSignal"] as const) {
      it(`${option} aborted with ${reason}: dropped while it waits`, async () => {
        const client = device();
        const abort = new AbortController();
        const running = client.measure({}, { [option]: option === "signal" ? undefined : abort.signal });
        const waiting = client.measure({}, { [option]: abort.signal });
        abort.abort(reason);
        const error = await failsWith(waiting, {
          code: "ERR_CANCELLED",
          outcome: "not-sent",
          retryable: true,
        });
        assert.equal(error.sentence, sentence);
        gate.open();
        await running;
        assert.equal(gate.server.requests.length, 1);
      });
    }
  }

  it("a signal that aborted before the wait drops at once", async () => {
    const client = device();
    const running = client.measure();
    for (const option of ["signal", "waitSignal"]) {
      await failsWith(client.measure({}, { [option]: AbortSignal.abort("reset") }), {
        code: "ERR_CANCELLED",
        outcome: "not-sent",
      });
    }
    gate.open();
    await running;
    assert.equal(gate.server.requests.length, 1);
  });

  it("a client that is closed takes its waiting commands along, not those of others", async () => {
    const [closing, staying] = [device(), device()];
    const running = staying.measure();
    await gate.holds(1);
    const dropped = failsWith(closing.measure(), { code: "ERR_CANCELLED", outcome: "not-sent" });
    const waiting = staying.measure();
    await closing.close();
    await dropped;
    await failsWith(closing.measure(), { code: "ERR_CANCELLED", outcome: "not-sent" });
    gate.open();
    await Promise.all([running, waiting]);
    assert.equal(gate.server.requests.length, 2);
  });

  it("a listener that throws fails only its own command", async () => {
    const client = device();
    const running = client.measure();
    const listener = (): never => {
      throw new Error("the status could not be set");
    };
    await assert.rejects(client.measure({}, { onWaiting: listener }), /could not be set/);
    const waiting = client.measure();
    gate.open();
    await Promise.all([running, waiting]);
    await assert.rejects(client.measure({}, { onTurn: listener }), /could not be set/);
    await client.measure();
    assert.equal(gate.server.requests.length, 3);
  });
});
