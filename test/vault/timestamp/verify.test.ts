import assert from "node:assert/strict";
import { X509Certificate, createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { Constructed, Utf8String, fromBER } from "asn1js";
import { readPem } from "../../../src/vault/timestamp/timestamp-folder.ts";
import { createRequest, readRequest, readResponse } from "../../../src/vault/timestamp/token.ts";
import { verifyTimestamp, nameOf } from "../../../src/vault/timestamp/verify.ts";
import { certificates, fixture, fixtures } from "./fixtures.ts";

const request = readRequest(fixture("request.tsq"));
const roots = certificates("root");

/** Of 3,000 bytes, so many are changed that every part of a time stamp is among them. */
const everyByte = 4;

/** As many bytes as a response may have, each a part of an object identifier. */
const parts = Buffer.alloc(255_000, 0x7f);

/** A value in DER, with its length in three bytes. */
function value(tag: number, ...content: readonly (readonly number[] | Buffer)[]): Buffer {
  const bytes = Buffer.concat(content.map((part) => Buffer.from(part)));
  const length = Buffer.alloc(4, 0x83);
  length.writeUIntBE(bytes.length, 1, 3);
  return Buffer.concat([Buffer.from([tag]), length, bytes]);
}

function lengthened(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag, 0x86, 0, 0, 0]), value(tag, content).subarray(2)]);
}

function identifiers(count: number, identifier: Buffer): Buffer[] {
  return Array.from({ length: count }, () => identifier);
}

/** What a verification says is wrong. */
function problemOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof Error);
    assert.equal(error.constructor.name, "ProblemError", String(error.stack));
    return error.message;
  }
  return "nothing";
}
const problemIn = (name: string, given = roots): string =>
  problemOf(() => verifyTimestamp(fixture(`${name}.tsr`), request, given));

/** How many signatures of certificates are checked, at most as many as a server may cause. */
function certificatesChecked(work: () => unknown): number {
  // A search that tried every way through twelve certificates would not end within the life of a computer.
  const most = 200;
  let count = 0;
  const { verify } = X509Certificate.prototype;
  X509Certificate.prototype.verify = function counted(key) {
    assert.ok(++count <= most, `more than ${most} signatures of certificates were checked`);
    return verify.call(this, key);
  };
  try {
    work();
  } finally {
    X509Certificate.prototype.verify = verify;
  }
  return count;
}

