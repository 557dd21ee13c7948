import assert from "node:assert/strict";
import { CloudClient, readToken } from "../../src/cloud/client.ts";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import { readBaseUrl } from "../../src/rules/addresses.ts";
import { secret } from "../support/failures.ts";

describe("the cloud's base URL", () => {
  const good: [string, string, string][] = [
    ["https://cloud.example", "https://cloud.example", ""],
    [" https://cloud.example/ ", "https://cloud.example", ""],
    ["HTTPS://Cloud.Example:443", "https://cloud.example", ""],
    ["https://cloud.example:8443/base", "https://cloud.example:8443", "/base"],
    ["https://cloud.example/a/b//", "https://cloud.example", "/a/b"],
    ["https://cloud.example/a/../b", "https://cloud.example", "/b"],
    ["http://127.0.0.1:8103", "http://127.0.0.1:8103", ""],
    ["http://127.1", "http://127.0.0.1", ""],
    ["http://localhost/x", "http://localhost", "/x"],
    ["http://[::1]:8103", "http://[::1]:8103", ""],
  ];
  for (const [given, origin, basePath] of good) {
    it(`"${given}"`, () => {
      assert.deepEqual(readBaseUrl(given, false), { origin, host: new URL(origin).host, basePath });
    });
  }

  const openly = [
    "http://cloud.example",
    "http://10.0.0.1",
    "http://localhost.example",
    "http://127.0.0.1.example",
    "http://128.0.0.1",
    "http://[::2]",
    "http://0.0.0.0",
  ];
  for (const given of openly) {
    it(`"${given}" only with allowHttp`, () => {
      assert.ok("problem" in readBaseUrl(given, false));
      assert.ok("origin" in readBaseUrl(given, true));
    });
  }

  const bad = [
    "",
    " ",
    "cloud.example",
    "https:cloud.example",
    "https:/cloud.example",
    "//cloud.example",
    "ftp://cloud.example",
    "javascript:alert(1)",
    "https://",
    "https://user@cloud.example",
    "https://:password@cloud.example",
    "https://cloud.example?x=1",
    "https://cloud.example?",
    "https://cloud.example#x",
    "https://cloud.example#",
    "https://cloud.example\\x",
    "https://cloud.example\r\nx",
    "https://cloud example",
  ];
  for (const given of bad) {
    it(`${JSON.stringify(given)} is none`, () => {
      assert.ok("problem" in readBaseUrl(given, true));
      assert.throws(
        () => new CloudClient({ baseUrl: given, token: secret, allowHttp: true }),
        (error) =>
          error instanceof DimensionerError && error.code === "ERR_CONFIG" && !error.message.includes(secret),
      );
    });
  }
});

describe("the token", () => {
  const pasted: [string, string][] = [
    ["abc.def-123_~+/=", "abc.def-123_~+/="],
    [" abc ", "abc"],
    ["abc\r\n", "abc"],
    ["\uFEFFabc", "abc"],
    ["Bearer abc", "abc"],
    ["bearer   abc\n", "abc"],
    ["BEARER\tabc", "abc"],
    ["Bearerabc", "Bearerabc"],
  ];
  for (const [given, token] of pasted) {
    it(`${JSON.stringify(given)} is ${token}`, () => assert.equal(readToken(given), token));
  }

  const unusable = [
    undefined,
    "",
    "  ",
    "Bearer",
    "Bearer ",
    "a b",
    `${secret}\r\nX-Injected: 1`,
    `${secret}\n`.repeat(2),
    `${secret}\0`,
    `${secret}é`,
    `${secret}📦`,
    "\x7f",
  ];
  for (const given of unusable) {
    it(`${JSON.stringify(given)} is none`, () => {
      assert.equal(readToken(given), undefined);
      assert.throws(
        () => new CloudClient({ baseUrl: "https://cloud.example", token: given ?? "" }),
        (error) =>
          error instanceof DimensionerError &&
          error.code === "ERR_CONFIG" &&
          !JSON.stringify([error.message, error.details, error.values]).includes(secret),
      );
    });
  }
});
