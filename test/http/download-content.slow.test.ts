import assert from "node:assert/strict";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { CloudClient } from "../../src/cloud/client.ts";
import { readToBuffer, saveToFile } from "../../src/index.ts";
import { begin, cut, etag, file } from "../support/downloads.ts";
import { failsWith } from "../support/failures.ts";
import { closesAfterEach } from "../support/opened.ts";
import { reply, replyBytes, startServer } from "../support/servers.ts";

const types = [
  "image/jpeg",
  "video/mp4",
  "application/octet-stream",
  "application/problem+json",
  "text/html",
];

/** What stands in for a picture or a film, and what the error says of it. */
const documents: Readonly<Record<string, readonly [body: string | Buffer, said: RegExp]>> = {
  JSON: [
    '{"errorCode":1203,"errorMessage":"image expired"}',
    /a JSON document .*: image expired \(error code 1203\)/,
  ],
  "JSON of problems": [
    '{"type":"about:blank","title":"Gone","detail":"it was deleted"}',
    /: it was deleted\./,
  ],
  "JSON in JSON": ['\uFEFF\n {"error":{"code":"x","message":"no such media"}}', /: no such media\./],
  "JSON of 100 kB": [`{"errorMessage":"too late","more":"${"x".repeat(100_000)}"}`, /a JSON document/],
  XML: [
    "<?xml version='1.0'?><Error><Code>X</Code><Message>No key</Message></Error>",
    /an XML document .*: No key\./,
  ],
  "a text": ["Internal error 17", /a text .*: Internal error 17\./],
  "a text in Latin-1": [Buffer.from("Bild nicht verfügbar", "latin1"), /: Bild nicht verfügbar\./],
  "a text in UTF-16": [Buffer.from("\uFEFFnot there", "utf16le"), /: .?not there\./],
  "JSON in UTF-16 without a mark": [Buffer.from('{"errorMessage":"not there"}', "utf16le"), /: not there\./],
  "JSON in a buffer of a fixed length": [
    Buffer.concat([Buffer.from('{"errorMessage":"too late"}'), Buffer.alloc(100_000)]),
    /a JSON document .*: too late\./,
  ],
  "JSON that is compressed": [gzipSync('{"errorMessage":"too late"}'), /a JSON document .*: too late\./],
  "a text with a zero behind it": ["not there\0", /a text .*: not there\./],
  "a text in a buffer of a fixed length": [`not there${"\0".repeat(500)}`, /a text .*: not there\./],
  "a text in colors": ["\x1b[31mnot there\x1b[0m", /a text .*not there/],
  "a text that begins like a picture": ["GIF89a is not there", /: GIF89a is not there\./],
  "JSON behind the first bytes of a picture": [
    Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.from('{"errorCode":1203}')]),
    /a JSON document .*errorCode/,
  ],
  "JSON with a scanned code": ['{"errorMessage":"no picture of 0112\x1d10"}', /: no picture of 0112 10\./],
  "a text with a scanned code": ["no picture of 0112\x1d10", /a text .*: no picture of 0112 10\./],
  "JSON behind its length": [
    Buffer.from('\0\0\0\x1a{"errorMessage":"too late"}'),
    /a JSON document .*: too late\./,
  ],
  "JSON behind a zero": ['\0{"errorMessage":"too late"}', /a JSON document .*: too late\./],
  "JSON in a buffer that was used before": [
    Buffer.concat([Buffer.from('{"errorMessage":"too late"}\0'), Buffer.from([1, 0, 0xff, 6])]),
    /a JSON document .*: too late\./,
  ],
  "JSON that is compressed twice": [gzipSync(gzipSync('{"errorMessage":"too late"}')), /: too late\./],
  "JSON that breaks off": [
    '{"errorCode":7,"errorMessage":"too late","more":"x',
    /: too late \(error code 7\)/,
  ],
  "a playlist": ["[playlist]\nFile1=http://dock/1.mp4\n", /a text .*playlist/],
  "a web page": ["<!DOCTYPE html><html><title>Sign in</title>", /a web page .*: Sign in\./],
};

