import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { createRequire } from "node:module";
import type { Node, NodeAPI, NodeMessage } from "node-red";
import { FlowsEvent } from "../../src/runtime/config/flows-event.ts";
import { RecordSender } from "../../src/runtime/webhook/record-sender.ts";
import type { Received } from "../../src/webhook/posted-record.ts";
import { holdUp } from "../support/hold-up.ts";
import { nodeRedMajor } from "../support/node-red.ts";

interface Hooks {
  trigger(id: string, event: object): Promise<unknown>;
}

const require = createRequire(import.meta.url);
const core = createRequire(require.resolve(`node-red-${nodeRedMajor}`));
const util = core("@node-red/util") as { readonly hooks: Hooks; readonly util: object };

const received = (transactionId: string): Received =>
  ({ record: { transactionId }, kept: null, isResumed: false }) as unknown as Received;

/** A sender in a runtime whose nodes are those that a test lets exist. */
function newSender() {
  const events = new EventEmitter();
  const existing = new Map<string, Pick<Node, "receive">>();
  const nodes = { getNode: (id: string) => existing.get(id) ?? null };
  const RED = { ...util, events, nodes } as unknown as NodeAPI;
  const sent: NodeMessage[] = [];
  const errors: unknown[] = [];
  const node = {
    send: (msg: NodeMessage) => sent.push(msg),
    error: (error: unknown) => errors.push(error),
  } as unknown as Node;
  const sender = new RecordSender(RED, node, new FlowsEvent(RED, "flows:started"), () => undefined);
  return { sender, sent, errors, existing, start: () => events.emit("flows:started") };
}

describe("a record on its way through the wires of a flow", () => {
  it("is sent again after a deploy, also if closing the nodes held up the process", async () => {
    const { sender, sent, existing, start } = newSender();
    sender.deliver(received("1"), 0);
    assert.deepEqual(sender.unreached(), []);
    sender.stopping();
    holdUp(1_100);
    sender.deliver(received("2"), 0);
    assert.deepEqual(sender.unreached(), []);
    const [msg] = sent;
    const closed = { id: "next", node: {} };
    assert.equal(await util.hooks.trigger("onReceive", { msg, destination: closed }), false);

    const again: unknown[] = [];
    existing.set("next", { receive: (one) => again.push(one) });
    start();
    assert.deepEqual(again, [msg]);
  });

  it("is sent again to all others if a node cannot receive it", async () => {
    const { sender, sent, errors, existing, start } = newSender();
    sender.stopping();
    sender.deliver(received("1"), 0);
    sender.unreached();
    const [msg] = sent;
    for (const id of ["broken", "next"]) {
      await util.hooks.trigger("onReceive", { msg, destination: { id, node: {} } });
    }
    const failure = new RangeError("Maximum call stack size exceeded");
    existing.set("broken", {
      receive: () => {
        throw failure;
      },
    });
    const again: unknown[] = [];
    existing.set("next", { receive: (one) => again.push(one) });
    start();
    assert.deepEqual([again, errors], [[msg], [failure]]);
  });
});
