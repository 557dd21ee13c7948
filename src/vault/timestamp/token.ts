import { randomBytes } from "node:crypto";
import {
  BitString,
  Boolean as Bool,
  GeneralizedTime,
  Integer,
  Null,
  ObjectIdentifier,
  OctetString,
  Sequence,
  Utf8String,
} from "asn1js";
import {
  type Block,
  algorithmOf,
  contentOf,
  encodingOf,
  integerOf,
  itemsOf,
  octetsOf,
  oidOf,
  readDer,
  tagged,
  wrongForm,
} from "./der.ts";

/** The hash functions that a time stamp may use; a signature over SHA-1 proves nothing any more. */
export const digests = {
  sha256: "2.16.840.1.101.3.4.2.1",
  sha384: "2.16.840.1.101.3.4.2.2",
  sha512: "2.16.840.1.101.3.4.2.3",
} as const;

const signedDataType = "1.2.840.113549.1.7.2";
const infoType = "1.2.840.113549.1.9.16.1.4";

/** The response to a request (TimeStampResp of RFC 3161, section 2.4.2). */
export interface TimestampResponse {
  readonly isGranted: boolean;
  /** What the server says of its refusal; it may be empty. */
  readonly words: string;
  /** Null if the request was refused. */
  readonly token: TimestampToken | null;
}

/** A time stamp: what is signed, and by whom (RFC 5652, section 5). */
export interface TimestampToken {
  readonly info: TimestampInfo;
  /** The bytes of the information above. */
  readonly signedContent: Buffer;
  /** The certificates that it brings, in DER. */
  readonly certificates: readonly Buffer[];
  readonly signer: Signer;
}

/** TSTInfo of RFC 3161. */
export interface TimestampInfo {
  /** Under which rules the server works, as an object identifier. */
  readonly policy: string;
  readonly imprintAlgorithm: string;
  readonly imprint: Buffer;
  readonly serialNumber: bigint;
  readonly at: Date;
  /** How much the time may be wrong; null if the server does not say so. */
  readonly accuracyMs: number | null;
  readonly nonce: bigint | null;
}

/** SignerInfo of RFC 5652. */
export interface Signer {
  readonly digestAlgorithm: string;
  readonly signatureAlgorithm: string;
  readonly signature: Buffer;
  /** The bytes that are signed: the attributes as a set. */
  readonly signedBytes: Buffer;
  /** The value of each attribute, by its object identifier. */
  readonly attributes: ReadonlyMap<string, Block>;
}

/** Reads a response. Throws a ProblemError for anything else. */
export function readResponse(der: Buffer): TimestampResponse {
  const [statusInfo, contentInfo] = itemsOf(readDer(der));
  const [status, ...more] = itemsOf(statusInfo);
  const isGranted = [0n, 1n].includes(integerOf(status));
  if (isGranted && contentInfo === undefined) {
    throw wrongForm();
  }
  return {
    isGranted,
    words: more.flatMap(wordsOf).join(", "),
    token: contentInfo === undefined ? null : readToken(contentInfo),
  };
}

/** Names of the bits in PKIFailureInfo. */
const failures: Readonly<Record<number, string>> = {
  0: "badAlg",
  2: "badRequest",
  5: "badDataFormat",
  14: "timeNotAvailable",
  15: "unacceptedPolicy",
  16: "unacceptedExtension",
  17: "addInfoNotAvailable",
  25: "systemFailure",
};

/** Bytes of PKIFailureInfo: no bit above the 31st has ever been defined. */
const failureBytes = 4;

function wordsOf(block: Block): string[] {
  if (block instanceof BitString) {
    const bits = [...block.valueBlock.valueHexView.subarray(0, failureBytes)].flatMap((byte) =>
      [7, 6, 5, 4, 3, 2, 1, 0].map((bit) => (byte >> bit) % 2 === 1),
    );
    return bits.flatMap((isSet, bit) => (isSet ? [failures[bit] ?? `bit ${bit}`] : []));
  }
  return itemsOf(block).map((text) => (text instanceof Utf8String ? text.getValue() : ""));
}

