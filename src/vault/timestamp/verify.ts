import {
  type KeyObject,
  type VerifyKeyObjectInput,
  X509Certificate,
  constants,
  createHash,
  verify as verifySignature,
} from "node:crypto";
import { ProblemError, beginning, phrase, verbatim, onOneLine } from "../../errors/interpolation.ts";
import {
  type Block,
  algorithmOf,
  itemsOf,
  octetsOf,
  oidOf,
  wrongForm,
  contentOf,
  integerOf,
  readDer,
  tagged,
} from "./der.ts";
import { type Signer, type TimestampRequest, type TimestampToken, digests, readResponse } from "./token.ts";
import { Boolean as Bool, BitString } from "asn1js";

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
  return new ProblemError(phrase("timestampAlgorithm", { name: beginning(algorithm) }));
}

const purposeExtension = "2.5.29.37";
const constraintsExtension = "2.5.29.19";
const usageExtension = "2.5.29.15";
const timeStamping = "1.3.6.1.5.5.7.3.8";
/** Positions in the bits of the key usage. */
const usages = { digitalSignature: 0, contentCommitment: 1, certificateSigning: 5 } as const;
/** Longer chains do not occur. */
const mostIssuers = 8;

interface Extension {
  readonly isCritical: boolean;
  readonly value: Buffer;
}

/** Reads a certificate in DER. Throws a ProblemError. */
export function readCertificate(der: Buffer): X509Certificate {
  try {
    return new X509Certificate(der);
  } catch {
    throw wrongForm();
  }
}

/** The name of a certificate's owner as people know it. */
export function nameOf({ subject }: X509Certificate): string {
  const part = (name: string): string | undefined => new RegExp(`^${name}=(.+)$`, "m").exec(subject)?.[1];
  return beginning(onOneLine(part("CN") ?? part("O") ?? subject)).toWellFormed();
}

/** Throws a ProblemError for a key of a kind that OpenSSL does not know. */
export function keyOf(certificate: X509Certificate): KeyObject {
  try {
    return certificate.publicKey;
  } catch (error) {
    throw new ProblemError(phrase("timestampKey", { name: nameOf(certificate) }), { cause: error });
  }
}

/** Throws a ProblemError unless the certificate is one for time stamps only, and was valid at the time. */
export function checkSigner(certificate: X509Certificate, at: Date): void {
  const extensions = readExtensions(certificate);
  const purpose = extensions.get(purposeExtension);
  // RFC 3161, section 2.3: the only purpose, and marked as critical.
  const isForTimeStamps =
    purpose?.isCritical === true &&
    certificate.keyUsage?.length === 1 &&
    certificate.keyUsage[0] === timeStamping;
  const mayUse = (usage: keyof typeof usages): boolean => mayBeUsed(extensions, usage);
  if (!isForTimeStamps || !(mayUse("digitalSignature") || mayUse("contentCommitment"))) {
    throw new ProblemError(phrase("timestampPurpose", { name: nameOf(certificate) }));
  }
  checkKnown(certificate, extensions);
  checkValid(certificate, at);
}

/**
 * Finds the root certificate that issued a certificate, directly or through others of the given certificates, or that is
 * the certificate itself, at the given time. Throws a ProblemError if there is none. Revocation is not checked.
 */
export function findRoot(
  certificate: X509Certificate,
  others: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  at: Date,
): X509Certificate {
  // All ways are followed at the same time, so that the shortest one to each certificate is taken, to which every other one could
  // only add conditions: how many issuers a certificate allows below it. That is why none needs to be tried again, and
  // certificates that have all issued each other do not make more ways than there are certificates.
  const untried = new Set(others);
  const allowances = new Allowances(at);
  let reached: readonly X509Certificate[] = [certificate];
  for (let issuersBelow = 0; issuersBelow <= mostIssuers; issuersBelow++) {
    const next: X509Certificate[] = [];
    for (const one of reached) {
      const canIssue = (issuer: X509Certificate): boolean =>
        issuer.ca &&
        issuer.fingerprint256 !== one.fingerprint256 &&
        one.checkIssued(issuer) &&
        issuersBelow <= allowances.of(issuer) &&
        one.verify(keyOf(issuer));
      const itself = roots.find(({ fingerprint256 }) => fingerprint256 === one.fingerprint256);
      const root = itself ?? roots.find(canIssue);
      if (root !== undefined) {
        return root;
      }
      for (const issuer of [...untried].filter(canIssue)) {
        untried.delete(issuer);
        next.push(issuer);
      }
    }
    reached = next;
  }
  throw new ProblemError(phrase("timestampUntrusted", { name: nameOf(certificate) }));
}

