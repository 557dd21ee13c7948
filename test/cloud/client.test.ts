import assert from "node:assert/strict";
import { CloudClient, type CloudClientOptions } from "../../src/cloud/client.ts";
import { RegisteredDevices } from "../../src/cloud/fleet.ts";
import { readToBuffer } from "../../src/media/read-to-buffer.ts";
import { startSimulator } from "../../src/simulator/index.ts";
import { file } from "../support/downloads.ts";
import { failsWith } from "../support/failures.ts";
import { hostileIds, hostileTexts } from "../support/hostile.ts";
import { closesAfterEach } from "../support/opened.ts";
import { deviceCode, token } from "../support/operations.ts";
import { readBody } from "../support/read-body.ts";
import { type Answer, type RawRequest, reply, replyJson, startServer } from "../support/servers.ts";

describe("the cloud's client", () => {
  const opened = closesAfterEach();

  async function connect(answer: Answer, path = "", options: Partial<CloudClientOptions> = {}) {
    const server = opened(await startServer(answer));
    const baseUrl = server.origin + path;
    const cloud = opened(new CloudClient({ baseUrl, token, ...options }));
    return { server, cloud };
  }
  const queryOf = ({ target }: RawRequest): Record<string, string> =>
    Object.fromEntries(new URLSearchParams(target.split("?")[1]));

  it("says each call as the API does, below a base path, with the token", async () => {
    const answers = (target: string): unknown => {
      if (target.includes("measure")) {
        return { errorCode: 0 };
      }
      return /(Clients|terminals)\/[^/]+$/.test(target) ? { id: 1 } : [];
    };
    const { server, cloud } = await connect(
      ({ target }, socket) =>
        target.endsWith("/c1") ? reply(socket, { body: file }) : replyJson(socket, answers(target)),
      "/b%20ase/",
    );
    const references = {
      transactionReference: "R",
      customReference1: "1",
      customReference2: "2",
      customReference3: "3",
    };
    await cloud.listMedia("905865");
    await cloud.listMedia("905865", { contentType: "image/jpeg" });
    await readBody(cloud.media("905865", "c1"));
    await cloud.startVideo(deviceCode, references);
    await cloud.startVideo(deviceCode, { transactionReference: "R" });
    await cloud.stopVideo(deviceCode);
    await cloud.cancelVideo(deviceCode);
    await cloud.measure(deviceCode, "R");
    await cloud.devices();
    await cloud.device("d1");
    await cloud.terminals();
    await cloud.terminal("7");
    const trigger = "GET /b%20ase/api/remotetrigger";
    assert.deepEqual(
      server.requests.map(({ method, target }) => `${method} ${target}`),
      [
        "GET /b%20ase/api/transactionmedia/905865",
        "GET /b%20ase/api/transactionmedia/905865?contentType=image%2Fjpeg",
        "GET /b%20ase/api/transactionmedia/905865/c1",
        `${trigger}/startrecording?deviceReference=ABCD2345&transactionReference=R&cRef1=1&cRef2=2&cRef3=3`,
        `${trigger}/startrecording?deviceReference=ABCD2345&transactionReference=R`,
        `${trigger}/stoprecording?deviceReference=ABCD2345`,
        `${trigger}/cancelrecording?deviceReference=ABCD2345`,
        `${trigger}/measure?deviceReference=ABCD2345&transactionReference=R`,
        "GET /b%20ase/api/deviceclients",
        "GET /b%20ase/api/deviceClients/d1",
        "GET /b%20ase/api/terminals",
        "GET /b%20ase/api/terminals/7",
      ],
    );
    assert.ok(server.requests.every(({ headers }) => headers["authorization"] === `Bearer ${token}`));
  });

  for (const text of hostileTexts) {
    it(`hands on the references ${JSON.stringify(text).slice(0, 60)} as they are`, async () => {
      const { server, cloud } = await connect((_, socket) => replyJson(socket, { errorCode: 0 }));
      await cloud.measure(deviceCode, text);
      await cloud.startVideo(deviceCode, { transactionReference: text, customReference2: text });
      await cloud.listMedia("1", { contentType: text }).catch(() => undefined);
      const sent = text.toWellFormed();
      assert.deepEqual(server.requests.map(queryOf), [
        { deviceReference: deviceCode, transactionReference: sent },
        { deviceReference: deviceCode, transactionReference: sent, cRef2: sent },
        { contentType: sent },
      ]);
    });
  }

  for (const code of [
    "",
    " ",
    "ABCD234",
    "ABCD23456",
    "ABCD 234",
    "ABCD-234",
    "ÄBCD2345",
    "ABCD234５",
    "../../..",
    "ABCD2345\n",
    "x".repeat(999),
  ]) {
    it(`no request for the device code ${JSON.stringify(code).slice(0, 40)}`, async () => {
      const { server, cloud } = await connect(() => undefined);
      const refused = { code: "ERR_INPUT", outcome: "not-sent", surface: "cloud", retryable: false } as const;
      await failsWith(cloud.startVideo(code, { transactionReference: "x" }), refused);
      await failsWith(cloud.stopVideo(code), refused);
      await failsWith(cloud.cancelVideo(code), refused);
      await failsWith(cloud.measure(code, "x"), refused);
      assert.equal(server.connections, 0);
    });
  }

  it("no start and no measure without a transaction reference", async () => {
    const { server, cloud } = await connect(() => undefined);
    const refused = { code: "ERR_INPUT", outcome: "not-sent" } as const;
    await failsWith(cloud.measure(deviceCode, ""), refused);
    await failsWith(cloud.startVideo(deviceCode, { transactionReference: "" }), refused);
    await failsWith(cloud.startVideo(deviceCode, {}), refused);
    assert.equal(server.connections, 0);
  });

  for (const id of hostileIds) {
    it(`no request for the id ${JSON.stringify(id).slice(0, 60)}`, async () => {
      const { server, cloud } = await connect(() => undefined);
      const refused = { code: "ERR_INPUT", outcome: null, surface: "cloud" } as const;
      await failsWith(cloud.listMedia(id), refused);
      await failsWith(cloud.waitForMedia(id, { waitMs: 1000 }), refused);
      await failsWith(readBody(cloud.media(id, "c")), refused);
      await failsWith(readBody(cloud.media("1", id)), refused);
      await failsWith(cloud.device(id), refused);
      await failsWith(cloud.terminal(id), refused);
      assert.equal(server.connections, 0);
    });
  }

  it("a list with an item that has no id is no list", async () => {
    const { cloud } = await connect((_, socket) =>
      replyJson(socket, [{ contentId: "1" }, { contentType: "x" }]),
    );
    const { message } = await failsWith(cloud.listMedia("1"), { code: "ERR_BAD_RESPONSE" });
    assert.match(message, /1\.contentId is missing/);
  });

  it("an answer that echoes the token, or is very long, is not repeated in the error", async () => {
    for (const body of [
      `Bearer ${token}`,
      `"Bearer ${token}"`,
      `{"id":{"echo":"${token}"}}`,
      `["${"x".repeat(1e6)}"]`,
    ]) {
      const { cloud } = await connect((_, socket) => reply(socket, { body }));
      await failsWith(cloud.device("1"), { code: "ERR_BAD_RESPONSE" });
      await failsWith(cloud.devices(), { code: "ERR_BAD_RESPONSE" });
      await failsWith(cloud.measure(deviceCode, "x"), { code: "ERR_BAD_RESPONSE", outcome: "unknown" });
    }
    const headers = { "content-encoding": "x".repeat(9000), "content-range": "x".repeat(5000) };
    const { cloud } = await connect((_, socket) => reply(socket, { headers }));
    await failsWith(cloud.devices(), { code: "ERR_BAD_RESPONSE" });
  });

  it("the statuses of a trigger name the device", async () => {
    for (const [status, code] of [
      [400, "ERR_BAD_DEVICE_REFERENCE"],
      [504, "ERR_DEVICE_TIMEOUT"],
    ] as const) {
      const { cloud } = await connect((_, socket) => reply(socket, { status }));
      const { message } = await failsWith(cloud.stopVideo(deviceCode), { code, statusCode: status });
      assert.ok(message.includes(deviceCode));
    }
  });

  it("waits until what is expected is there", async () => {
    const lists = [404, [], [{ contentId: "1", contentType: "image/jpeg" }]];
    const { server, cloud } = await connect(({ index }, socket) => {
      const list = lists[index] ?? [
        { contentId: "1", contentType: "image/jpeg" },
        { contentId: "2", contentType: "video/mp4" },
      ];
      if (list === 404) {
        reply(socket, { status: 404 });
      } else {
        replyJson(socket, list);
      }
    });
    let waits = 0;
    const { items, missing } = await cloud.waitForMedia("1", {
      expect: ["image/jpeg", "video/mp4"],
      waitMs: 60_000,
      onWaiting: () => waits++,
    });
    assert.deepEqual([items.length, missing, waits, server.requests.length], [2, [], 3, 4]);
  });

  it("says what is missing when the wait is over, and asks once without a wait", async () => {
    const { server, cloud } = await connect((_, socket) =>
      replyJson(socket, [{ contentId: "1", contentType: "a/b" }]),
    );
    let waits = 0;
    const options = { expect: ["a/b", "video/mp4"], waitMs: 300, onWaiting: () => waits++ };
    const late = await cloud.waitForMedia("1", options);
    assert.deepEqual([late.items.length, late.missing], [1, ["video/mp4"]]);
    const asked = server.requests.length;
    assert.equal(asked, waits + 1);
    assert.deepEqual((await cloud.waitForMedia("1")).missing, []);
    assert.equal(server.requests.length, asked + 1);
  });

  it("a transaction that stays unknown lacks what is expected after a wait, and is an error without", async () => {
    const { cloud } = await connect((_, socket) => reply(socket, { status: 404 }));
    const expect = ["video/mp4"];
    const { items, missing, notFound } = await cloud.waitForMedia("1", { expect, waitMs: 300 });
    assert.deepEqual([items, missing, notFound?.code], [[], expect, "ERR_NOT_FOUND"]);
    await failsWith(cloud.waitForMedia("1", { expect }), { code: "ERR_NOT_FOUND", outcome: null });
  });

  it("a transaction that stays unknown is an error, an empty one is empty", async () => {
    const unknown = await connect((_, socket) => reply(socket, { status: 404 }));
    await failsWith(unknown.cloud.waitForMedia("1", { waitMs: 300 }), {
      code: "ERR_NOT_FOUND",
      outcome: null,
    });
    const empty = await connect((_, socket) => replyJson(socket, []));
    assert.deepEqual(await empty.cloud.waitForMedia("1", { waitMs: 300 }), { items: [], missing: [] });
    await failsWith(unknown.cloud.waitForMedia("1", { waitMs: 60_000, signal: AbortSignal.abort() }), {
      code: "ERR_CANCELLED",
    });
  });

  it("an error in the middle of a wait ends it", async () => {
    const { cloud } = await connect(({ index }, socket) =>
      index === 0 ? replyJson(socket, []) : reply(socket, { status: 401 }),
    );
    await failsWith(cloud.waitForMedia("1", { waitMs: 60_000 }), { code: "ERR_UNAUTHORIZED" });
  });

  for (const transactionIds of ["integer-string", "guid", "integer"] as const) {
    it(`speaks with the simulated cloud: ids as ${transactionIds}`, async () => {
      const sim = opened(await startSimulator({ token, deviceCode, transactionIds, mediaDelayMs: 30 }));
      const cloud = opened(new CloudClient({ baseUrl: sim.cloud.origin, token }));
      const { result } = await cloud.measure(deviceCode, "R");
      assert.deepEqual([result.ok, result.source, typeof result.transactionId], [true, "cloud", "string"]);
      const id = result.transactionId ?? "";
      const { items } = await cloud.waitForMedia(id, { expect: ["DepthImage16Bit"], waitMs: 60_000 });
      const facts = { operation: "media", surface: "cloud", host: "cloud", suggestedBase: "x" } as const;
      for (const { contentId } of items) {
        const media = await readToBuffer(() => cloud.media(id, contentId), facts);
        assert.ok(media.payload.length > 0);
      }
      const [device] = await cloud.devices();
      assert.equal((await cloud.device(device?.id ?? "")).registrationCode, deviceCode);
      const [terminal] = await cloud.terminals();
      assert.equal((await cloud.terminal(terminal?.id ?? "")).name, terminal?.name);
      await failsWith(cloud.device("nobody"), { code: "ERR_NOT_FOUND" });
      const stranger = opened(new CloudClient({ baseUrl: sim.cloud.origin, token: "another" }));
      await failsWith(stranger.measure(deviceCode, "R"), { code: "ERR_UNAUTHORIZED", outcome: "refused" });
      await failsWith(readBody(stranger.media(id, "x")), { code: "ERR_UNAUTHORIZED", outcome: null });
    });
  }
});