function readToken(contentInfo: Block): TimestampToken {
  const [type, content] = itemsOf(contentInfo);
  if (oidOf(type) !== signedDataType) {
    throw wrongForm();
  }
  const signedData = itemsOf(contentOf(content));
  const [, , encapsulated] = signedData;
  const [innerType, inner] = itemsOf(encapsulated);
  // More than one signer is not allowed: which one would count?
  const [signerInfo, second] = itemsOf(signedData.at(-1));
  if (oidOf(innerType) !== infoType || signerInfo === undefined || second !== undefined) {
    throw wrongForm();
  }
  const signedContent = octetsOf(contentOf(inner));
  const certificates = tagged(signedData, 0);
  return {
    info: readInfo(signedContent),
    signedContent,
    certificates:
      certificates === undefined
        ? []
        : itemsOf(certificates)
            .filter((one) => one instanceof Sequence)
            .map(encodingOf),
    signer: readSigner(signerInfo),
  };
}

function readInfo(der: Buffer): TimestampInfo {
  const [version, policy, imprint, serialNumber, at, ...more] = itemsOf(readDer(der));
  if (integerOf(version) !== 1n) {
    throw wrongForm();
  }
  const [algorithm, hash] = itemsOf(imprint);
  const accuracy = more.find((one) => one instanceof Sequence);
  const nonce = more.find((one) => one instanceof Integer);
  return {
    policy: oidOf(policy),
    imprintAlgorithm: algorithmOf(algorithm),
    imprint: octetsOf(hash),
    serialNumber: integerOf(serialNumber),
    at: timeOf(at),
    accuracyMs: accuracy === undefined ? null : readAccuracyMs(itemsOf(accuracy)),
    nonce: nonce === undefined ? null : integerOf(nonce),
  };
}

/**
 * A time as RFC 3161, section 2.4.2, writes it: in UTC, to the second or finer. The parser would make a date of others
 * as well, so that a thirteenth month would be the first of the next year.
 */
function timeOf(block: Block | undefined): Date {
  if (!(block instanceof GeneralizedTime)) {
    throw wrongForm();
  }
  const text = Buffer.from(block.valueBlock.valueHexView).toString("latin1");
  const [, seconds, fraction = ""] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z$/.exec(
      text.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)/, "$1-$2-$3T$4:$5:$6"),
    ) ?? [];
  const at = new Date(`${seconds}${fraction.slice(0, ".123".length)}Z`);
  // A day that a month does not have becomes one of the next.
  if (Number.isNaN(at.getTime()) || !at.toISOString().startsWith(`${seconds}`)) {
    throw wrongForm();
  }
  return at;
}

/** Seconds, and with tags milliseconds and microseconds. */
function readAccuracyMs(parts: readonly Block[]): number {
  const seconds = parts.find((one) => one instanceof Integer);
  const whole = seconds === undefined ? 0 : Number(integerOf(seconds)) * 1000;
  const part = (tagNumber: number): number => {
    const block = tagged(parts, tagNumber);
    // The tag replaces that of the integer, so its bytes are read as they are.
    return block === undefined ? 0 : Number(`0x${encodingOf(block).subarray(2).toString("hex")}`);
  };
  const accuracyMs = whole + part(0) + part(1) / 1000;
  if (!Number.isFinite(accuracyMs)) {
    throw wrongForm();
  }
  return accuracyMs;
}

function readSigner(signerInfo: Block): Signer {
  const items = itemsOf(signerInfo);
  const [, , digestAlgorithm, attributes, signatureAlgorithm, signature] = items;
  // Without attributes the signature would not say what was signed.
  if (attributes === undefined || tagged([attributes], 0) === undefined) {
    throw wrongForm();
  }
  const signedBytes = encodingOf(attributes);
  // They are signed as a set, and sent with a tag in place of that.
  signedBytes.writeUInt8(0x31, 0);
  return {
    digestAlgorithm: algorithmOf(digestAlgorithm),
    signatureAlgorithm: algorithmOf(signatureAlgorithm),
    signature: octetsOf(signature),
    signedBytes,
    attributes: new Map(itemsOf(attributes).map(readAttribute)),
  };
}

function readAttribute(attribute: Block): [string, Block] {
  const [type, values] = itemsOf(attribute);
  return [oidOf(type), contentOf(values)];
}

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
