import {
  type KeyObject,
  type VerifyKeyObjectInput,
  type X509Certificate,
  constants,
  createHash,
  verify as verifySignature,
} from "node:crypto";
import { ProblemError, phrase, verbatim } from "../../errors/interpolation.ts";
import { checkSigner, findRoot, keyOf, nameOf, readCertificate } from "./certificates.ts";
import { type Block, algorithmOf, itemsOf, octetsOf, oidOf, wrongForm } from "./der.ts";
import { type Signer, type TimestampRequest, type TimestampToken, digests, readResponse } from "./token.ts";

const contentTypeAttribute = "1.2.840.113549.1.9.3";
const digestAttribute = "1.2.840.113549.1.9.4";
const certificateAttribute = "1.2.840.113549.1.9.16.2.12";
const certificateAttributeV2 = "1.2.840.113549.1.9.16.2.47";
const infoType = "1.2.840.113549.1.9.16.1.4";

const hashes: ReadonlyMap<string, string> = new Map(
  Object.entries(digests).map(([name, oid]) => [oid, name]),
);

/** A signer sends its own certificate and those of the few that lead to a root. Each may have to be compared with each. */
const mostCertificates = 16;

/** How a signature is made; without a hash of its own it is that of the signer. */
interface Method {
  readonly hash?: string;
  readonly isPss?: true;
}

const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ["1.2.840.113549.1.1.1", {}],
  ["1.2.840.113549.1.1.10", { isPss: true }],
  ["1.2.840.113549.1.1.11", { hash: "sha256" }],
  ["1.2.840.113549.1.1.12", { hash: "sha384" }],
  ["1.2.840.113549.1.1.13", { hash: "sha512" }],
  ["1.2.840.10045.4.3.2", { hash: "sha256" }],
  ["1.2.840.10045.4.3.3", { hash: "sha384" }],
  ["1.2.840.10045.4.3.4", { hash: "sha512" }],
]);

/** What a time stamp says, after it was verified. */
export interface VerifiedTimestamp {
  /** When the server has signed it, by its own clock. */
  readonly at: Date;
  readonly accuracyMs: number | null;
  readonly serialNumber: string;
  readonly policy: string;
  /** The name in the certificate of the signer. */
  readonly signer: string;
  /** The name of the root certificate that the signer was checked against; null if none was given. */
  readonly root: string | null;
}

/**
 * Verifies the response to a request for a time stamp, offline: that it was granted, is for this SHA-256 and this
 * request, and is signed by the certificate that it names; that this certificate is one for time stamps and was valid
 * then; and, if root certificates are given, that the signer's certificate leads to one of them. Throws a ProblemError that says what is
 * wrong. Whether a certificate was revoked is not checked.
 */
export function verifyTimestamp(
  response: Buffer,
  { sha256, nonce }: TimestampRequest,
  roots: readonly X509Certificate[],
): VerifiedTimestamp {
  const { isGranted, words, token } = readResponse(response);
  if (!isGranted || token === null) {
    const problem = words === "" ? phrase("unknownCause") : verbatim(words);
    throw new ProblemError(phrase("timestampRefused", { problem }));
  }
  const { info } = token;
  if (info.imprintAlgorithm !== digests.sha256 || !info.imprint.equals(sha256)) {
    throw new ProblemError(phrase("timestampOther"));
  }
  if (info.nonce !== nonce) {
    throw new ProblemError(phrase("timestampNonce"));
  }
  if (token.certificates.length > mostCertificates) {
    throw wrongForm();
  }
  const certificates = token.certificates.map(readCertificate);
  const signer = findSigner(token.signer, [...certificates, ...roots]);
  checkContent(token);
  checkSignature(token.signer, keyOf(signer));
  checkSigner(signer, info.at);
  return {
    at: info.at,
    accuracyMs: info.accuracyMs,
    serialNumber: info.serialNumber.toString(16),
    policy: info.policy,
    signer: nameOf(signer),
    root: roots.length === 0 ? null : nameOf(findRoot(signer, certificates, roots, info.at)),
  };
}

/** Finds the certificate whose hash is among what is signed, so that no other one can take its place. */
function findSigner({ attributes }: Signer, certificates: readonly X509Certificate[]): X509Certificate {
  const { hash, value } = readCertificateHash(attributes);
  const found = certificates.find(({ raw }) => createHash(hash).update(raw).digest().equals(value));
  if (found === undefined) {
    throw new ProblemError(phrase("timestampNoCertificate"));
  }
  return found;
}

/** SigningCertificate of RFC 2634, whose hash is a SHA-1, and its second version in RFC 5035. */
function readCertificateHash(attributes: ReadonlyMap<string, Block>): { hash: string; value: Buffer } {
  const second = attributes.get(certificateAttributeV2);
  const [list] = itemsOf(second ?? attributes.get(certificateAttribute));
  const [first, next] = itemsOf(itemsOf(list)[0]);
  if (second === undefined) {
    return { hash: "sha1", value: octetsOf(first) };
  }
  // The algorithm is left out if it is SHA-256.
  const hasAlgorithm = first !== undefined && first.idBlock.tagNumber === 16;
  return hasAlgorithm
    ? { hash: hashOf(algorithmOf(first)), value: octetsOf(next) }
    : { hash: "sha256", value: octetsOf(first) };
}

function checkContent({ signedContent, signer }: TimestampToken): void {
  const { attributes, digestAlgorithm } = signer;
  const digest = octetsOf(attributes.get(digestAttribute));
  if (oidOf(attributes.get(contentTypeAttribute)) !== infoType) {
    throw wrongForm();
  }
  if (!createHash(hashOf(digestAlgorithm)).update(signedContent).digest().equals(digest)) {
    throw new ProblemError(phrase("timestampSignature"));
  }
}

function checkSignature(
  { signatureAlgorithm, digestAlgorithm, signature, signedBytes }: Signer,
  key: KeyObject,
): void {
  const method = methods.get(signatureAlgorithm);
  if (method === undefined) {
    throw unsupported(signatureAlgorithm);
  }
  const hash = method.hash ?? hashOf(digestAlgorithm);
  const padding = {
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_AUTO,
  };
  const options = { key, ...(method.isPss === true ? padding : {}) };
  if (!isSigned(hash, signedBytes, options, signature)) {
    throw new ProblemError(phrase("timestampSignature"));
  }
}

/** OpenSSL throws if the key is of another kind than the signature. */
function isSigned(hash: string, data: Buffer, key: VerifyKeyObjectInput, signature: Buffer): boolean {
  try {
    return verifySignature(hash, data, key, signature);
  } catch {
    return false;
  }
}

function hashOf(algorithm: string): string {
  const hash = hashes.get(algorithm);
  if (hash === undefined) {
    throw unsupported(algorithm);
  }
  return hash;
}

function unsupported(algorithm: string): ProblemError {
  return new ProblemError(phrase("timestampAlgorithm", { name: algorithm }));
}
