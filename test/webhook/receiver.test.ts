import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request as send, type IncomingMessage, type Server } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate as turn } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { inEnglish } from "../../src/errors/interpolation.ts";
import { unknownDevice } from "../../src/model/instrument.ts";
import type { Correction, TransactionRecord } from "../../src/model/shapes.ts";
import { WebhookReceiver, type WebhookRules } from "../../src/webhook/receiver.ts";
import { RecordPump } from "../../src/webhook/pump.ts";
import { Room } from "../../src/webhook/room.ts";

const secret = "pa55-Wort/ä";
const header = "x-webhook-secret";

interface Reply {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

describe("the receiver of a webhook", () => {
  const rules: WebhookRules = {
    secret: null,
    dedupeMs: 60_000,
    queueLimit: 100,
    onlyOk: false,
    deviceClientIds: [],
    deviceOf: () => unknownDevice,
  };
  let server: Server;
  let receiver: WebhookReceiver;
  let pump: RecordPump;
  let got: TransactionRecord[];
  let corrections: (Correction | null)[];
  let refused: string[];
  let port: number;

  const open = (given: Partial<WebhookRules> = {}, used = new RecordPump()): void => {
    pump = used;
    receiver = new WebhookReceiver(
      { ...rules, ...given },
      {
        deliver: ({ record, corrects }) => {
          got.push(record);
          corrections.push(corrects);
        },
        unreached: () => [],
        refused: (refusal, problem) => void refused.push(`${refusal} ${inEnglish(problem ?? "")}`.trim()),
      },
      pump,
      new Room(),
    );
    receiver.resume();
  };
  const ask = async (
    body: string | Buffer | null,
    headers: Record<string, string> = {},
    { method = "POST", path = "/" } = {},
  ): Promise<Reply> => {
    const call = send({ port, host: "127.0.0.1", path, method, agent: false });
    for (const [name, value] of Object.entries({ "content-type": "application/json", ...headers })) {
      call.setHeader(name, value);
    }
    call.end(body ?? undefined);
    const [response] = (await once(call, "response")) as [IncomingMessage];
    return { status: response.statusCode, headers: response.headers, body: await text(response) };
  };
  const post = (record: object, headers: Record<string, string> = {}): Promise<Reply> =>
    ask(JSON.stringify({ errorCode: 0, ...record }), headers);

  beforeEach(async () => {
    got = [];
    corrections = [];
    refused = [];
    open();
    server = createServer((request, response) => {
      const part = decodeURIComponent((request.url ?? "").slice(1));
      void receiver.receive(request, response, part === "" ? undefined : part);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    assert.ok(typeof address === "object" && address !== null);
    ({ port } = address);
  });
  afterEach(async () => {
    receiver.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it("answers 204 with no body, and hands the record on", async () => {
    const reply = await post({ id: 1, length: 2 });
    assert.deepEqual([reply.status, reply.body], [204, ""]);
    assert.deepEqual([got[0]?.transactionId, got[0]?.length, got.length], ["1", 2, 1]);
  });

  it("drops duplicates by either id of a record, with the same response", async () => {
    for (const record of [
      { id: 905 },
      { id: "905" },
      { id: "ABCD-1", legacyId: 905 },
      { id: "ef-2", legacyId: 906 },
      { id: "EF-2" },
      { id: 906 },
    ]) {
      assert.equal((await post(record)).status, 204);
    }
    assert.deepEqual(
      got.map(({ transactionId }) => transactionId),
      ["905", "ef-2"],
    );
  });

  it("hands on another content under a known id, marked, and drops what came before", async () => {
    const first = {
      id: "ABCD-1",
      legacyId: 905,
      weight: 1,
      isManualDimension: false,
      more: { a: 1, b: [2] },
    };
    for (const record of [
      first,
      { ...first, weight: 1.5 },
      { ...first, weight: "1.50" },
      { id: 905, weight: 1, more: { b: [2], a: 1 }, isManualDimension: false },
      { ...first, id: 905, legacyId: undefined, isManualDimension: true },
      first,
      { ...first, id: "OTHER", legacyId: null },
    ]) {
      assert.equal((await post(record)).status, 204);
    }
    assert.deepEqual(
      got.map(({ transactionId, weight, isManualDimension }) => [transactionId, weight, isManualDimension]),
      [
        ["ABCD-1", 1, false],
        ["ABCD-1", 1.5, false],
        ["905", 1, true],
        ["OTHER", 1, false],
      ],
    );
    assert.deepEqual(
      corrections.map((one) => one && [one.transactionId, one.fields]),
      [null, ["ABCD-1", ["weight"]], ["ABCD-1", ["isManualDimension", "weight"]], null],
    );
    for (const one of corrections.filter((correction) => correction !== null)) {
      assert.ok(Math.abs(Date.parse(one.receivedAt) - Date.now()) < 60_000, one.receivedAt);
    }
  });

  it("lets duplicates pass when told to", async () => {
    open({ dedupeMs: 0 });
    await post({ id: 1 });
    await post({ id: 1 });
    assert.equal(got.length, 2);
  });

  it("answers 204 to unwanted records, and does not remember them", async () => {
    open({ onlyOk: true, deviceClientIds: ["d1", "d2"] });
    for (const record of [
      { id: 1, deviceClientId: "d3" },
      { id: 2 },
      { id: 3, deviceClientId: "D1", errorCode: 4 },
      { id: 3, deviceClientId: "D1" },
    ]) {
      assert.equal((await post(record)).status, 204);
    }
    assert.deepEqual(
      got.map(({ transactionId }) => transactionId),
      ["3"],
    );
  });

  it("answers 503 with Retry-After when the queue is full, and takes the same record later", async () => {
    open({ queueLimit: 0 });
    const full = await post({ id: 1 });
    assert.equal(full.status, 503);
    assert.match(full.headers["retry-after"] ?? "", /^\d+$/);
    assert.deepEqual(refused, ["full"]);
    receiver.close();
    open({}, pump);
    assert.equal((await post({ id: 1 })).status, 204);
    assert.equal(got.length, 1);
  });

  it("lets 32 MB of bodies wait, however few records they are, and takes the next when there is room", async () => {
    receiver.hold();
    const large = (id: number): Promise<Reply> => post({ id, note: "x".repeat(990_000) });
    let taken = 0;
    while ((await large(taken)).status === 204) {
      taken++;
    }
    assert.equal(taken, 32);
    assert.deepEqual(refused, ["full"]);
    receiver.resume();
    while (pump.waiting > 0) {
      await turn();
    }
    assert.equal((await large(taken)).status, 204);
    assert.equal(got.length, 33);
  });

  it("answers 400 to ids of more than 200 characters", async () => {
    for (const record of [{ id: "i".repeat(201) }, { id: "i", legacyId: "1".repeat(201) }]) {
      assert.equal((await post(record)).status, 400);
    }
    assert.match(refused.join(), /^(?:record its ID is longer than 200 characters,?){2}$/);
    assert.equal((await post({ id: "i".repeat(200) })).status, 204);
  });

  it("takes a secret in a header, and says the same to each that is wrong", async () => {
    open({ secret: { in: "header", name: header, value: "0pen-Sesame" } });
    const replies = [];
    for (const headers of [
      {},
      { [header]: "" },
      { [header]: "0pen-Sesam" },
      { [header]: "0pen-Sesame2" },
      { [header]: "0PEN-SESAME" },
      { authorization: "0pen-Sesame" },
    ] as Record<string, string>[]) {
      replies.push(await post({ id: 1 }, headers));
    }
    for (const { status, headers, body } of replies) {
      assert.deepEqual([status, body], [401, replies[0]?.body]);
      assert.deepEqual(Object.keys(headers), Object.keys(replies[0]?.headers ?? {}));
      assert.ok(!/secret|header|length/i.test(body));
    }
    assert.equal(refused.length, replies.length);
    assert.ok(!refused.join(" ").includes("Sesam"));
    assert.equal((await post({ id: 1 }, { [header]: "0pen-Sesame" })).status, 204);
  });

  it("takes the secret of the examples from this computer alone, and from no proxy on it", async () => {
    open({ secret: { in: "header", name: header, value: "simulator" } });
    const known = { [header]: "simulator" };
    assert.equal((await post({ id: 1 }, known)).status, 204);
    const wrong = await post({ id: 2 }, { [header]: "another" });
    assert.deepEqual([wrong.status, refused.splice(0)], [401, ["secret"]]);
    const through = ["forwarded", "via", "x-forwarded-for", "x-real-ip"];
    for (const name of through) {
      const { status, body } = await post({ id: 2 }, { ...known, [name]: "203.0.113.7" });
      assert.deepEqual([status, body], [wrong.status, wrong.body]);
    }
    for (const problem of refused) {
      assert.match(problem, /^secret that of the examples counts only on this computer, /);
    }
    assert.deepEqual([refused.length, got.length], [through.length, 1]);
    // One of one's own counts from everywhere.
    const own = { [header]: encodeURIComponent(secret), via: "1.1 proxy" };
    open({ secret: { in: "header", name: header, value: encodeURIComponent(secret) } });
    assert.equal((await post({ id: 3 }, own)).status, 204);
  });

  it("takes a secret as the last part of the path", async () => {
    open({ secret: { in: "path", value: secret } });
    const body = JSON.stringify({ id: 1, errorCode: 0 });
    for (const path of ["/", "/x", `/${encodeURIComponent(secret)}x`]) {
      assert.equal((await ask(body, {}, { path })).status, 401);
    }
    assert.equal((await ask(body, {}, { path: `/${encodeURIComponent(secret)}` })).status, 204);
  });

  it("checks the secret before it reads the body", async () => {
    open({ secret: { in: "header", name: header, value: "s3cret" } });
    assert.equal((await ask(Buffer.alloc(10_000_000, "x"), { "content-type": "text/html" })).status, 401);
  });

  it("answers a plain 405 to everything but a post", async () => {
    open({ secret: { in: "header", name: header, value: "s3cret" } });
    for (const method of ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
      const { status, headers, body } = await ask(null, {}, { method });
      assert.deepEqual([status, headers["allow"]], [405, "POST"], method);
      assert.ok(!body.includes("<"));
    }
    assert.equal(refused[0], "method its method is GET instead of POST");
    assert.equal(refused.length, 5);
  });

  it("takes JSON alone", async () => {
    const body = JSON.stringify({ id: 1, errorCode: 0 });
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/jsonp",
      "multipart/form-data; boundary=x",
    ]) {
      assert.equal((await ask(body, { "content-type": type })).status, 415, type);
    }
    assert.deepEqual(new Set(refused), new Set(["record its Content-Type is not that of JSON"]));
    for (const type of [
      "application/json",
      "Application/JSON; charset=UTF-8",
      "application/vnd.transaction+json",
    ]) {
      assert.equal((await ask(body, { "content-type": type })).status, 204, type);
    }
  });

  it("takes what can be read, whatever its headers say of compression and encoding", async () => {
    const record = JSON.stringify({ id: 1, errorCode: 0, barcodeReference: "größer" });
    const utf16 = Buffer.from(record, "utf16le");
    const readable: readonly (readonly [Buffer, Record<string, string>])[] = [
      ...["utf-8", "gzip", "br", "x-none", "identity"].map(
        (coding) => [Buffer.from(record), { "content-encoding": coding }] as const,
      ),
      [Buffer.from(record), { "content-type": "application/json; charset=utf-16" }],
      [Buffer.from(`\uFEFF${record}`), {}],
      [Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]), {}],
      [utf16, { "content-type": "application/json; charset=utf-8" }],
      [Buffer.from(record, "latin1"), { "content-type": "application/json; charset=iso-8859-1" }],
    ];
    for (const [body, headers] of readable) {
      // Otherwise it would be a duplicate.
      open();
      assert.equal((await ask(body, headers)).status, 204, JSON.stringify(headers));
    }
    assert.deepEqual(refused, []);
    assert.deepEqual(
      got.map(({ barcodeReference }) => barcodeReference),
      readable.map(() => "größer"),
    );
    for (const [body, headers, status, problem] of [
      [gzipSync(record), { "content-encoding": "gzip" }, 415, "record it is compressed"],
      [gzipSync(record), {}, 415, "record it is compressed"],
      [Buffer.from(record, "latin1"), {}, 400, /^record it is not UTF-8 text: byte \d+ is wrong$/],
    ] as const) {
      assert.equal((await ask(body, headers)).status, status);
      assert.match(refused.at(-1) ?? "", problem instanceof RegExp ? problem : new RegExp(`^${problem}$`));
    }
  });

  it("answers 413 to a body over a megabyte, announced or not, and keeps none of it", async () => {
    const large = Buffer.alloc(10_000_000, " ");
    assert.equal((await ask(large)).status, 413);
    assert.equal((await ask(large, { "transfer-encoding": "chunked" })).status, 413);
    assert.deepEqual(refused, ["record it is larger than 1 MB", "record it is larger than 1 MB"]);
    const almost = JSON.stringify({ id: 1, errorCode: 0, note: "x".repeat(990_000) });
    assert.equal((await ask(almost)).status, 204);
    assert.equal(got.length, 1);
  });

  for (const [what, body] of Object.entries({
    nothing: "",
    "half a record": '{"id": 1, "err',
    "a list": "[]",
    null: "null",
    "a record without an id": '{"errorCode":0}',
    "bytes that are no UTF-8": Buffer.from([0x22, 0xff, 0x22]),
    "a deep nest": `{"id":1,"errorCode":0,"\\u0061":${"[".repeat(200_000)}${"]".repeat(200_000)}}`,
    "a deep nest with a long number": `{"id":12345678901234567890,"x":${"[".repeat(200_000)}`,
  })) {
    it(`answers 400 to ${what}, with the sentence that is logged`, async () => {
      const { status, body: said } = await ask(body);
      const problem = /^record (.+)$/.exec(refused[0] ?? "")?.[1];
      assert.deepEqual([status, said], [400, `The body is not a transaction record: ${problem}.\n`]);
      assert.equal(got.length, 0);
    });
  }

  for (const [body, problem] of [
    ['[{"id":1},{"id":2}]', "it is an array with 2 items; each record must be posted alone"],
    ['{"event":"new","data":{"id":1}}', "the record is in its field data; it must be the whole body"],
    ['{"records":[{"transactionId":1}]}', "the record is in its field records; it must be the whole body"],
    [
      '{"event":{"payload":[{"id":1}]}}',
      "the record is in its field event.payload; it must be the whole body",
    ],
    [
      '{"specversion":"1.0","id":"a","type":"t","data":{"id":1,"errorCode":0}}',
      "the record is in its field data; it must be the whole body",
    ],
    [
      JSON.stringify({ Type: "Notification", Message: '{"id":1,"errorCode":0}' }),
      "the record is in its field Message; it must be the whole body",
    ],
    ['{"transaction":1,"errorCode":0}', "the field id is missing"],
    [
      '{"TransactionID":1,"errorCode":0}',
      "the field transactionId is missing; there is one named TransactionID",
    ],
    ['{"ID":1,"errorCode":0}', "the field transactionId is missing; there is one named ID"],
    ['{"id":"  ","errorCode":0}', "the field transactionId has an unexpected form"],
    ['{"id":1,"length":NaN}', "the value of length, at character 18, is not allowed in JSON"],
    ['{"id":1}{"id":2}', "more follows after its end, from character 9 on"],
  ] as const) {
    it(`says of ${body} that ${problem}`, async () => {
      const { status, body: said } = await ask(body);
      assert.deepEqual([status, said], [400, `The body is not a transaction record: ${problem}.\n`]);
      assert.deepEqual(refused, [`record ${problem}`]);
      assert.equal(got.length, 0);
    });
  }

  it("keeps a record from changing what objects are", async () => {
    await ask('{"id":1,"errorCode":0,"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
    assert.equal(got.length, 1);
    assert.equal(Reflect.get({}, "polluted"), undefined);
    assert.equal(Reflect.get(got[0] ?? {}, "polluted"), undefined);
  });

  it("survives senders that disconnect in the middle", async () => {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.write(
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 90\r\n\r\n{"id":',
    );
    await once(server, "request");
    socket.destroy();
    assert.equal((await post({ id: 2 })).status, 204);
    assert.deepEqual(
      got.map(({ transactionId }) => transactionId),
      ["2"],
    );
  });

  it("accepts nothing after close, and asks senders to repeat what was read by then", async () => {
    const call = send({ port, host: "127.0.0.1", method: "POST", agent: false });
    call.setHeader("content-type", "application/json");
    call.write('{"id":1,');
    await once(server, "request");
    receiver.close();
    call.end('"errorCode":0}');
    const [response] = (await once(call, "response")) as [IncomingMessage];
    response.resume();
    assert.equal(response.statusCode, 503);
    assert.equal(got.length, 0);
  });
});
