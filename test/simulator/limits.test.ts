import assert from "node:assert/strict";
import { get, type ClientRequest, type IncomingMessage } from "node:http";
import { createHistory } from "../../src/simulator/history.ts";
import type { Simulator } from "../../src/simulator/index.ts";
import { asObject, bytesOf, cloudGet, jsonOf, measure, mediaOf, useSimulators, video } from "./support.ts";

const megabyte = 1024 * 1024;

function postJson(sim: Simulator, path: string, body: object): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(sim.control.origin + path, { method: "POST", headers, body: JSON.stringify(body) });
}

async function sentence(response: Response): Promise<string> {
  return String(asObject(await jsonOf(response))["error"]);
}

describe("simulator: limits", () => {
  const start = useSimulators();

  it("a history forgets its oldest entries by number and by bytes, never its newest", () => {
    const forgotten: number[] = [];
    const history = createHistory<number>({ entries: 3, bytes: 100 }, (entry) => forgotten.push(entry));
    [1, 2, 3].forEach((entry) => history.add(entry, 20));
    history.add(4, 20);
    assert.deepEqual([history.all, forgotten], [[2, 3, 4], [1]]);
    history.grow(3, 50);
    assert.deepEqual(
      [history.all, forgotten],
      [
        [3, 4],
        [1, 2],
      ],
    );
    history.add(5, 1000);
    assert.deepEqual([history.all, forgotten], [[5], [1, 2, 3, 4]]);
    history.grow(4, 1000);
    history.clear();
    history.add(6, 90);
    assert.deepEqual(history.all, [6]);
  });

  it("the cloud answers 404 to a transaction that is older than the last keepTransactions, with its media", async () => {
    const sim = await start({ keepTransactions: 3 });
    await measure(sim);
    const [first] = sim.cloud.transactions;
    const [medium] = await mediaOf(sim, first?.id ?? "");
    assert.ok(first && medium);
    for (let count = 0; count < 3; count += 1) {
      await measure(sim);
    }
    assert.equal(sim.cloud.transactions.length, 3);
    for (const id of [first.id, first.guid, String(first.legacyId)]) {
      assert.equal((await cloudGet(sim, `/api/transactionmedia/${id}`)).status, 404);
    }
    const path = `/api/transactionmedia/${first.id}/${String(medium["contentId"])}`;
    assert.equal((await cloudGet(sim, path)).status, 404);
    assert.equal((await mediaOf(sim, sim.cloud.transactions[0]?.id ?? "")).length, 3);
  });

  it("media that are still on their way to a forgotten transaction are dropped", async () => {
    // On a machine under load the first media can arrive before the second measurement: again with more time for it.
    for (let mediaDelayMs = 50; ; mediaDelayMs *= 5) {
      const sim = await start({ keepTransactions: 1, mediaDelayMs });
      const arrived: string[] = [];
      sim.onEvent((event) => event.type === "media" && arrived.push(event.transactionId));
      const hasArrived = sim.nextEvent(({ type }) => type === "media");
      await measure(sim);
      const firstId = sim.cloud.transactions[0]?.id;
      await measure(sim);
      const isLate = firstId !== undefined && arrived.includes(firstId);
      await hasArrived;
      if (isLate) {
        continue;
      }
      const [kept] = sim.cloud.transactions;
      assert.deepEqual([...new Set(arrived)], [kept?.id]);
      return;
    }
  });

  it("videos count with what they hold, and media by hand with all their bytes", async () => {
    const sim = await start({ keepBytes: megabyte });
    sim.cloud.addMedia("1", { contentType: "image/jpeg", bytes: Buffer.alloc(0.6 * megabyte) });
    sim.cloud.addMedia("2", { contentType: "video/mp4", generateBytes: 4 * 1024 * megabyte });
    assert.deepEqual(
      sim.cloud.transactions.map(({ id }) => id),
      ["1", "2"],
    );
    sim.cloud.addMedia("3", { contentType: "image/jpeg", bytes: Buffer.alloc(0.6 * megabyte) });
    assert.deepEqual(
      sim.cloud.transactions.map(({ id }) => id),
      ["2", "3"],
    );
  });

  it("the device answers 404 to an image that is older than the last keepImages", async () => {
    const sim = await start({ keepImages: 2 });
    const ids = [];
    for (let count = 0; count < 3; count += 1) {
      ids.push(String((await measure(sim))["imageIdentifier"]));
    }
    const statuses = await Promise.all(
      ids.map(async (id) => (await fetch(`${sim.newer.origin}/api/v1/image/color/${id}`)).status),
    );
    assert.deepEqual(statuses, [404, 200, 200]);
  });

  it("the list of requests is limited by number and by bytes, and says so to who waits for an old one", async () => {
    const sim = await start({ keepRequests: 10, keepBytes: megabyte });
    for (let count = 0; count < 15; count += 1) {
      await fetch(`${sim.earlier.origin}/api/ping/${count}`);
    }
    assert.ok(sim.requests.length <= 10);
    assert.equal(sim.requests.at(-1)?.id, 15);
    await assert.rejects(sim.settled({ id: 1 }), /no longer in the list/);
    const long = await start({ keepBytes: 100_000 });
    for (let count = 0; count < 15; count += 1) {
      await fetch(`${long.earlier.origin}/api/ping/${"x".repeat(10_000)}`);
    }
    assert.ok(long.requests.length >= 3 && long.requests.length <= 5, `${long.requests.length} requests`);
  });

  it("the list of the webhook's posts is limited like the requests, and so is what waits for the address", async () => {
    // A record counts about 3 kB: only some of the burst fit, and the others are listed as not posted.
    const webhook = { url: "http://127.0.0.1:1/", retryMs: 60_000 };
    const sim = await start({ keepRequests: 5, keepBytes: 20_000, webhooks: [webhook] });
    const measured = Array.from({ length: 20 }, () => measure(sim));
    await sim.nextEvent((event) => event.type === "webhook" && /wait already/.test(event.post.error ?? ""));
    await Promise.all(measured);
    assert.ok(sim.cloud.webhookPosts.length <= 5);
  });

  it("a recording holds no copy of the video, which is made when it is read", async () => {
    const sim = await start({ mode: "video-only" });
    await video(sim, "start");
    await video(sim, "stop");
    const [one] = sim.newer.readSavedVideo() ?? [];
    const [other] = sim.newer.readSavedVideo() ?? [];
    assert.ok(one && other && one.length > 1000);
    assert.notEqual(one.buffer, other.buffer);
    assert.deepEqual(one, other);
  });

  it("refuses faults and media beyond a limit with 409 and a sentence", async () => {
    const sim = await start();
    const rule = { times: 0, fault: { kind: "body", text: "x".repeat(4 * megabyte) } };
    const statuses = [];
    for (let count = 0; count < 3; count += 1) {
      statuses.push((await postJson(sim, "/faults", rule)).status);
    }
    assert.deepEqual(statuses, [201, 201, 201]);
    const refused = await postJson(sim, "/faults", rule);
    assert.equal(refused.status, 409);
    assert.match(await sentence(refused), /^At most 1000 faults with 16 MB in all can be set\./);
    sim.faults.clear();
    for (let count = 0; count < 1000; count += 1) {
      sim.faults.add({ fault: { kind: "close" } });
    }
    assert.throws(() => sim.faults.add({ fault: { kind: "close" } }), /At most 1000 faults/);
    for (let count = 0; count < 1000; count += 1) {
      sim.cloud.addMedia("1", { contentType: "image/jpeg", generateBytes: 10 });
    }
    const media = { transactionId: "1", contentType: "image/jpeg", generateBytes: 10 };
    const full = await postJson(sim, "/media", media);
    assert.equal(full.status, 409);
    assert.match(await sentence(full), /Transaction 1 already has 1000 media/);
  });

  it("refuses JSON with too many levels or values with 400, and brackets in strings are none", async () => {
    const sim = await start();
    const send = (body: string): Promise<Response> => {
      const headers = { "content-type": "application/json" };
      return fetch(`${sim.control.origin}/faults`, { method: "POST", headers, body });
    };
    const withItem = (item: string): string => `{"fault":{"kind":"body","jsonItems":1,"item":${item}}}`;
    const deep = await send(withItem("[".repeat(1_000_000) + "]".repeat(1_000_000)));
    assert.deepEqual([deep.status, await sentence(deep)], [400, "The body is nested deeper than 64 levels"]);
    const wide = await send(withItem(`[${"1,".repeat(200_000)}1]`));
    assert.deepEqual([wide.status, await sentence(wide)], [400, "The body has more than 100000 values"]);
    assert.equal((await send(withItem(JSON.stringify('["\\['.repeat(1000))))).status, 201);
    assert.equal((await send("[")).status, 400);
  });

  it("takes so many clients of the event stream, and more once one of them has gone", async () => {
    const sim = await start();
    const clients: ClientRequest[] = [];
    const watch = (): Promise<IncomingMessage> =>
      new Promise((resolve, reject) => {
        const client = get(`${sim.control.origin}/events`, { agent: false }, resolve);
        client.on("error", reject);
        clients.push(client);
      });
    const answers = await Promise.all(Array.from({ length: 50 }, watch));
    assert.ok(answers.every(({ statusCode }) => statusCode === 200));
    const refused = await fetch(`${sim.control.origin}/events`);
    assert.equal(refused.status, 503);
    await bytesOf(refused);
    answers[0]?.on("error", () => undefined).destroy();
    let status = 503;
    while (status === 503) {
      const answer = await watch();
      status = answer.statusCode ?? 0;
      answer.on("error", () => undefined);
    }
    assert.equal(status, 200);
    clients.forEach((client) => client.on("error", () => undefined).destroy());
  });

  it("options below 1 and seeds that are no whole number are refused", async () => {
    await assert.rejects(start({ keepTransactions: 0 }), /keepTransactions must be 1 or more, not 0/);
    await assert.rejects(start({ keepBytes: Number.NaN }), /keepBytes must be 1 or more/);
    await assert.rejects(start({ seed: 1.5 }), /seed must be a whole number/);
    await assert.rejects(start({ seed: -1 }), /seed must be a whole number/);
    const webhooks = [{ url: "http://127.0.0.1:1", header: { name: "x-secret", value: "€" } }];
    await assert.rejects(start({ webhooks }), /Invalid character in header content/);
  });
});
