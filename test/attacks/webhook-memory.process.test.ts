import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { nodeRedMajor, type NodeRed } from "../support/node-red.ts";
import { startMonitored, usedAfter, watch } from "./monitored.ts";
import { counter, countsPage, untilAllCounted, webhookNode, WebhookLoad } from "./webhook-load.ts";

const mega = 1_000_000;
/** What all bodies that have not come to their end may take together. */
const bodyBudgetBytes = 32 * mega;
/** A connection, its parser and its request. */
const connectionBytes = 15_000;
/** Node-RED's own memory, which goes up and down by some megabytes. */
const noiseBytes = 10 * mega;
const tab = { id: "tab", type: "tab" };

describe(`A10: what a webhook keeps is bounded (Node-RED ${nodeRedMajor})`, function () {
  this.timeout(240_000);
  let nodeRed: NodeRed;
  let load: WebhookLoad;
  const sockets: Socket[] = [];

  const start = async (options: { readonly collects?: boolean } = {}): Promise<void> => {
    const nodes = [webhookNode(["first"]), counter("first")];
    nodeRed = await startMonitored([tab, ...nodes, ...countsPage(["first"])], options);
    load = new WebhookLoad(nodeRed, 10);
  };
  afterEach(async () => {
    load.close();
    sockets.splice(0).forEach((socket) => socket.destroy());
    await nodeRed.stop();
  });

  it("ids of 900 kB are refused, and 400 of them leave nothing behind", async () => {
    await start({ collects: true });
    const before = await usedAfter(nodeRed, () => load.post("first"));
    const after = await usedAfter(nodeRed, async () => {
      for (let round = 0; round < 40; round++) {
        await Promise.all(
          Array.from({ length: 10 }, (_, index) => load.post(`${round}-${index}-${"i".repeat(900_000)}`)),
        );
      }
    });
    assert.deepEqual(load.statuses, { 204: 1, 400: 400 });
    assert.ok(after - before < noiseBytes, `${Math.round((after - before) / mega)} MB`);
  });

  it("800 bodies that do not come to their end take 32 MB; senders beyond are asked to come back, and nothing is left", async () => {
    await start({ collects: true });
    const before = await usedAfter(nodeRed, () => load.post("first"));
    const answers: string[] = [];
    const { hostname, port } = new URL(nodeRed.url);
    const head = `POST /hook HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 950000\r\n\r\n`;
    const begin = async (): Promise<void> => {
      const socket = connect(Number(port), hostname);
      sockets.push(socket);
      socket.on("error", () => undefined);
      socket.once("data", (text) => answers.push(text.toString("latin1")));
      await once(socket, "connect");
      socket.write(head);
      await new Promise((resolve) => socket.write(Buffer.alloc(949_999, " "), resolve));
    };
    const held = await usedAfter(nodeRed, async () => {
      for (let round = 0; round < 40; round++) {
        await Promise.all(Array.from({ length: 20 }, begin));
      }
    });
    const mayHold = bodyBudgetBytes + sockets.length * connectionBytes + noiseBytes;
    assert.ok(held - before < mayHold, `${Math.round((held - before) / mega)} MB`);
    const after = await usedAfter(nodeRed, async () => {
      // A refusal waits for the end of its body, since who is cut off in the middle does not see it.
      sockets.forEach((socket) => socket.write(" "));
      while (answers.length < sockets.length) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    });
    const refused = answers.filter((text) => text.startsWith("HTTP/1.1 503 "));
    const others = answers.filter((text) => !/^HTTP\/1\.1 (?:503|400|408) /.test(text));
    assert.deepEqual(others, []);
    // On a slow computer the first are given up after 10 s, and others have their room.
    assert.ok(refused.length > 0);
    assert.match(refused[0] ?? "", /\r\nretry-after: \d/i);
    const mayStay = sockets.length * connectionBytes + noiseBytes;
    assert.ok(after - before < mayStay, `${Math.round((after - before) / mega)} MB`);
    // Whoever began ends, and there is room again.
    sockets.splice(0).forEach((socket) => socket.destroy());
    while ((await load.post("last")) !== 204) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });

  it("an idle flow takes 6,000 posts over 10 connections without a refusal, and is not held up for long", async function () {
    await start();
    await load.run(500);
    const samples = await watch(nodeRed, async () => {
      await load.run(6_500);
      await untilAllCounted(nodeRed, ["first"], load.taken);
    });
    assert.deepEqual(load.statuses, { 204: 6_500 });
    const [p99Ms = 0] = samples
      .map((sample) => sample.p99Ms)
      .toSorted((one, other) => one - other)
      .slice(samples.length / 2);
    // Said beside the test, and no part of its verdict: a busy computer holds up every process.
    (this.test ?? assert.fail()).title += ` (event loop delay p99 ${p99Ms.toFixed(1)} ms)`;
  });
});
