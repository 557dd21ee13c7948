import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { DeviceClient } from "../../src/device/client.ts";
import type { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import { type SentenceKey, sentences } from "../../src/errors/sentences.ts";
import { connectFailure } from "../../src/http/failures.ts";
import { failsWith } from "../support/failures.ts";
import { closesAfterEach } from "../support/opened.ts";
import { closedPort, listen } from "../support/servers.ts";
import { identity } from "../support/tls.ts";

const ok = "HTTP/1.1 200 OK\r\n";

/** What a server answers, the sentence, and the words in it that tell one from the other. */
const answers: Readonly<Record<string, readonly [answer: string, sentence: SentenceKey, words: RegExp]>> = {
  "another protocol": ["SSH-2.0-OpenSSH_9\r\n", "responseNotHttp", /does not use HTTP/],
  "a chunk without a size": [
    `${ok}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
    "responseBroken",
    /chunk size/,
  ],
  "a header without a name": [`${ok}: x\r\ncontent-length: 2\r\n\r\n{}`, "responseBroken", /header token/],
  "a bare line feed": ["HTTP/1.1 200 OK\ncontent-length: 2\n\n{}", "responseBroken", /expected CR/],
  "a length that is no number": [`${ok}content-length: x\r\n\r\n{}`, "responseBroken", /Content-Length/],
  "a length and chunks": [
    `${ok}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    "responseBroken",
    /content-length/,
  ],
  "two lengths": [
    `${ok}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`,
    "responseBroken",
    /content-length/,
  ],
  "a status that is no number": ["HTTP/1.1 abc OK\r\n\r\n", "responseBroken", /status code/],
  "headers without end": [`${ok}${"x: y\r\n".repeat(20_000)}\r\n`, "responseBroken", /Headers Overflow/],
  "a body shorter than its length": [
    `${ok}content-length: 10\r\n\r\n{}`,
    "connectionShort",
    /broke off \(2 bytes of 10 bytes\)|broke off \(2 of 10 bytes\)/,
  ],
  "nothing at all": ["", "connectionUnanswered", /closed the connection without an answer/],
  "an alert of TLS": ["\u0015\u0003\u0001\0\u0002\u0002(", "responseOnlyTls", /uses HTTPS.*https:\/\//],
};

describe("a peer that speaks broken HTTP", () => {
  const opened = closesAfterEach();

  const clientOf = (address: string): DeviceClient => opened(new DeviceClient({ address, timeoutMs: 5_000 }));
  async function serve(answer: string): Promise<string> {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.end(Buffer.from(answer, "latin1")));
    });
    const port = await listen(server);
    opened({ close: () => void server.close() });
    return `127.0.0.1:${port}`;
  }
  const codeOf = (sentence: SentenceKey) => sentences[sentence].code;

  for (const [what, [answer, sentence, words]] of Object.entries(answers)) {
    it(`is told from a wrong address, for a read and for a command: ${what}`, async () => {
      const client = clientOf(await serve(answer));
      const failed: readonly DimensionerError[] = [
        await failsWith(client.ping(), { code: codeOf(sentence), outcome: null }),
        await failsWith(client.measure(), { code: codeOf(sentence), outcome: "unknown" }),
      ];
      const [read, command] = failed;
      assert.deepEqual(
        failed.map((error) => error.sentence),
        [sentence, sentence],
        failed.map(String).join("\n"),
      );
      assert.match(read?.message ?? "", words);
      if (sentence !== "responseNotHttp" && sentence !== "responseOnlyTls") {
        assert.match(command?.message ?? "", /Check the device before you try again/);
        assert.doesNotMatch(read?.message ?? "", /Check the address/);
      }
    });
  }

  for (const [server, words] of Object.entries({
    nginx: "<center>The plain HTTP request was sent to HTTPS port</center>",
    Apache: "Reason: You're speaking plain HTTP to an SSL-enabled server port.",
    "a program in Go": "Client sent an HTTP request to an HTTPS server.",
  })) {
    it(`is ${server} that expects HTTPS and says so: the sentence says https`, async () => {
      const answer = `HTTP/1.1 400 Bad Request\r\ncontent-type: text/html\r\ncontent-length: ${words.length}\r\n\r\n${words}`;
      const client = clientOf(await serve(answer));
      for (const [ask, outcome] of [
        [() => client.measure(), "refused"],
        [() => client.ping(), null],
      ] as const) {
        const error = await failsWith(ask(), { code: "ERR_BAD_RESPONSE", outcome });
        assert.match(error.message, /uses HTTPS.*https:\/\//);
      }
    });
  }

  it("speaks TLS, and the address says http: the sentence says https", async () => {
    const server = createTlsServer(identity("good"));
    server.on("tlsClientError", () => undefined);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    assert.ok(typeof address === "object" && address !== null);
    opened({ close: () => void server.close() });
    const client = clientOf(`127.0.0.1:${address.port}`);
    const error = await failsWith(client.ping(), { code: "ERR_CONNECTION_LOST", outcome: null });
    assert.match(error.message, /https:\/\//);
  });
});

describe("an address that cannot be reached", () => {
  const opened = closesAfterEach();
  const ping = (address: string) => {
    const client = opened(new DeviceClient({ address, timeoutMs: 5_000 }));
    return failsWith(client.ping(), { code: "ERR_UNREACHABLE" });
  };
  let before: string | undefined;
  beforeEach(() => {
    before = process.env["container"];
  });
  afterEach(() => {
    if (before === undefined) {
      delete process.env["container"];
    } else {
      process.env["container"] = before;
    }
  });

  it("is the container itself", async () => {
    process.env["container"] = "oci";
    for (const host of ["localhost", "127.0.0.1"]) {
      const error = await ping(`${host}:${closedPort}`);
      assert.equal(error.sentence, "unreachableContainer");
      assert.match(error.message, /container itself/);
    }
  });

  it("is a name that only mDNS knows", () => {
    const unknown = Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" });
    const call = { acts: false, operation: "ping", method: "GET", path: "/", query: "" } as const;
    const failed = (host: string) =>
      connectFailure({ surface: "newer-device", origin: `http://${host}`, host }, call, unknown, 5);
    assert.equal(failed("dock7.example").sentence, "unreachableHost");
    const { sentence, message } = failed("dock7.local");
    assert.equal(sentence, "unreachableLocal");
    assert.match(message, /\.local .*IP address/);
  });
});
