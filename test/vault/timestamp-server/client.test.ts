import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ProblemError, verbatim } from "../../../src/errors/interpolation.ts";
import { TimestampServer, type TimestampServerOptions } from "../../../src/vault/timestamp-server/client.ts";
import { failsWith, failureOf, secret } from "../../support/failures.ts";
import { closesAfterEach } from "../../support/opened.ts";
import { closedPort, reply, resetAfter, startServer, type Answer } from "../../support/servers.ts";
import { identity, pem } from "../../support/tls.ts";

const body = Buffer.from("request");
const same = (response: Buffer): string => response.toString();

describe("the client of a time stamp server", () => {
  const opened = closesAfterEach();

  const serverThat = async (answer: Answer) => opened(await startServer(answer));
  const clientOf = (server: string, more: Partial<TimestampServerOptions> = {}): TimestampServer =>
    opened(new TimestampServer({ server, ...more }));
  const ask = (client: TimestampServer, signal?: AbortSignal) => client.request(body, same, signal);

  it("posts the request, and returns the response as it is", async () => {
    const server = await serverThat((_, socket) => reply(socket, { body: "response" }));
    const { response, verified } = await ask(clientOf(`${server.origin}/a/tsr`));
    assert.deepEqual([response.toString(), verified], ["response", "response"]);
    const [{ method, target, headers } = assert.fail()] = server.requests;
    assert.deepEqual([method, target], ["POST", "/a/tsr"]);
    assert.deepEqual(
      [headers["content-type"], headers["content-length"], headers["authorization"]],
      ["application/timestamp-query", "7", undefined],
    );
  });

  it("sends a user name and a password to the server only", async () => {
    const other = await serverThat((_, socket) => reply(socket, { body: "response" }));
    const server = await serverThat((_, socket) =>
      reply(socket, { status: 302, headers: { location: `${other.origin}/` } }),
    );
    const login = { user: "user", password: secret };
    const error = await failsWith(ask(clientOf(server.origin, login)), { code: "ERR_HTTP", statusCode: 302 });
    assert.match(error.message, /redirects to another address/);
    const given = Buffer.from(`user:${secret}`).toString("base64");
    assert.equal(server.requests[0]?.headers["authorization"], `Basic ${given}`);
    assert.deepEqual([server.requests.length, other.connections], [1, 0]);
    assert.ok(!JSON.stringify(error).includes(given));
  });

  for (const status of [401, 403, 404, 405, 400, 500, 503] as const) {
    const codes: Partial<Record<number, string>> = {
      401: "ERR_UNAUTHORIZED",
      403: "ERR_UNAUTHORIZED",
      404: "ERR_NOT_FOUND",
      405: "ERR_NOT_FOUND",
    };
    it(`says what HTTP status ${status} means, and tries again only if that can help`, async () => {
      const server = await serverThat((_, socket) => reply(socket, { status }));
      const { code, details, message } = await failureOf(ask(clientOf(`${server.origin}/tsr`)));
      assert.deepEqual([code, details.statusCode], [codes[status] ?? "ERR_HTTP", status]);
      assert.deepEqual([details.surface, details.outcome], ["timestamp-server", null]);
      assert.equal(server.requests.length, status >= 500 ? 3 : 1);
      assert.doesNotMatch(message + details.hint, /Enable Local API|token|cloud portal/);
    });
  }

  it("refuses more than a time stamp can have, whether it says so or not", async () => {
    for (const bytes of [300_000, 6_000_000]) {
      for (const framing of ["length", "chunked"] as const) {
        const server = await serverThat((_, socket) =>
          reply(socket, { body: Buffer.alloc(bytes, 0x30), framing }),
        );
        await failsWith(ask(clientOf(server.origin)), { code: "ERR_TOO_LARGE" });
      }
    }
  });

  it("ends at its deadline, whether nothing arrives or one byte at a time", async () => {
    const slowly: Answer = (_, socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n");
      const timer = setInterval(() => socket.write("."), 20);
      socket.once("close", () => clearInterval(timer));
    };
    for (const answer of [() => undefined, slowly]) {
      let isConnected = false;
      const server = await serverThat((request, socket) =>
        isConnected ? answer(request, socket) : reply(socket, { body: "response" }),
      );
      const client = clientOf(server.origin, { timeoutMs: 500 });
      // Where no connection is there in time, the server cannot be reached, which is another error.
      while (!isConnected) {
        isConnected = await ask(client).then(
          () => true,
          () => false,
        );
        // The connection is free for the next request in the next turn.
        await nextTurn();
      }
      await failsWith(ask(client), { code: "ERR_TIMEOUT" });
    }
  });

  it("says so if the connection is cut, or there is none", async () => {
    const cut = await serverThat((_, socket) =>
      resetAfter(socket, "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhalf"),
    );
    await failsWith(ask(clientOf(cut.origin)), { code: "ERR_CONNECTION_LOST" });
    assert.equal(cut.requests.length, 3);
    const { code, message } = await failureOf(ask(clientOf(`http://127.0.0.1:${closedPort}`)));
    assert.equal(code, "ERR_UNREACHABLE");
    assert.doesNotMatch(message, /Enable Local API|device/);
  });

  it("reports what is wrong with a response, and keeps why", async () => {
    const server = await serverThat((_, socket) => reply(socket, { body: "<html>" }));
    const refuse = (): never => {
      throw new ProblemError(verbatim("it is a web page"));
    };
    const client = clientOf(server.origin);
    const { code, message, details } = await failureOf(client.request(body, refuse, undefined));
    assert.equal(code, "ERR_BAD_RESPONSE");
    assert.match(message, /was not accepted: it is a web page\. Nothing was kept\./);
    assert.equal(details.retryable, false);
    assert.equal(server.requests.length, 1);
  });

  it("ends when it is aborted, before and after the request was sent", async () => {
    const silent = await serverThat(() => undefined);
    const aborting = new AbortController();
    const asked = silent.next();
    const running = ask(clientOf(silent.origin), aborting.signal);
    await asked;
    aborting.abort();
    await failsWith(running, { code: "ERR_CANCELLED" });
    await failsWith(ask(clientOf(silent.origin), aborting.signal), { code: "ERR_CANCELLED" });
    await silent.allClosed();
  });

  it("takes https with a private authority, and refuses a certificate of an unknown authority", async () => {
    const server = opened(
      await startServer((_, socket) => reply(socket, { body: "response" }), { tls: identity("good") }),
    );
    await failsWith(ask(clientOf(server.origin)), { code: "ERR_UNREACHABLE" });
    const { verified } = await ask(clientOf(server.origin, { tls: { ca: pem("authority.crt") } }));
    assert.equal(verified, "response");
  });

  it("refuses an address that cannot be right, and a password over plain http", () => {
    const problemOf = (server: string, more: Partial<TimestampServerOptions> = {}): string => {
      try {
        clientOf(server, more);
      } catch (error) {
        assert.ok(error instanceof Error && "code" in error && error.code === "ERR_CONFIG");
        assert.ok(!error.message.includes(secret));
        return error.message;
      }
      return "";
    };
    assert.match(problemOf(" "), /No time stamp server is set/);
    assert.match(problemOf("tsa.example"), /only http and https are possible/);
    assert.match(problemOf("ftp://tsa.example"), /only http and https are possible/);
    assert.match(problemOf("https://user:x@tsa.example"), /no user name/);
    assert.match(problemOf("http://tsa.example", { password: secret }), /would expose the password/);
    assert.equal(problemOf("http://tsa.example"), "");
    assert.equal(problemOf("https://tsa.example", { password: secret }), "");
    assert.equal(problemOf("http://127.0.0.1:318", { user: "user", password: secret }), "");
  });
});
