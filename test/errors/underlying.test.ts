import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { CloudClient, type CloudClientOptions } from "../../src/cloud/client.ts";
import {
  DimensionerError,
  isDimensionerError,
  isRetryable,
  needsCorrection,
  needsLookAtDevice,
  withoutSecrets,
} from "../../src/errors/dimensioner-error.ts";
import { fileError } from "../../src/media/disk.ts";
import { saveToFile } from "../../src/media/save-to-file.ts";
import { echoResponses, startEchoServer } from "../security/echo-server.ts";
import { SecretFinder } from "../security/secret-finder.ts";
import { failureOf } from "../support/failures.ts";
import { closesAfterEach } from "../support/opened.ts";
import { closedPort, startServer } from "../support/servers.ts";
import { identity } from "../support/tls.ts";

/** Of characters that every encoding writes in its own way. */
const token = `Tk-7"f/+%&=\\<e>'9z~Q8wX`;
const password = "P4ss-w0rd.of-the-proxy";
const finder = new SecretFinder([token, password]);

const facts = { surface: "cloud", operation: "media list" } as const;

describe("the error underneath", () => {
  const opened = closesAfterEach();

  /** What listing media ends in, on a client that is closed afterwards. */
  async function listing(options: Omit<CloudClientOptions, "token">): Promise<DimensionerError> {
    const cloud = opened(new CloudClient({ token, allowHttp: true, timeoutMs: 60_000, ...options }));
    return failureOf(cloud.listMedia("905865"));
  }

  it("is the system's where no connection comes about", async () => {
    const error = await listing({ baseUrl: `http://127.0.0.1:${closedPort}` });
    assert.ok(error.cause instanceof Error);
    assert.equal(Reflect.get(error.cause, "code"), "ECONNREFUSED");
    assert.match(error.cause.message, /connect ECONNREFUSED 127\.0\.0\.1/);
    assert.match(error.cause.stack ?? "", /^Error: connect ECONNREFUSED.*\n\s+at /);
    assert.match(
      inspect(error),
      /^DimensionerError: No connection to .*\[cause\]: Error: connect ECONNREFUSED/s,
    );
  });

  it("is undici's where the connection ends too early", async () => {
    const server = opened(await startServer((_request, socket) => socket.end()));
    const error = await listing({ baseUrl: server.origin });
    assert.ok(error.cause instanceof Error);
    assert.equal(error.cause.name, "SocketError");
  });

  it("is TLS's where the certificate is not trusted, and the proxy's where that one refuses", async () => {
    const tls = opened(await startServer(() => undefined, { tls: identity("self-signed") }));
    const untrusted = await listing({ baseUrl: tls.origin });
    assert.equal(Reflect.get(untrusted.cause ?? {}, "code"), "DEPTH_ZERO_SELF_SIGNED_CERT");
    const proxy = opened(await startServer((_request, socket) => socket.end("HTTP/1.1 407 No\r\n\r\n")));
    const proxyUrl = `http://user:${password}@127.0.0.1:${proxy.port}`;
    const refused = await listing({ baseUrl: "https://cloud.invalid", proxyUrl });
    assert.match(String(Reflect.get(refused.cause ?? {}, "message")), /^Proxy response \(407\)/);
    assert.equal(finder.find(inspect(refused, { depth: Infinity, showHidden: true })), undefined);
  });

  it("is the file system's where the disk says no", async () => {
    const folder = await mkdtemp(join(tmpdir(), "underlying-"));
    await rm(folder, { recursive: true });
    const error = await failureOf(
      saveToFile(
        () => assert.fail("nothing is downloaded"),
        { folder, suggestedBase: "a", ifExists: "error" },
        { ...facts, host: "cloud" },
      ),
    );
    assert.equal(Reflect.get(error.cause ?? {}, "code"), "ENOENT");
    assert.equal(fileError("fileOther", "x", { ...facts, host: "cloud" }).cause, undefined);
  });

  it("holds no token, however a cloud says it back", async () => {
    const echo = opened(await startEchoServer());
    for (let answer = 0; answer < echoResponses; answer++) {
      const cloud = opened(new CloudClient({ baseUrl: echo.origin, token, timeoutMs: 500 }));
      const error: unknown = await cloud.listMedia("905865").catch((caught: unknown) => caught);
      if (error instanceof Error) {
        const everything = inspect(error, { depth: Infinity, showHidden: true, getters: true });
        assert.equal(finder.find(everything), undefined, everything);
      }
    }
  });

  it("keeps name, message and code, and nothing else that hangs on it", () => {
    const given = Object.assign(new TypeError("no"), { code: "ERR_X", headers: { authorization: token } });
    Object.assign(given, { cause: Object.assign(new Error("deep"), { body: token }) });
    const safe = withoutSecrets(given);
    assert.equal(finder.find(inspect(safe, { depth: Infinity, showHidden: true })), undefined);
    assert.deepEqual([safe.name, safe.message, Reflect.get(safe, "code")], ["TypeError", "no", "ERR_X"]);
    assert.ok(safe.cause instanceof Error && safe.cause.message === "deep");
    assert.equal(withoutSecrets("text").message, "text");
    const attempts = new AggregateError([new Error("connect ECONNREFUSED ::1"), new Error("second")], "");
    assert.equal(withoutSecrets(attempts).message, "connect ECONNREFUSED ::1");
  });

  it("is cleaned in every error that is given one", () => {
    const cause = Object.assign(new Error("no"), { request: { headers: { authorization: token } } });
    const error = new DimensionerError("connectionLost", { ...facts, cause }, { host: "cloud" });
    assert.ok(error.cause instanceof Error && error.cause.message === "no");
    assert.equal(finder.find(inspect(error, { depth: Infinity, showHidden: true })), undefined);
  });

  it("loses credentials that its message quotes", () => {
    for (const message of [
      `connect https://user:${encodeURIComponent(token)}@host/path`,
      `GET https://host/path?token=${encodeURIComponent(token)} failed`,
      `refused: Authorization: Bearer ${token}`,
      `refused:\n    at Bearer ${token}`,
      `refused: Basic ${Buffer.from(`user:${token}`).toString("base64")}`,
    ]) {
      const safe = withoutSecrets(new Error(message));
      assert.equal(finder.find(`${safe.message} ${safe.stack}`), undefined, safe.message);
    }
    const long = withoutSecrets(new Error("a".repeat(1_000_000)));
    assert.ok(long.message.length < 1000 && (long.stack ?? "").length < 5000);
  });

  it("ends where errors go round in a circle", () => {
    const error = new Error("round");
    error.cause = error;
    assert.ok(withoutSecrets(error).cause instanceof Error);
  });
});

describe("the guards of errors", () => {
  it("say what to do next, exactly one of them for each error", () => {
    const all = [isRetryable, needsLookAtDevice, needsCorrection];
    const cases = [
      [new DimensionerError("unreachableRefused", { ...facts, outcome: "not-sent" }), isRetryable],
      [new DimensionerError("timeout", { ...facts, outcome: null }), isRetryable],
      [new DimensionerError("timeout", { ...facts, outcome: "unknown" }), needsLookAtDevice],
      [new DimensionerError("http", { ...facts, outcome: "refused" }), needsCorrection],
      [new DimensionerError("inputMissing", { ...facts, outcome: "not-sent" }), needsCorrection],
    ] as const;
    for (const [error, expected] of cases) {
      assert.deepEqual(
        all.filter((guard) => guard(error)),
        [expected],
        error.sentence,
      );
      assert.ok(isDimensionerError(error));
    }
    for (const guard of [...all, isDimensionerError]) {
      assert.equal(guard(new Error("another")), false);
      assert.equal(guard(undefined), false);
    }
  });
});
