import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { nodeRedMajor, type NodeRed } from "../support/node-red.ts";
import { startMonitored, usedAfter } from "./monitored.ts";
import { counter, countsPage, untilAllCounted, webhookNode, WebhookLoad } from "./webhook-load.ts";

const mega = 1_000_000;
/** What all bodies that have not come to their end may take together. */
const bodyBudgetBytes = 32 * mega;
/** A connection, its parser and its request. */
const connectionBytes = 15_000;
/** Node-RED's own memory, which goes up and down by some megabytes. */
const noiseBytes = 10 * mega;
/** So many of nearly a megabyte are more than twice of what may be kept. */
const largeBodies = 80;
const tab = { id: "tab", type: "tab" };

describe(`A10: what a webhook keeps is bounded (Node-RED ${nodeRedMajor})`, function () {
  this.timeout(240_000);
  let nodeRed: NodeRed;
  let load: WebhookLoad;
  const sockets: Socket[] = [];

  before(async () => {
    const nodes = [webhookNode(["first"]), counter("first")];
    nodeRed = await startMonitored([tab, ...nodes, ...countsPage(["first"])]);
  });
  after(() => nodeRed.stop());
  beforeEach(() => {
    load = new WebhookLoad(nodeRed, 10);
  });
  afterEach(() => {
    load.close();
    sockets.splice(0).forEach((socket) => socket.destroy());
  });

  it("an idle flow takes 1,500 posts over 10 connections without a refusal", async () => {
    // More than may wait in the queue. The first test, since what has come is counted from the start on.
    await load.run(1_500);
    await untilAllCounted(nodeRed, ["first"], load.taken);
    assert.deepEqual(load.statuses, { 204: 1_500 });
  });

  it("ids of 900 kB are refused, and 80 of them leave nothing behind", async () => {
    const before = await usedAfter(nodeRed, () => load.post("first"));
    const after = await usedAfter(nodeRed, async () => {
      for (let posted = 0; posted < largeBodies; posted += 10) {
        await Promise.all(
          Array.from({ length: 10 }, (_, index) => load.post(`${posted + index}-${"i".repeat(900_000)}`)),
        );
      }
    });
    assert.deepEqual(load.statuses, { 204: 1, 400: largeBodies });
    assert.ok(after - before < noiseBytes, `${Math.round((after - before) / mega)} MB`);
  });

  it("80 bodies that do not come to their end take 32 MB; senders beyond are asked to come back, and nothing is left", async () => {
    const before = await usedAfter(nodeRed, () => load.post("second"));
    const answers: string[] = [];
    const ends: Promise<unknown>[] = [];
    const { hostname, port } = new URL(nodeRed.url);
    const head = `POST /hook HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 950000\r\n\r\n`;
    const begin = async (): Promise<void> => {
      const socket = connect(Number(port), hostname);
      sockets.push(socket);
      socket.on("error", () => undefined);
      const answered = new Promise<void>((resolve) => {
        socket.once("data", (text) => resolve(void answers.push(text.toString("latin1"))));
      });
      ends.push(Promise.race([answered, new Promise((resolve) => socket.once("close", resolve))]));
      await once(socket, "connect");
      socket.write(head);
      await new Promise((resolve) => socket.write(Buffer.alloc(949_999, " "), resolve));
    };
    await Promise.all(Array.from({ length: largeBodies }, begin));
    // The system keeps what Node-RED has not read yet: until there is no room left for bodies, and no more is taken. A slow computer
    // gives the first ones up before the last ones have come.
    let held = before;
    for (
      let last = 0;
      answers.length === 0 && (held - before < 0.9 * bodyBudgetBytes || held - last > mega);
    ) {
      last = held;
      held = await usedAfter(nodeRed, async () => undefined);
    }
    const mayHold = bodyBudgetBytes + sockets.length * connectionBytes + noiseBytes;
    assert.ok(held - before < mayHold, `${Math.round((held - before) / mega)} MB`);
    const after = await usedAfter(nodeRed, async () => {
      // A refusal waits for the end of its body, since who is cut off in the middle does not see it.
      sockets.forEach((socket) => socket.write(" "));
      await Promise.all(ends);
    });
    const refused = answers.filter((text) => text.startsWith("HTTP/1.1 503 "));
    const others = answers.filter((text) => !/^HTTP\/1\.1 (?:503|400|408) /.test(text));
    assert.deepEqual(others, []);
    const givenUp = answers.filter((text) => text.startsWith("HTTP/1.1 408 "));
    assert.ok(refused.length + givenUp.length > 0);
    assert.ok(refused.every((text) => /\r\nretry-after: \d/i.test(text)));
    const mayStay = sockets.length * connectionBytes + noiseBytes;
    assert.ok(after - before < mayStay, `${Math.round((after - before) / mega)} MB`);
    // Whoever began ends, and there is room again.
    sockets.splice(0).forEach((socket) => socket.destroy());
    while ((await load.post("last")) !== 204) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
});