/**
 * How many issuers a certificate allows below it; -1 if it may not issue others, or not at that time, or it
 * or its key cannot be read. A server
 * may send large ones that all have issued each other, so each is read once.
 */
class Allowances {
  readonly #at: Date;
  readonly #read = new Map<X509Certificate, number>();

  constructor(at: Date) {
    this.#at = at;
  }

  of(issuer: X509Certificate): number {
    const known = this.#read.get(issuer);
    const most = known ?? readAllowance(issuer, this.#at);
    this.#read.set(issuer, most);
    return most;
  }
}

function readAllowance(issuer: X509Certificate, at: Date): number {
  try {
    const extensions = readExtensions(issuer);
    checkKnown(issuer, extensions);
    checkValid(issuer, at);
    keyOf(issuer);
    return mayBeUsed(extensions, "certificateSigning") ? mostBelow(extensions) : -1;
  } catch (error) {
    if (error instanceof ProblemError) {
      return -1;
    }
    throw error;
  }
}

function checkValid(certificate: X509Certificate, at: Date): void {
  const { validFromDate: from, validToDate: to } = certificate;
  if (Number.isNaN(from.getTime()) || Number.isNaN(to.getTime())) {
    throw wrongForm();
  }
  if (at < from || at > to) {
    const values = { name: nameOf(certificate), problem: verbatim(`${iso(from)} – ${iso(to)}`) };
    throw new ProblemError(phrase("timestampExpired", values));
  }
}

function iso(date: Date): string {
  return date.toISOString().replace(".000", "");
}

/** A critical extension that is not understood could forbid what the certificate is used for (RFC 5280, section 4.2). */
function checkKnown(certificate: X509Certificate, extensions: ReadonlyMap<string, Extension>): void {
  const known = [purposeExtension, constraintsExtension, usageExtension];
  const isUnknown = [...extensions].some(([oid, { isCritical }]) => isCritical && !known.includes(oid));
  if (isUnknown) {
    throw new ProblemError(phrase("timestampPurpose", { name: nameOf(certificate) }));
  }
}

function mayBeUsed(extensions: ReadonlyMap<string, Extension>, usage: keyof typeof usages): boolean {
  const extension = extensions.get(usageExtension);
  if (extension === undefined) {
    return true;
  }
  const bits = readDer(extension.value);
  const [byte = 0] = bits instanceof BitString ? bits.valueBlock.valueHexView : [];
  return (byte >> (7 - usages[usage])) % 2 === 1;
}

/** How many other issuers may be between this one and the certificate at the end. */
function mostBelow(extensions: ReadonlyMap<string, Extension>): number {
  const extension = extensions.get(constraintsExtension);
  const [, most] = extension === undefined ? [] : itemsOf(readDer(extension.value));
  return most === undefined ? mostIssuers : Number(integerOf(most));
}

function readExtensions({ raw }: X509Certificate): ReadonlyMap<string, Extension> {
  const [signed] = itemsOf(readDer(raw));
  const list = tagged(itemsOf(signed), 3);
  const extensions = list === undefined ? [] : itemsOf(contentOf(list));
  return new Map(
    extensions.map((extension) => {
      const [oid, second, third] = itemsOf(extension);
      const isCritical = second instanceof Bool && second.getValue();
      return [oidOf(oid), { isCritical, value: octetsOf(third ?? second) }];
    }),
  );
}
