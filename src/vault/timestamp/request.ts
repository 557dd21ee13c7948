import { randomBytes } from "node:crypto";
import { Boolean as Bool, Integer, Null, ObjectIdentifier, OctetString, Sequence } from "asn1js";
import { integerOf, itemsOf, octetsOf, readDer, wrongForm } from "./der.ts";
import { digests } from "./token.ts";

/** A request for a time stamp (TimeStampReq of RFC 3161, section 2.4.1). */
export interface TimestampRequest {
  /** The SHA-256 that is to be time-stamped. */
  readonly sha256: Buffer;
  /** A random number that the response repeats, so that it cannot be the response to another request. */
  readonly nonce: bigint;
}

const nonceBytes = 8;

/** Creates a request for the time stamp of a SHA-256. Its response shall bring the certificates of its signer. */
export function createRequest(sha256: Buffer): TimestampRequest & { readonly der: Buffer } {
  const random = randomBytes(nonceBytes);
  // A positive number that needs all of its bytes.
  random.writeUInt8((random.readUInt8(0) & 0x3f) | 0x40, 0);
  const imprint = new Sequence({
    value: [
      new Sequence({ value: [new ObjectIdentifier({ value: digests.sha256 }), new Null()] }),
      new OctetString({ valueHex: Uint8Array.from(sha256) }),
    ],
  });
  const request = new Sequence({
    value: [
      new Integer({ value: 1 }),
      imprint,
      new Integer({ valueHex: Uint8Array.from(random) }),
      new Bool({ value: true }),
    ],
  });
  return {
    sha256,
    nonce: BigInt(`0x${random.toString("hex")}`),
    der: Buffer.from(request.toBER()),
  };
}

/** Reads a request that `createRequest` has written. Throws a ProblemError for any other. */
export function readRequest(der: Buffer): TimestampRequest {
  const [, imprint, nonce, certificates] = itemsOf(readDer(der));
  if (certificates === undefined) {
    throw wrongForm();
  }
  return { sha256: octetsOf(itemsOf(imprint)[1]), nonce: integerOf(nonce) };
}
