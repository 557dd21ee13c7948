import assert from "node:assert/strict";
import { inspect } from "node:util";
import { DeviceClient } from "../../src/device/client.ts";
import type { Generation, ImageKind } from "../../src/device/generations.ts";
import { readToBuffer } from "../../src/media/read-to-buffer.ts";
import { startSimulator } from "../../src/simulator/index.ts";
import { file } from "../support/downloads.ts";
import { failsWith } from "../support/failures.ts";
import { hostileIds, hostileTexts } from "../support/hostile.ts";
import { closesAfterEach } from "../support/opened.ts";
import { readBody } from "../support/read-body.ts";
import { type Answer, type RawRequest, reply, startServer } from "../support/servers.ts";

describe("the device's client", () => {
  const opened = closesAfterEach();

  async function connect(answer: Answer, generation: Generation = "newer") {
    const server = opened(await startServer(answer));
    const client = opened(new DeviceClient({ address: server.origin, generation }));
    return { server, client };
  }
  const measured =
    (body: string | Uint8Array): Answer =>
    (_, socket) =>
      reply(socket, { body });
  const queryOf = ({ target }: RawRequest): Record<string, string> =>
    Object.fromEntries(new URLSearchParams(target.split("?")[1]));
  const references = (value: string) => ({
    transactionReference: value,
    customReference1: `1${value}`,
    customReference2: `2${value}`,
    customReference3: `3${value}`,
  });

  for (const text of hostileTexts) {
    it(`hands on the references ${JSON.stringify(text)} as they are`, async () => {
      const { server, client } = await connect(measured('{"errorCode":0}'));
      await client.measure(references(text));
      await client.startVideo(references(text));
      const sent = text.toWellFormed();
      const expected = {
        TransactionReference: sent,
        CustomReference1: `1${sent}`,
        CustomReference2: `2${sent}`,
        CustomReference3: `3${sent}`,
      };
      assert.deepEqual(server.requests.map(queryOf), [expected, expected]);
      for (const { target, headers } of server.requests) {
        assert.match(target, /^\/api\/v1\/(measure|video\/start)\?[\w%=&.!~*'()-]+$/);
        assert.deepEqual(Object.keys(headers).toSorted(), [
          "accept",
          "accept-encoding",
          "connection",
          ...(target.includes("start") ? ["content-length"] : []),
          "host",
        ]);
      }
    });
  }

  it("sends what is given, and nothing for what is not", async () => {
    const { server, client } = await connect(measured('{"errorCode":0}'));
    await client.measure();
    await client.measure({ customReference2: "x", transactionReference: undefined });
    await client.measure({ transactionReference: "" });
    await client.stopVideo();
    await client.cancelVideo();
    assert.deepEqual(
      server.requests.map(({ method, target }) => `${method} ${target}`),
      [
        "GET /api/v1/measure",
        "GET /api/v1/measure?CustomReference2=x",
        "GET /api/v1/measure?TransactionReference=",
        "POST /api/v1/video/stop",
        "POST /api/v1/video/cancel",
      ],
    );
  });

  for (const [name, text] of Object.entries({
    "as it came": '{"errorCode" : 0,\r\n\t"weight":2.80, "id": 9007199254740993 }\n',
    "with a byte order mark": '\uFEFF{"errorCode":0}',
    "with letters of every kind": '{"errorCode":0,"errorMessage":"Größe 📦 \\u00e9 \u2028"}',
    "with a key that comes twice": '{"errorCode":1,"errorCode":0}',
  })) {
    it(`hands on the exact text ${name}`, async () => {
      const { client } = await connect((_, socket) =>
        reply(socket, { body: text, framing: text.length % 2 === 0 ? "length" : "chunked" }),
      );
      const { rawResponse, result } = await client.measure();
      assert.ok(Buffer.from(rawResponse).equals(Buffer.from(text)));
      assert.equal(result.errorCode, 0);
    });
  }

  it("a text cut into single bytes is read as one", async () => {
    const text = '{"errorCode":0,"errorMessage":"📦é"}';
    const { client } = await connect((_, socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n`);
      for (const byte of Buffer.from(text)) {
        socket.write(Buffer.concat([Buffer.from("1\r\n"), Buffer.of(byte), Buffer.from("\r\n")]));
      }
      socket.write("0\r\n\r\n");
    });
    assert.equal((await client.measure()).rawResponse, text);
  });

  it("an answer that cannot be used is on the error as it came, and in nothing that is logged", async () => {
    const text = '{"errorCode" :null,\n "weight":2.80 }';
    const { client } = await connect(measured(text));
    const error = await failsWith(client.measure(), { code: "ERR_BAD_RESPONSE", outcome: "unknown" });
    assert.equal(error.rawResponse, text);
    assert.doesNotMatch(inspect(error, { showHidden: true }) + JSON.stringify(error), /2\.80/);
  });

  it("a failed result is returned, not thrown", async () => {
    const { client } = await connect(measured('{"errorCode":4,"errorMessage":"No object"}'));
    assert.equal((await client.measure()).result.ok, false);
  });

  it("404 to a measure names Enable Local API and the generation", async () => {
    for (const generation of ["newer", "earlier"] as const) {
      const { client } = await connect((_, socket) => reply(socket, { status: 404 }), generation);
      const { details, message } = await failsWith(client.measure(), {
        code: "ERR_NOT_FOUND",
        surface: `${generation}-device`,
      });
      assert.match(details.hint, /Enable Local API/);
      assert.match(details.hint, /generation/);
      assert.match(message, /generation/);
    }
  });

  it("video outside the video modes is a matter of the mode", async () => {
    for (const status of [401, 403]) {
      const { client } = await connect((_, socket) => reply(socket, { status }));
      const refused = { code: "ERR_WRONG_MODE", outcome: "refused", statusCode: status } as const;
      await failsWith(client.startVideo(), refused);
      const { message } = await failsWith(client.stopVideo(), refused);
      // In Video with Measurement the device is in a video mode already.
      assert.match(
        message,
        /^The device's operating mode does not allow stop\. .* a measurement ends the recording\.$/,
      );
      await failsWith(client.cancelVideo(), refused);
      for (const method of ["download", "stream"] as const) {
        const read = readBody(client.video(method, { waitMs: 60_000 }));
        await failsWith(read, { ...refused, outcome: null });
      }
      await failsWith(readBody(client.image("color", "x")), { code: "ERR_HTTP", outcome: null });
    }
  });

  it("the earlier generation: no references, no pictures, no video", async () => {
    const { server, client } = await connect(measured('{"errorCode":0,"imageId":"i"}'), "earlier");
    const { result } = await client.measure(references("x"));
    assert.equal(result.imageIdentifier, "i");
    const lacks = { code: "ERR_CONFIG", surface: "config" } as const;
    await failsWith(readBody(client.image("color", "i")), { ...lacks, outcome: null });
    await failsWith(readBody(client.video("download")), { ...lacks, outcome: null });
    await failsWith(client.startVideo(), { ...lacks, outcome: "not-sent" });
    await failsWith(client.stopVideo(), { ...lacks, outcome: "not-sent" });
    const { message } = await failsWith(client.cancelVideo(), { ...lacks, outcome: "not-sent" });
    assert.match(message, /earlier device has no video/);
    assert.deepEqual(
      server.requests.map(({ target }) => target),
      ["/api/measure"],
    );
  });

  for (const id of hostileIds) {
    it(`no request for the id ${JSON.stringify(id).slice(0, 60)}`, async () => {
      const { server, client } = await connect(measured("{}"));
      const refused = { code: "ERR_INPUT", outcome: null, retryable: false } as const;
      for (const kind of ["annotated", "color", "depth"] satisfies ImageKind[]) {
        await failsWith(readBody(client.image(kind, id)), refused);
      }
      await failsWith(client.ping(id), refused);
      assert.equal(server.connections, 0);
    });
  }

  it("an id of any other kind arrives as it is", async () => {
    const { server, client } = await connect(measured(file));
    const ids = [
      "905865",
      "6f9619ff-8b86-d011",
      "a b",
      "a;b=c",
      "a&b",
      "é📦",
      "a.b",
      "~",
      "$@:,+",
      "x".repeat(200),
    ];
    for (const id of ids) {
      await readBody(client.image("color", id));
    }
    assert.deepEqual(
      server.requests.map(({ target }) => decodeURIComponent(target.slice("/api/v1/image/color/".length))),
      ids,
    );
  });

  it("speaks with the simulated device: measure, pictures, video, ping", async () => {
    const sim = opened(await startSimulator({ mode: "video-with-measurement", chunkedBodies: true }));
    const client = opened(new DeviceClient({ address: sim.newer.origin }));
    assert.deepEqual(await client.ping("hello"), { msg: "hello" });
    const { result } = await client.measure({ transactionReference: "R" });
    assert.deepEqual([result.ok, result.transactionReference], [true, "R"]);
    const facts = { operation: "image", surface: "newer-device", host: "dock", suggestedBase: "x" } as const;
    const types: string[] = [];
    for (const kind of ["annotated", "color", "depth"] as const) {
      const media = await readToBuffer(() => client.image(kind, result.imageIdentifier ?? ""), facts);
      types.push(media.contentType);
    }
    assert.deepEqual(types, ["image/jpeg", "image/jpeg", "image/bmp"]);
    sim.newer.setMode("video-only");
    await client.startVideo();
    await client.stopVideo();
    const saved = Buffer.concat([...(sim.newer.readSavedVideo() ?? [])]);
    for (const method of ["download", "stream"] as const) {
      const content = await readBody(client.video(method, { waitMs: 60_000 }));
      assert.ok(saved.length > 0 && content.equals(saved));
    }
  });

  it("takes a stream that answers 206 with the whole", async () => {
    const sim = opened(await startSimulator({ mode: "video-only", streamAnswers206: true }));
    const client = opened(new DeviceClient({ address: sim.newer.origin }));
    await client.startVideo();
    await client.stopVideo();
    const content = await readBody(client.video("stream", { waitMs: 60_000 }));
    assert.ok(content.equals(Buffer.concat([...(sim.newer.readSavedVideo() ?? [])])));
  });
});