describe("a download is what its bytes are", () => {
  const opened = closesAfterEach();
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "download-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  for (const [what, [body, said]] of Object.entries(documents)) {
    it(`${what} in place of a medium is refused with what it says, after three tries, and never saved`, async () => {
      const tries = types.map(async (type, index) => {
        const headers = { "content-type": type, etag: '"1"' };
        const framing = (["length", "chunked", "none"] as const)[index % 3] ?? "length";
        const { begun, server } = await begin(opened, (_, socket) =>
          reply(socket, { body, headers, framing }),
        );
        const ended = index % 2 === 0 ? saveToFile(await begun, { folder }) : readToBuffer(await begun);
        const error = await failsWith(ended, { code: "ERR_BAD_RESPONSE", outcome: null, retryable: true });
        assert.match(error.message, said);
        assert.equal(server.requests.length, 3);
      });
      await Promise.all(tries);
      assert.deepEqual(await readdir(folder), []);
    });
  }

  it("says nothing of the token where the document does, however it writes it", async () => {
    const token = "s3cr3t-token/1+x=";
    const escaped = `\\u0073${token.slice(1)}`;
    const code = (character: string): string => character.charCodeAt(0).toString(16);
    const special = /[^a-z\d]/g;
    for (const body of [
      token.replace(special, (one) => `\\u00${code(one)}`),
      token.replace(/[+=]/g, (one) => `\\u00${code(one).toUpperCase()}`),
      token.replace(special, (one) => `%${code(one)}`),
      token.replace(/[/=]/g, (one) => `%25${code(one)}`),
      token.replace(special, (one) => `&#x${code(one)};`),
      token.replace("/", "\\/"),
      token,
      `{"errorMessage":"${escaped}"}`,
      `{"errorMessage":"${escaped}","more":"x`,
      `<Message>${encodeURIComponent(token)}</Message>`,
    ]) {
      const server = opened(await startServer((_, socket) => reply(socket, { body })));
      const cloud = opened(new CloudClient({ baseUrl: server.origin, token }));
      const begun = cloud.media("1", "2").then((download) => readToBuffer(download));
      const { message } = await failsWith(begun, { code: "ERR_BAD_RESPONSE" });
      assert.match(message, /: …\. Nothing was kept/);
    }
  });

  it("is the medium where the peer has it a moment later", async () => {
    const { begun, server } = await begin(opened, ({ index }, socket) =>
      reply(socket, { body: index < 2 ? "{}" : file }),
    );
    const saved = await saveToFile(await begun, { folder });
    assert.ok((await readFile(saved.path)).equals(file));
    assert.equal(server.requests.length, 3);
  });

  it("may be a text where the cloud's list announces one", async () => {
    const server = opened(await startServer((_, socket) => reply(socket, { body: "[1]" })));
    const cloud = opened(new CloudClient({ baseUrl: server.origin, token: "t" }));
    for (const contentType of ["application/json", "text/plain; charset=utf-8", "image/svg+xml"]) {
      const { payload } = await readToBuffer(await cloud.media("1", "2", { contentType }));
      assert.equal(payload.toString(), "[1]");
    }
    for (const contentType of ["image/jpeg", "application/octet-stream", undefined]) {
      const begun = cloud.media("1", "2", { contentType });
      await failsWith(
        begun.then((download) => readToBuffer(download)),
        { code: "ERR_BAD_RESPONSE" },
      );
    }
  });

  it("of a format that nobody knows is taken, and said to be that", async () => {
    const unknown = Buffer.from([0, 1, 2, 3, 4, 5, 6, 7]);
    const { begun } = await begin(opened, (_, socket) => reply(socket, { body: unknown, headers: etag }));
    const saved = await saveToFile(await begun, { folder });
    assert.equal(saved.recognized, false);
    const known = await begin(opened, (_, socket) => reply(socket, { body: file }));
    assert.equal("recognized" in (await readToBuffer(await known.begun)), false);
  });

  it("is not refused for a compression that it does not have, but for one that it has", async () => {
    const headers = { "content-encoding": "gzip" };
    const plain = await begin(opened, (_, socket) => reply(socket, { body: file, headers }));
    assert.ok((await readToBuffer(await plain.begun)).payload.equals(file));
    const zipped = await begin(opened, (_, socket) => reply(socket, { body: gzipSync(file), headers }));
    const error = await failsWith(readToBuffer(await zipped.begun), { code: "ERR_BAD_RESPONSE" });
    assert.match(error.message, /compressed/);
  });

  it("ends with the first byte beyond the end that a part announces, which is no progress", async () => {
    let sent = 0;
    const { begun, server } = await begin(opened, ({ headers }, socket) => {
      if (headers["range"] === undefined) {
        cut(socket, file, 20_000, etag);
        return;
      }
      const range = `bytes 20000-${file.length - 1}/${file.length}`;
      socket.write(
        replyBytes({
          status: 206,
          headers: { ...etag, "content-range": range, "transfer-encoding": "chunked" },
          framing: "none",
        }),
      );
      const block = Buffer.alloc(65_536, 1);
      const chunk = Buffer.concat([Buffer.from("10000\r\n"), block, Buffer.from("\r\n")]);
      const more = (): void => {
        while (!socket.destroyed && sent < 1e9 && socket.write(chunk)) {
          sent += block.length;
        }
        if (!socket.destroyed && sent < 1e9) {
          socket.once("drain", more);
        }
      };
      more();
    });
    const error = await failsWith(saveToFile(await begun, { folder }), { code: "ERR_BAD_RESPONSE" });
    assert.match(error.message, new RegExp(`more than the ${file.length} bytes`));
    assert.ok(sent < 50_000_000, `${sent} bytes`);
    assert.ok(server.requests.length <= 8, `${server.requests.length} requests`);
    assert.deepEqual(await readdir(folder), []);
  });

  for (const chunkBytes of [1, 10, 100]) {
    it(`in chunks of ${chunkBytes} byte(s) costs time for its bytes only`, async () => {
      const body = Buffer.alloc(
        chunkBytes === 1 ? 500_000 : 2_000_000,
        Buffer.from([0xff, 0xd8, 0xff, 7, 0]),
      );
      const head = Buffer.from("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
      const size = Buffer.from(`${chunkBytes.toString(16)}\r\n`);
      const wire = [head];
      for (let at = 0; at < body.length; at += chunkBytes) {
        wire.push(size, body.subarray(at, at + chunkBytes), Buffer.from("\r\n"));
      }
      const whole = Buffer.concat([...wire, Buffer.from("0\r\n\r\n")]);
      const use = process.cpuUsage();
      const first = await begin(opened, (_, socket) => socket.write(whole));
      const saved = await saveToFile(await first.begun, { folder });
      assert.ok((await readFile(saved.path)).equals(body));
      const second = await begin(opened, (_, socket) => socket.write(whole));
      assert.ok((await readToBuffer(await second.begun)).payload.equals(body));
      const { user, system } = process.cpuUsage(use);
      assert.ok(user + system < 8_000_000, `${(user + system) / 1e6} s of the processor`);
    });
  }
});
