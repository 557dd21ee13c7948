import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { text } from "node:stream/consumers";

import type { Simulator } from "../../src/simulator/index.ts";
import { freePort } from "../support/servers.ts";
import { asObject, cloudGet, measure, useSimulators, video, type Json } from "./support.ts";

interface Received {
  readonly record: Json;
  readonly headers: IncomingHttpHeaders;
}

describe("simulator: webhooks", () => {
  const start = useSimulators();
  const open: Server[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  });

  async function receiver(status = 204): Promise<{ url: string; received: Received[] }> {
    const received: Received[] = [];
    const server = createServer((request, response) => {
      const receive = async (): Promise<void> => {
        received.push({ record: asObject(JSON.parse(await text(request))), headers: request.headers });
        response.writeHead(status).end();
      };
      void receive();
    });
    open.push(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    assert.ok(typeof address === "object" && address !== null);
    return { url: `http://127.0.0.1:${address.port}/hook`, received };
  }

  async function posted(sim: Simulator, count: number): Promise<void> {
    while (sim.cloud.webhookPosts.length < count) {
      await sim.nextEvent(({ type }) => type === "webhook");
    }
  }

  it("posts the record of each measurement, with the secret, and remembers what came of it", async () => {
    const { url, received } = await receiver();
    const header = { name: "x-webhook-secret", value: "s3cret" };
    const sim = await start({ webhooks: [{ url, header }] });
    await measure(sim, "?transactionReference=T&customReference2=c");
    await posted(sim, 1);
    const [post] = received;
    const [transaction] = sim.cloud.transactions;
    assert.equal(post?.headers["x-webhook-secret"], "s3cret");
    assert.match(post?.headers["content-type"] ?? "", /^application\/json/);
    const { record } = post ?? { record: {} };
    assert.deepEqual([record["id"], record["legacyId"]], [transaction?.guid, transaction?.legacyId]);
    assert.deepEqual([record["transactionReference"], record["customReference2"]], ["T", "c"]);
    assert.deepEqual([record["length"], record["weight"], record["errorCode"]], [33.5, 1.27, 0]);
    assert.equal(record["measurementUnitOfMeasureCd"], "cm");
    const { statusCode, error, transactionId } = sim.cloud.webhookPosts[0] ?? {};
    assert.deepEqual([statusCode, error, transactionId], [204, null, transaction?.id]);
  });

  it("posts version 1 with an integer id, failures with their text, and no videos", async () => {
    const { url, received } = await receiver(500);
    const sim = await start({ mode: "video-only", webhooks: [{ url, version: "v1" }] });
    await video(sim, "start");
    await video(sim, "stop");
    sim.newer.setMode("measurement-only");
    sim.newer.setParcel(null);
    await measure(sim);
    await posted(sim, 1);
    const record = received[0]?.record ?? {};
    assert.equal(record["id"], sim.cloud.transactions[1]?.legacyId);
    assert.equal("legacyId" in record, false);
    assert.deepEqual([record["errorCode"], record["errorDescription"]], [1, "No object on the table"]);
    assert.deepEqual([received.length, sim.cloud.webhookPosts[0]?.statusCode], [1, 500]);
  });

  it("posts duplicates, and pairs out of order", async () => {
    const { url, received } = await receiver();
    const sim = await start({ webhooks: [{ url, copies: 2, outOfOrder: true }] });
    await measure(sim, "?transactionReference=1");
    await measure(sim, "?transactionReference=2");
    await posted(sim, 4);
    assert.deepEqual(
      received.map(({ record }) => record["transactionReference"]),
      ["2", "2", "1", "1"],
    );
  });

  it("posts what the cloud has changed: its clock, lost custom references, another unit", async () => {
    const { url, received } = await receiver();
    const sim = await start({ webhooks: [{ url }], records: { clockAheadMs: 3_600_000 } });
    const query = "?transactionReference=1&customReference1=2";
    await measure(sim, query);
    await posted(sim, 1);
    sim.cloud.setRecords({ customReferences: false, dimsUnit: "in" });
    await measure(sim, query);
    await posted(sim, 2);
    sim.reset();
    await measure(sim, query);
    await posted(sim, 1);
    const records = received.map(({ record }) => record);
    const unlike = ({ customReference1, measurementUnitOfMeasureCd, length }: Record<string, unknown>) => [
      customReference1,
      measurementUnitOfMeasureCd,
      length,
    ];
    assert.deepEqual(records.map(unlike), [
      ["2", "cm", 33.5],
      [null, "in", 13.19],
      ["2", "cm", 33.5],
    ]);
    const aheadMs = records.map((one) => Date.parse(String(one["transactionDateTime"])) - Date.now());
    assert.ok(
      aheadMs.every((ms) => Math.abs(ms - 3_600_000) < 60_000),
      String(aheadMs),
    );
  });

  it("fires for local measurements alone where told to", async () => {
    const { url, received } = await receiver();
    const sim = await start({ webhooks: [{ url, fires: "local" }] });
    await cloudGet(sim, "/api/remotetrigger/measure?deviceReference=ABCD2345&transactionReference=remote");
    await sim.newer.scanAtDevice("box-7");
    await posted(sim, 1);
    assert.deepEqual(
      received.map(({ record }) => record["barcodeReference"]),
      ["box-7"],
    );
  });

  it("notes why a post failed, and ends with the simulator", async () => {
    // Nothing listens there, and nobody else is given it.
    const url = `http://127.0.0.1:${await freePort()}/hook`;
    const sim = await start({ webhooks: [{ url }, { url, delayMs: 60_000 }] });
    await measure(sim);
    await posted(sim, 1);
    assert.equal(sim.cloud.webhookPosts[0]?.statusCode, null);
    assert.match(sim.cloud.webhookPosts[0]?.error ?? "", /ECONNREFUSED/);
  });

  it("refuses addresses and headers that can't work", async () => {
    await assert.rejects(start({ webhooks: [{ url: "ftp://x" }] }), /http\(s\) address/);
    const header = { name: "not a header", value: "x" };
    await assert.rejects(start({ webhooks: [{ url: "http://127.0.0.1", header }] }), /Header name/);
  });
});
