import assert from "node:assert/strict";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { CloudClient } from "../../src/cloud/client.ts";
import { DeviceClient } from "../../src/device/client.ts";
import type { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import { failsWith } from "../support/failures.ts";
import { closesAfterEach } from "../support/opened.ts";
import { type Reply, reply, startServer } from "../support/servers.ts";

const object = '{"errorCode":0,"length":10.3,"width":12.1,"height":14.5}';
const measured = `{"errorCode":0,"objectCount":1,"weight":2.5,"measuredObjects":[${object}],"errorMessage":"größer"}`;
const types = [
  "text/html",
  "image/jpeg",
  "application/xml",
  "application/octet-stream",
  "text/plain; charset=utf-16",
];

const utf16 = Buffer.from(measured, "utf16le");
/** Encodings besides UTF-8, with the type that a device sends with them. */
const encodings: Readonly<Record<string, readonly [body: Buffer, type: string | null]>> = {
  "UTF-16 with a mark": [Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]), "application/json"],
  "UTF-16 of the other order": [
    Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(utf16).swap16()]),
    "application/json; charset=utf-8",
  ],
  "UTF-16 without a mark": [utf16, null],
  "UTF-16 of the other order without a mark": [Buffer.from(utf16).swap16(), "text/plain; charset=UTF-16"],
  "Latin-1": [Buffer.from(measured, "latin1"), 'application/json; charset="ISO-8859-1"'],
  "Windows-1252": [Buffer.from(measured, "latin1"), "text/plain;charset=windows-1252; x=y"],
  "UTF-8, and said to be Latin-1": [Buffer.from(measured), "application/json; charset=iso-8859-1"],
};

