import assert from "node:assert/strict";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import { failedTexts } from "../../src/runtime/status/node-status.ts";
import { TestFlow } from "../support/flow.ts";
import { type Opened, manyAtOnce } from "../support/opened.ts";
import { token } from "../support/operations.ts";
import { chosen, titleOf } from "./chosen-rows.ts";
import { type Count, add, nothing } from "./count.ts";
import { checkCount } from "./expected.ts";
import { type NodeCase, nodesOf, prepareNodeCases } from "./node-cases.ts";
import { keepResults } from "./results.ts";
import { onReusedConnection } from "./reused-connection.ts";
import { type Row, endingOf } from "./row.ts";
import { untilArrived, untilSent } from "./short-deadlines.ts";
import { lookInto } from "./sources.ts";

const rows = Object.fromEntries(
  chosen.filter(({ nodes }) => nodes.length > 0).map((one) => [titleOf(one), one]),
);

describe("real nodes under every fault", () => {
  let flow: TestFlow;
  const results: Record<string, Count> = {};
  const cases = new Map<Row, NodeCase[]>();
  const open: { close(): unknown }[] = [];
  const opened: Opened = (thing) => {
    open.push(thing);
    return thing;
  };

  // One flow with a config node of its own for each case: a flow at a time is all that one process can run.
  before(async () => {
    for (const [index, { row, nodes }] of Object.values(rows).entries()) {
      cases.set(row, await prepareNodeCases(row, nodes, `${index}`, opened));
    }
    const pairs = [...cases.values()].flat().flatMap((nodeCase) => Object.values(nodesOf(nodeCase)));
    const clouds = pairs.filter(({ type }) => type === "dimensioner-cloud");
    flow = await TestFlow.start(pairs, Object.fromEntries(clouds.map(({ id }) => [id, { token }])));
  });
  after(async () => {
    await keepResults("nodes", results);
    await flow.stop();
    for (const thing of open.reverse()) {
      await thing.close();
    }
  });

  manyAtOnce(rows, async ({ row, nodes }, _, title) => {
    const all = cases.get(row) ?? [];
    const counts = await Promise.all(
      all.map((nodeCase) =>
        runCase(flow, nodeCase).catch((error: unknown) => {
          throw new Error(nodeCase.node.type, { cause: error });
        }),
      ),
    );
    const count = counts.reduce(add, nothing);
    checkCount(count, row, nodes);
    results[title] = count;
  });
});

async function runCase(flow: TestFlow, { node, row, peer, folder, id }: NodeCase): Promise<Count> {
  const ending = endingOf(row, node);
  assert.ok(ending !== undefined);
  const run = () => flow.start(id, node.message(peer));
  const first = async (): Promise<void> => {
    const { error } = await flow.run(id, node.message(peer));
    assert.equal(error, undefined);
    await rmAll(folder);
  };
  if (row.warm !== true) {
    await peer.arm();
  }
  const { msgId, error } = await (row.warm === true
    ? onReusedConnection(peer, first, run)
    : untilSent(ending, run, async (running) => (await running).error?.code));
  const { code, outcome, retryable } = ending;
  const isWell = code === undefined;
  assert.deepEqual(
    { code: error?.code, outcome: error?.cause.outcome ?? null, retryable: error?.cause.retryable ?? false },
    { code, outcome, retryable },
    error?.message,
  );
  const sent = flow.sent.filter(({ nodeId, msg }) => nodeId === id && msg["_msgid"] === msgId);
  assert.equal(sent.length, isWell ? 1 : 0, "what it sent");
  const shown = flow.shown.filter(({ nodeId }) => nodeId === id);
  assert.ok(!inspect({ error, sent, shown }, { depth: 10, showHidden: true }).includes(token), "the token");
  const look = shown.at(-1);
  assert.equal(`${look?.fill} ${look?.shape}`, isWell ? "green dot" : "red ring");
  assert.ok(isWell || look?.text === failedTexts[code], look?.text);
  await untilArrived(ending, peer, node.path);
  const requests = node.asksMore === true ? peer.requestsTo(node.path) : peer.requests;
  assert.ok(requests >= ending.fewest && requests <= ending.most, `${requests} requests`);
  assert.deepEqual(peer.complaints(), []);
  const files = node.savesFile === true ? await lookInto(folder, peer.content()) : { whole: 0, partial: 0 };
  const ended = flow.ends.filter((end) => end.nodeId === id && end.msgId === msgId).length;
  return { tried: 1, requests, acts: await peer.acts(), ended, ...files };
}

async function rmAll(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    await rm(join(folder, name));
  }
}
