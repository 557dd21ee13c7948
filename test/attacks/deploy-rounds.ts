import assert from "node:assert/strict";
import { startNodeRed, type DeployType } from "../support/node-red.ts";
import { counter, countsPage, passOn, untilAllCounted, webhookNode, WebhookLoad } from "./webhook-load.ts";

const counters = ["first", "second"];
const types: readonly DeployType[] = ["full", "flows", "nodes"];

/** What a deploy changes: the webhook's own node, one of the nodes behind it, the other, its wires, something elsewhere. */
function flows(round: number): object[] {
  const name = String(round);
  const changed = Math.floor(round / types.length) % 5;
  // The second counter stands behind two other nodes: a deploy may come while a record is on any of these wires.
  const receivers = ["first", "one"];
  const wires = changed === 3 ? receivers.toReversed() : receivers;
  return [
    { id: "tab", type: "tab", label: "webhook" },
    webhookNode(wires, changed === 0 ? { name } : {}),
    passOn("one", "two"),
    passOn("two", "second"),
    counter("first", changed === 1 ? name : "first"),
    counter("second", changed === 2 ? name : "second"),
    ...countsPage(counters),
    { id: "comment", z: "page", x: 300, y: 100, type: "comment", name: changed === 4 ? name : "", wires: [] },
  ];
}

export interface DeployTally {
  readonly taken: number;
  readonly perSecond: number;
  readonly statuses: Readonly<Record<number, number>>;
}

/** Deploys again and again while records are posted, and checks that each that was answered 204 came out, once. */
export async function deployUnderLoad(major: 4 | 5, rounds: number, sockets: number): Promise<DeployTally> {
  const nodeRed = await startNodeRed({ major, flows: flows(0) });
  const load = new WebhookLoad(nodeRed, sockets);
  try {
    const since = performance.now();
    const running = load.run(Number.POSITIVE_INFINITY);
    for (let round = 1; round <= rounds; round++) {
      await nodeRed.deploy(flows(round), types[round % types.length]);
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    load.stop();
    await running;
    const perSecond = Math.round((load.taken.length / (performance.now() - since)) * 1000);
    await untilAllCounted(nodeRed, counters, load.taken);
    const others = Object.keys(load.statuses).filter((status) => !["204", "503"].includes(status));
    assert.deepEqual(others, [], JSON.stringify(load.statuses));
    return { taken: load.taken.length, perSecond, statuses: load.statuses };
  } finally {
    load.close();
    await nodeRed.stop();
  }
}