/** What a device could send of a parcel that it has measured, and what the sentence says of it. */
const faulty: Readonly<Record<string, readonly [body: string | Buffer, said: RegExp]>> = {
  "Latin-1": [Buffer.from(measured, "latin1"), /byte 140 is wrong/],
  "more after its end": [`${measured}\r\n--x`, /from character 148 on/],
  "a warning in front": [`Warning: no index in /srv/x.php\n${measured}`, /not JSON from character 1 on/],
  "a call around it": [`done(${measured});`, /not JSON from character 1 on/],
  "a text of JSON": [JSON.stringify(measured), /an unexpected form/],
  "a zero in front": [`\0${measured}`, /not JSON from character 1 on/],
  "quotes of a word processor": [measured.replaceAll('"', "”"), /not JSON from character 2 on/],
  "a space that JSON has not, in front": [`\u00a0${measured}`, /not JSON from character 1 on/],
  "a mark behind it": [`${measured}\uFEFF`, /more follows after its end, from character 146 on/],
  "an error code that is none": [measured.replace(":0", ":0.5"), /errorCode has an unexpected form/],
  "a field that is there twice": [
    measured.replace('"length":10.3', '"length":10.3,"width":9,"length":20.6'),
    /the field length is there several times/,
  ],
  "an error that is taken back": [`{"errorCode":7,${measured.slice(1)}`, /the field errorCode is there/],
  "objects that are there twice": [
    measured.replace('"weight"', '"measuredObjects":[],"weight"'),
    /the field measuredObjects is there/,
  ],
  "two results": [measured + measured, /more follows after its end/],
  NaN: [measured.replace("2.5", "NaN"), /value of weight, at character 41/],
  "a decimal comma": [measured.replace("10.3", "10,3"), /length has a decimal comma, at character 90/],
  "a decimal comma in a text": [measured.replace("10.3", '"10,3"'), /0\.length has a decimal comma/],
  "a text that is no number": [measured.replace("10.3", '"ten"'), /0\.length has an unexpected form/],
  "an end in the middle": [measured.slice(0, 60), /breaks off after character 60/],
  "a text that never ends": [measured.slice(0, -2), /breaks off/],
  "single quotes": [measured.replaceAll('"', "'"), /not JSON from character 2 on/],
  "a comma too many": [measured.replace("}]", "},]"), /not allowed|not JSON/],
  "a divided GS1 code in a text": [
    measured.replace("größer", "0112\x1d10"),
    /not JSON from character 142 on/,
  ],
  "a backslash before nothing": [measured.replace("größer", "C:\\data"), /not JSON from character 140 on/],
  "names that begin with a capital": [
    measured.replace(/"([eo])(?=rrorCode|bjectCount)/g, (_, letter: string) => `"${letter.toUpperCase()}`),
    /the field errorCode is missing/,
  ],
  XML: [
    "<Result><measuredObjects><length>10.3</length></measuredObjects></Result>",
    /it is XML instead of JSON/,
  ],
  "a page around it": [`<html><pre>${measured.replaceAll('"', "&quot;")}</pre>`, /it is not JSON/],
  "1e999": [measured.replace("10.3", "1e999"), /length is larger than any number/],
  "-1e999 elsewhere": [measured.replace("2.5", '2.5,"elapsedMs":-1e0999'), /elapsedMs is larger/],
  "a number of 31 characters": [measured.replace("10.3", `10.${"3".repeat(28)}`), /length has more than 30/],
  "a number of a million digits": [measured.replace("10.3", "9".repeat(1e6)), /length has more than 30/],
  "a long number in a text": [measured.replace("10.3", `"${"9".repeat(31)}"`), /0\.length has an unexpected/],
  "a negative side": [measured.replace("10.3", "-5"), /0\.length is not above 0/],
  "a side of 0": [measured.replace("14.5", "0"), /0\.height is not above 0/],
  "a negative side in a text": [measured.replace("12.1", '"-5"'), /0\.width is not above 0/],
  "a unit of 4 MB": [
    measured.replace('"weight"', `"dimsUnitOfMeasure":"${"cm".repeat(2e6)}","weight"`),
    /the text of dimsUnitOfMeasure has more than 300 characters/,
  ],
  "a unit that is none": [
    measured.replace('"weight"', '"weightUnitOfMeasure":["kg"],"weight"'),
    /weightUnitOfMeasure has an unexpected form/,
  ],
  "a negative weight": [measured.replace("2.5", "-5"), /weight is below 0/],
};

describe("the content of an answer decides over its headers", () => {
  const opened = closesAfterEach();
  const token = "s3cr3t-token";

  async function connect(answer: Reply): Promise<{ device: DeviceClient; cloud: CloudClient }> {
    const server = opened(await startServer((_, socket) => reply(socket, answer)));
    return {
      device: opened(new DeviceClient({ address: server.origin })),
      cloud: opened(new CloudClient({ baseUrl: server.origin, token })),
    };
  }

  const measures = {
    "a device": ({ device }: Awaited<ReturnType<typeof connect>>) => device.measure(),
    "the cloud": ({ cloud }: Awaited<ReturnType<typeof connect>>) => cloud.measure("ABCD2345", "ORDER-1"),
  };

  for (const [who, measure] of Object.entries(measures)) {
    it(`a measurement of ${who} is one, whatever type it has`, async () => {
      for (const type of types) {
        const { result, rawResponse } = await measure(
          await connect({ body: measured, headers: { "content-type": type } }),
        );
        assert.deepEqual([result.ok, result.length, rawResponse], [true, 10.3, measured], type);
      }
    });

    it(`a measurement of ${who} is one with zeros behind it or marks in front, and its exact text has them`, async () => {
      for (const body of [measured + "\0".repeat(500), `\uFEFF\uFEFF${measured}`]) {
        const { result, rawResponse } = await measure(await connect({ body }));
        assert.deepEqual([result.ok, result.length, rawResponse], [true, 10.3, body]);
      }
      const { result } = await measure(await connect({ body: gzipSync(gzipSync(measured)) }));
      assert.equal(result.ok, true);
    });

    for (const [encoding, [body, type]] of Object.entries(encodings)) {
      it(`a measurement of ${who} is one in ${encoding}`, async () => {
        const headers = type === null ? {} : { "content-type": type };
        const { result, rawResponse } = await measure(await connect({ body, headers }));
        assert.deepEqual([result.ok, result.errorMessage, rawResponse], [true, "größer", measured]);
      });
    }

    it(`a measurement of ${who} is decompressed, although nobody has asked for compression`, async () => {
      const compressed: Record<string, Buffer> = {
        gzip: gzipSync(measured),
        deflate: deflateSync(measured),
        br: brotliCompressSync(measured),
        zstd: zstdCompressSync(measured),
        "gzip, br": brotliCompressSync(gzipSync(measured)),
        "br,gzip": gzipSync(brotliCompressSync(measured)),
      };
      for (const [coding, body] of Object.entries(compressed)) {
        const { rawResponse } = await measure(
          await connect({ body, headers: { "content-encoding": coding } }),
        );
        assert.equal(rawResponse, measured, coding);
      }
      for (const body of [
        gzipSync(measured),
        gzipSync(gzipSync(gzipSync(measured))),
        deflateSync(measured),
      ]) {
        for (const headers of [{}, { "content-encoding": "gzip" }]) {
          const unsaid = await measure(await connect({ body, headers }));
          assert.equal(unsaid.rawResponse, measured);
        }
      }
      for (const coding of ["gzip", "br", "utf-8", "identity"]) {
        const plain = await measure(
          await connect({ body: measured, headers: { "content-encoding": coding } }),
        );
        assert.equal(plain.rawResponse, measured, `not at all, and said to be ${coding}`);
      }
      const bomb = await connect({ body: gzipSync(Buffer.alloc(6_000_000, " ")) });
      await failsWith(measure(bomb), { code: "ERR_TOO_LARGE", outcome: "unknown" });
    });
  }

  for (const [what, [body, said]] of Object.entries(faulty)) {
    it(`says that the device has measured, and what is wrong in its answer: ${what}`, async () => {
      const { device } = await connect({ body });
      const error = await failsWith(device.measure(), { code: "ERR_BAD_RESPONSE", outcome: "unknown" });
      assert.match(error.message, /^\S+ has measured, but the response has a fault: /);
      assert.match(error.message, said);
      assert.doesNotMatch(error.message + error.details.hint, /address/);
      const sent = what === "Latin-1" ? Buffer.from(body).toString("latin1") : String(body);
      assert.ok(error.rawResponse === sent.slice(0, 65_536));
    });
  }

  it("says where a measurement in UTF-16 breaks off within a letter, and keeps it as a text", async () => {
    const { device } = await connect({
      body: Buffer.concat([Buffer.from([0xff, 0xfe]), utf16, Buffer.of(0)]),
    });
    const error = await failsWith(device.measure(), { code: "ERR_BAD_RESPONSE", outcome: "unknown" });
    assert.match(error.message, new RegExp(`has measured, .*byte ${2 + utf16.length + 1} is wrong`));
    assert.equal(error.rawResponse, `${measured}\uFFFD`);
  });

  it("a measurement that comes as a part is one if the part is the whole, and else nobody is told to measure again", async () => {
    const length = Buffer.byteLength(measured);
    const whole = { "content-range": `bytes 0-${length - 1}/${length}` };
    const all = await connect({ status: 206, body: measured, headers: whole });
    assert.equal((await all.device.measure()).rawResponse, measured);
    for (const range of ["bytes 0-9/10000", `bytes 0-${length - 1}/*`, undefined]) {
      const headers = range === undefined ? {} : { "content-range": range };
      const { device } = await connect({ status: 206, body: measured, headers });
      const error = await failsWith(device.measure(), { code: "ERR_BAD_RESPONSE", outcome: "unknown" });
      assert.match(error.message, /sent only a part .*Check the device before you try again/);
      assert.equal(error.rawResponse, measured);
    }
  });

  it("a field may be there twice with the same value, and a text may look like one", async () => {
    const { device } = await connect({
      body: measured.replace('"weight"', '"a":"{\\"weight\\":1}","b":["weight",":"],"weight":2.5,"weight"'),
    });
    assert.equal((await device.measure()).result.weight, 2.5);
  });

  it("an object that was not measured may have any size, and an ID any digits", async () => {
    const failed = measured.replace('"errorCode":0,"length":10.3', '"errorCode":7,"length":0');
    const { device } = await connect({
      body: failed.replace("{", '{"note":"1e999","id":90071992547409931,'),
    });
    const { result } = await device.measure();
    assert.deepEqual([result.ok, result["id"]], [false, "90071992547409931"]);
  });

  it("leaves out a text that nobody can have meant, and keeps the answer", async () => {
    const long = "R".repeat(10_001);
    const body = measured
      .replace("{", `{"transactionReference":"${long}","customReference1":"${long.slice(1)}",`)
      .replace("größer", long);
    const { device } = await connect({ body });
    const { result, rawResponse } = await device.measure();
    assert.deepEqual(
      [result.ok, result.transactionReference, result.customReference1?.length, result.errorMessage],
      [true, null, 10_000, null],
    );
    assert.equal(rawResponse, body);
  });

  it("calls XML what is XML, a web page what is one, and keeps both", async () => {
    const bodies = {
      XML: [
        '<?xml version="1.0"?><result><length>10</length></result>',
        "<ns:result/>",
        "<fault><errorCode>502</errorCode></fault>",
      ],
      "a web page": [
        "<!DOCTYPE html><p>Sign in",
        "<?xml version='1.0'?>\n<html/>",
        "<h1>Sign in</h1>",
        '<script>x = {"errorCode":0}',
      ],
    };
    for (const [kind, texts] of Object.entries(bodies)) {
      for (const body of texts) {
        const { device, cloud } = await connect({ body, headers: { "content-type": "application/json" } });
        for (const command of [() => device.measure(), () => device.startVideo()]) {
          const error = await failsWith(command(), { code: "ERR_BAD_RESPONSE", outcome: "unknown" });
          assert.ok(error.message.includes(`answered with ${kind}`), error.message);
          assert.equal(error.rawResponse, body);
        }
        const list = await failsWith(cloud.devices(), { code: "ERR_BAD_RESPONSE", outcome: null });
        assert.ok(list.message.includes(`answered with ${kind}`), list.message);
      }
    }
  });

  it("takes any word for the answer to a video command, whatever type it has", async () => {
    for (const body of ["OK", '{"status":"started"}', Buffer.from([0xff, 0xd8, 0xff, 0xe0])]) {
      const { device, cloud } = await connect({ body, headers: { "content-type": "text/html" } });
      await device.startVideo();
      await cloud.startVideo("ABCD2345", { transactionReference: "ORDER-1" });
    }
  });

  it("takes no answer for success that says that a video command has failed", async () => {
    const failures = [
      ['{"errorCode":1203,"errorMessage":"disk full"}', 1203],
      ['\uFEFF{"errorCode":"1203","errorMessage":"disk full"}', 1203],
      ['{"ErrorCode":1203,"ErrorMessage":"disk full"}', 1203],
      ['{"error":"disk full"}', undefined],
      ['{"Error":{"Code":5,"Message":"disk full"}}', undefined],
      [gzipSync('{"errorCode":-1,"errorMessage":"disk full"}'), -1],
    ] as const;
    for (const [body, errorCode] of failures) {
      const { device, cloud } = await connect({ body, headers: { "content-type": "text/plain" } });
      for (const command of [
        () => device.startVideo(),
        () => device.stopVideo(),
        () => cloud.cancelVideo("ABCD2345"),
        () => cloud.startVideo("ABCD2345", { transactionReference: "ORDER-1" }),
      ]) {
        const error = await failsWith(command(), { code: "ERR_BAD_RESPONSE", outcome: "failed" });
        assert.equal(error.details.errorCode, errorCode);
        assert.match(error.message, /has failed: disk full/);
        assert.ok(error.rawResponse?.includes("disk full"));
        assert.equal(error.details.retryable, false);
      }
      const list = await failsWith(cloud.listMedia("1"), { code: "ERR_BAD_RESPONSE", outcome: null });
      assert.match(list.message, /has failed: disk full/);
    }
    for (const body of [
      '{"errorCode":0,"errorMessage":"-"}',
      '{"errorCode":"0"}',
      '{"error":null}',
      '{"error":""}',
      "[]",
    ]) {
      const { device } = await connect({ body });
      await device.startVideo();
    }
  });

  it("reads the cloud's lists and a device's echo, whatever type they have", async () => {
    for (const type of types) {
      const headers = { "content-type": type, "content-encoding": "gzip" };
      const list = await connect({ body: gzipSync('[{"id":"1","contentId":"1"}]'), headers });
      assert.equal((await list.cloud.devices()).length, 1);
      assert.equal((await list.cloud.listMedia("1")).length, 1);
      const echo = await connect({ body: '\uFEFF{"msg":"ping"}', headers: { "content-type": type } });
      assert.deepEqual(await echo.device.ping(), { msg: "ping" });
    }
  });

  it("says where a list is wrong, and nothing of the address", async () => {
    const { cloud } = await connect({ body: '[{"id":NaN}]' });
    const { message } = await failsWith(cloud.devices(), { code: "ERR_BAD_RESPONSE", outcome: null });
    assert.match(message, /value of id, at character 8/);
    assert.doesNotMatch(message, /address/);
  });

  it("keeps what a command was refused with, at most 64 kB of it, and never the token", async () => {
    for (const status of [302, 400, 401, 404, 408, 500, 503, 504]) {
      const { device, cloud } = await connect({ status, body: `No.  ${token} ü\n` });
      const { code } = await codeOf(device);
      const error = await failsWith(device.measure(), { code });
      assert.equal(error.rawResponse, `No.  ${token} ü\n`);
      const { rawResponse } = await cloud.stopVideo("ABCD2345").then(
        () => assert.fail("it was refused"),
        (reason: { rawResponse?: string }) => reason,
      );
      assert.equal(rawResponse, "No.  … ü\n");
    }
    const long = await connect({ status: 500, body: "ü".repeat(1_000_000) });
    const { rawResponse = "" } = await codeOf(long.device);
    // Not compared as texts: to show where two of this length differ takes gigabytes.
    assert.ok(rawResponse === "ü".repeat(rawResponse.length));
    assert.ok(Buffer.byteLength(rawResponse) <= 65_536 && rawResponse.length > 32_000);
  });

  it("names no field in the token's words", async () => {
    for (const body of [
      `{"errorCode":0,"${token}":NaN}`,
      `{"errorCode":0,"${token}":1e999}`,
      `{"errorCode":0,"${token.replace("s", "\\u0073")}":1e999}`,
    ]) {
      const { cloud } = await connect({ body });
      const error = await failsWith(cloud.measure("ABCD2345", "ORDER-1"), { code: "ERR_BAD_RESPONSE" });
      assert.ok(!error.message.includes(token), error.message);
    }
  });

  it("keeps what came of an answer that breaks off in the middle of a character", async () => {
    const server = opened(
      await startServer((_, socket) => {
        const body = Buffer.from("größer ü").subarray(0, -1);
        socket.end(Buffer.concat([Buffer.from("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n"), body]));
      }),
    );
    const device = opened(new DeviceClient({ address: server.origin }));
    const error = await failsWith(device.measure(), { code: "ERR_CONNECTION_LOST", outcome: "unknown" });
    assert.equal(error.rawResponse, "größer ");
  });

  it("says that the device has measured if its answer was compressed badly, and keeps what can be read of it", async () => {
    const zipped = gzipSync(measured);
    const wrongSum = Buffer.from(zipped);
    wrongSum.writeUInt8((zipped.at(-6) ?? 0) ^ 1, zipped.length - 6);
    const bodies = [Buffer.concat([zipped, Buffer.from("\r\n")]), zipped.subarray(0, -20), wrongSum];
    for (const headers of [{}, { "content-encoding": "gzip" }]) {
      for (const body of bodies) {
        const { device } = await connect({ body, headers });
        const error = await failsWith(device.measure(), { code: "ERR_BAD_RESPONSE", outcome: "unknown" });
        assert.match(error.message, /has measured, but the response has a fault: it is compressed/);
        assert.ok(measured.startsWith(error.rawResponse ?? "-") && (error.rawResponse?.length ?? 0) > 60);
      }
    }
  });

  it("says that the device has measured if its answer does not begin as HTTP does", async () => {
    for (const head of [
      "",
      "http/1.1 200 OK\r\n\r\n",
      " HTTP/1.1 200 OK\r\n\r\n",
      "\uFEFFHTTP/1.1 200 OK\r\n\r\n",
    ]) {
      const server = opened(await startServer((_, socket) => socket.end(head + measured)));
      const device = opened(new DeviceClient({ address: server.origin }));
      const error = await failsWith(device.measure(), { code: "ERR_BAD_RESPONSE", outcome: "unknown" });
      assert.match(error.message, /has measured, but the response has a fault: Expected HTTP/);
      assert.doesNotMatch(error.message, /address/);
      assert.ok(error.rawResponse?.endsWith(measured), head);
    }
  });

  it("says of a 304, which is no redirect, nothing of another address", async () => {
    const { device } = await connect({ status: 304 });
    const error = await failsWith(device.measure(), { code: "ERR_HTTP", outcome: "refused" });
    assert.match(error.message, /304/);
    assert.doesNotMatch(error.message, /redirects/);
  });

  it("keeps what it cannot read as HTTP", async () => {
    for (const head of ["", "HTTP/1.1 200 OK\ncontent-length: 9\n\n", "HTTP/1.1 200 OK\r\n: x\r\n\r\n"]) {
      const server = opened(await startServer((_, socket) => socket.end(head + measured)));
      const device = opened(new DeviceClient({ address: server.origin }));
      const error = await failsWith(device.measure(), { code: "ERR_BAD_RESPONSE", outcome: "unknown" });
      assert.ok(error.rawResponse?.endsWith(measured), head);
    }
  });

  it("waits no longer than two seconds for the words of a refusal", async () => {
    const server = opened(
      await startServer((_, socket) => {
        socket.write("HTTP/1.1 500 No\r\ncontent-length: 100\r\n\r\nnot now");
      }),
    );
    const device = opened(new DeviceClient({ address: server.origin, timeoutMs: 600_000 }));
    const since = performance.now();
    const error = await failsWith(device.measure(), { code: "ERR_HTTP", statusCode: 500 });
    assert.equal(error.rawResponse, "not now");
    assert.ok(performance.now() - since > 1_900);
  });

  async function codeOf(device: DeviceClient): Promise<DimensionerError> {
    return device.measure().then(
      () => assert.fail("it was refused"),
      (reason) => reason,
    );
  }
});