describe("the names of the devices that are registered with a cloud", () => {
  const opened = closesAfterEach();

  it("are read once for all devices, again after an hour, and sooner only for one that was not listed", async () => {
    let [name, isFailing] = ["Dock 5", false];
    const server = opened(
      await startServer((_, socket) =>
        isFailing ? reply(socket, { status: 401 }) : replyJson(socket, [{ id: "D-5", name }]),
      ),
    );
    const client = opened(new CloudClient({ baseUrl: server.origin, token }));
    let now = 0;
    const devices = new RegisteredDevices(client, () => now);
    const expect = async (id: string, found: string | null, requests: number): Promise<void> => {
      assert.equal(await devices.nameOf(id), found);
      assert.equal(server.requests.length, requests);
    };
    assert.equal(devices.lastNameOf("d-5"), null);
    await expect("d-5", "Dock 5", 1);
    name = "Dock 50";
    now = 299_999;
    await expect("D-5", "Dock 5", 1);
    await expect("D-6", null, 1);
    now = 300_000;
    await expect("D-5", "Dock 5", 1);
    await expect("D-6", null, 2);
    await expect("D-5", "Dock 50", 2);
    name = "Dock 51";
    now += 3_599_999;
    await expect("D-5", "Dock 50", 2);
    now += 1;
    await expect("D-5", "Dock 51", 3);
    isFailing = true;
    now += 3_600_000;
    await expect("D-5", "Dock 51", 4);
    await expect("D-6", null, 4);
    // It has failed: from now on, nobody waits for it.
    now += 300_000;
    isFailing = false;
    name = "Dock 52";
    const answered = server.next();
    await expect("D-5", "Dock 51", 4);
    await answered;
    await devices.read();
    assert.equal(devices.lastNameOf("D-5"), "Dock 52");
    await expect("D-5", "Dock 52", 6);
  });
});