describe("time stamps: verification of what OpenSSL has signed", () => {
  it("reads the request that OpenSSL has written, and writes one in the same form", () => {
    const sha256 = createHash("sha256").update("dock\n").digest();
    assert.deepEqual(request.sha256, sha256);
    const { der, nonce } = createRequest(sha256);
    assert.deepEqual(readRequest(der), { sha256, nonce });
    assert.notEqual(createRequest(sha256).nonce, nonce);
  });

  it("uses certificates that were valid long ago, whatever day the computer says it is", () => {
    const files = readdirSync(fixtures).filter((name) => name.endsWith(".crt"));
    assert.ok(files.length > 0);
    for (const file of files) {
      for (const { validFrom } of certificates(file.slice(0, -".crt".length))) {
        assert.ok(Date.parse(validFrom) < Date.UTC(2021), `${file}: ${validFrom}`);
      }
    }
  });

  for (const [name, signer] of [
    ["rsa-sha256", "Example Time Stamps"],
    ["rsa-sha384", "Example Time Stamps"],
    ["rsa-sha512", "Example Time Stamps"],
    ["pss", "Example Time Stamps"],
    ["sha1-name", "Example Time Stamps"],
    ["ecdsa-sha256", "Elliptic Time Stamps"],
    ["ecdsa-sha384", "Elliptic Time Stamps"],
    ["ecdsa-sha512", "Elliptic Time Stamps"],
  ] as const) {
    it(`accepts ${name}, with the root and without one`, () => {
      const response = fixture(`${name}.tsr`);
      const verified = verifyTimestamp(response, request, roots);
      assert.deepEqual([verified.signer, verified.root], [signer, "Example Root"]);
      assert.deepEqual([verified.policy, verified.accuracyMs], ["1.2.3.4.1", 1_500]);
      assert.equal(Math.abs(verified.at.getUTCFullYear() - 2026) <= 1, true);
      assert.equal(verifyTimestamp(response, request, []).root, null);
      assert.equal(
        problemIn(name, certificates("other-root")),
        `the certificate of “${signer}” does not lead to any of the given root certificates`,
      );
    });
  }

  it("accepts an authority below the root, and the signer itself, as the root", () => {
    const response = fixture("ecdsa-sha256.tsr");
    assert.equal(verifyTimestamp(response, request, certificates("middle")).root, "Example Authority");
    assert.equal(verifyTimestamp(response, request, certificates("ecdsa")).root, "Elliptic Time Stamps");
    const both = [...certificates("other-root"), ...roots];
    assert.equal(verifyTimestamp(response, request, both).root, "Example Root");
  });

  it("tries each certificate once if all of them have issued each other, and leaves it at that", () => {
    const checked = certificatesChecked(() =>
      assert.equal(
        problemIn("ring"),
        "the certificate of “Ring Time Stamps” does not lead to any of the given root certificates",
      ),
    );
    assert.ok(checked < 30, String(checked));
  });

  it("finds the short way to a root that allows no longer one, past certificates that have issued each other", () => {
    const response = fixture("ring.tsr");
    certificatesChecked(() =>
      assert.equal(verifyTimestamp(response, request, certificates("ring-root")).root, "Ring Root"),
    );
  });

  it("refuses more certificates than a time stamp needs before it reads them", () => {
    const checked = certificatesChecked(() =>
      assert.equal(problemIn("crowd"), "it is not a time stamp as RFC 3161 defines it"),
    );
    assert.equal(checked, 0);
  });

  it("shows no more of a name in a certificate than fits into a sentence", () => {
    const [certificate] = certificates("ecdsa");
    assert.ok(certificate !== undefined);
    const { result } = fromBER(Uint8Array.from(certificate.raw));
    const lengthen = (block: unknown): void => {
      if (block instanceof Constructed) {
        const items = block.valueBlock.value;
        items.forEach(lengthen);
        items.forEach((item, at) => {
          items[at] = item instanceof Utf8String ? new Utf8String({ value: "N".repeat(100_000) }) : item;
        });
      }
    };
    lengthen(result);
    const name = nameOf(new X509Certificate(Buffer.from(result.toBER())));
    assert.equal(name, `${"N".repeat(200)}…`);
  });

  it("finds the signer's certificate among the roots if the response does not bring it", () => {
    const { token } = readResponse(fixture("bare.tsr"));
    const bare = { ...request, nonce: token?.info.nonce ?? 0n };
    assert.equal(verifyTimestamp(fixture("bare.tsr"), bare, certificates("rsa")).root, "Example Time Stamps");
    assert.match(
      problemOf(() => verifyTimestamp(fixture("bare.tsr"), bare, roots)),
      /^the certificate of its signer is neither in it nor/,
    );
  });

  for (const [name, problem] of [
    [
      "expired",
      /^the certificate of “Expired Time Stamps” was not valid at that time \(valid: 2020-01-01T00:00:00Z – 2021-01-01T00:00:00Z\)$/,
    ],
    ["no-purpose", /^the certificate of “No Purpose” is not for time stamps$/],
    ["loose-purpose", /^the certificate of “Loose Purpose” is not for time stamps$/],
    ["two-purposes", /^the certificate of “Two Purposes” is not for time stamps$/],
    ["wrong-usage", /^the certificate of “Wrong Usage” is not for time stamps$/],
    ["unknown", /^the certificate of “Unknown Extension” is not for time stamps$/],
    ["too-deep", /^the certificate of “Too Deep” does not lead to any of the given root certificates$/],
    [
      "no-authority",
      /^the certificate of “Issued by a Signer” does not lead to any of the given root certificates$/,
    ],
    ["rsa-sha1", /^it is signed in a way that is not supported \(1\.3\.14\.3\.2\.26\)$/],
    ["refused", /^the server refused the request: .*unacceptedPolicy$/],
    ["else", /^it is for another SHA-256$/],
  ] as const) {
    it(`refuses ${name}, and says why`, () => assert.match(problemIn(name), problem));
  }

  it("refuses the response to another request for the same manifest", () => {
    const other = { ...request, nonce: request.nonce + 1n };
    const problem = problemOf(() => verifyTimestamp(fixture("rsa-sha256.tsr"), other, roots));
    assert.equal(problem, "it is the response to another request");
  });

  it("refuses the response with any byte changed that is signed, or makes the same of it", () => {
    for (const name of ["rsa-sha256", "ecdsa-sha256"]) {
      const response = fixture(`${name}.tsr`);
      const right = verifyTimestamp(response, request, roots);
      let refused = 0;
      for (let at = 0; at < response.length; at += everyByte) {
        const changed = Buffer.from(response);
        changed.writeUInt8(changed.readUInt8(at) ^ 0x11, at);
        const problem = problemOf(() =>
          assert.deepEqual(verifyTimestamp(changed, request, roots), right, `${name} ${at}`),
        );
        refused += problem === "nothing" ? 0 : 1;
      }
      // What may change without harm is not signed: the signer's number in the response, and a certificate that is not needed.
      assert.ok(refused * everyByte > response.length * 0.7, `${refused} of ${response.length}`);
    }
  });

  it("refuses what is cut off, empty or something else, without ever failing in another way", () => {
    const response = fixture("rsa-sha256.tsr");
    const others = [
      Buffer.alloc(0),
      Buffer.from("<html>"),
      Buffer.from("null"),
      Buffer.concat([response, Buffer.from([0])]),
      Buffer.alloc(100_000, 0x30),
      Buffer.alloc(1_000, 0x80),
      fixture("request.tsq"),
      ...Array.from({ length: response.length }, (_, length) => response.subarray(0, length)),
    ];
    for (const other of others) {
      assert.equal(
        problemOf(() => verifyTimestamp(other, request, roots)),
        "it is not a time stamp as RFC 3161 defines it",
      );
    }
  });

  for (const [what, time] of [
    ["a thirteenth month", "20201301000000Z"],
    ["30 February", "20200230000000Z"],
    ["hour 25", "20200101250000Z"],
    ["a local time", "20200101000000+"],
    ["words", "yesterday, 9:00"],
  ] as const) {
    it(`refuses ${what} as a time`, () => {
      const response = fixture("rsa-sha256.tsr");
      const at = response.indexOf(Buffer.from([0x18, time.length]), response.indexOf(request.sha256));
      response.write(time, at + 2, "latin1");
      const problem = problemOf(() => verifyTimestamp(response, request, roots));
      assert.equal(problem, "it is not a time stamp as RFC 3161 defines it");
    });
  }

  it("refuses a signer whose key is of an unknown kind, which names its certificate all the same", () => {
    const response = fixture("rsa-sha256.tsr");
    const signer = certificates("rsa")[0]?.raw ?? assert.fail();
    const digest = createHash("sha256").update(signer).digest();
    const [inResponse, named] = [response.indexOf(signer), response.indexOf(digest)];
    assert.ok(inResponse > 0 && named > 0);
    // rsaEncryption, whose last number becomes one that nothing has.
    const kind = signer.indexOf(Buffer.from("06092a864886f70d010101", "hex"));
    response.writeUInt8(0x63, inResponse + kind + 10);
    const changed = response.subarray(inResponse, inResponse + signer.length);
    createHash("sha256").update(changed).digest().copy(response, named);
    const problem = problemOf(() => verifyTimestamp(response, request, roots));
    assert.match(problem, /^the key of “.+” is of a kind that is not supported$/);
  });

  for (const [what, response] of [
    [
      "a failure in 256 KB of bits",
      value(0x30, value(0x30, value(0x02, [2]), value(0x03, [0], Buffer.alloc(255_000, 0xff)))),
    ],
    ["an object identifier of 256 KB", value(0x30, value(0x30, value(0x02, [0])), value(0x06, parts))],
    [
      "many object identifiers",
      value(0x30, value(0x30, value(0x02, [0])), ...identifiers(4_000, value(0x06, parts.subarray(0, 60)))),
    ],
    ["one in a list that says it is none", value(0x10, value(0x06, parts))],
    ["one that says it is a list", value(0x30, value(0x26, parts))],
    ["one behind a text that says it is a list", value(0x30, value(0x2c, [4, 0x7f]), value(0x06, parts))],
    ["one with a number of its tag in two bytes", Buffer.concat([Buffer.from([0x1f]), value(0x06, parts)])],
    ["one whose end is not said", value(0x30, Buffer.concat([Buffer.from([0x06, 0x80]), parts]))],
    ["one whose length has leading zeros", value(0x30, lengthened(0x06, parts))],
  ] as const) {
    it(`refuses ${what} quickly`, () => {
      const took = Array.from({ length: 5 }, () => {
        const before = process.cpuUsage();
        assert.match(
          problemOf(() => verifyTimestamp(response, request, roots)),
          /^(?:it is not a time stamp as RFC 3161 defines it$|the server refused the request: badAlg, )/,
        );
        return process.cpuUsage(before).user / 1000;
      });
      const best = Math.min(...took);
      assert.ok(best < 50, `${best} ms of the processor's time`);
    });
  }

  it("reads certificates from a file with other text, and names a damaged one", () => {
    const pem = fixture("root.crt").toString();
    assert.equal(readPem(`# text\n${pem}\nmore\n${fixture("rsa.crt").toString()}`).length, 2);
    assert.deepEqual(readPem("nothing"), []);
    const damaged = pem.replace(/[A-Za-z]{20}/, "AAAAAAAAAAAAAAAAAAAA");
    assert.equal(
      problemOf(() => readPem(damaged)),
      "a certificate in it cannot be read",
    );
  });
});
