import { type KeyObject, X509Certificate } from "node:crypto";
import { Boolean as Bool, BitString } from "asn1js";
import { onOneLine, phrase, ProblemError, verbatim } from "../../errors/interpolation.ts";
import { contentOf, integerOf, itemsOf, octetsOf, oidOf, readDer, tagged, wrongForm } from "./der.ts";

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
  return onOneLine(part("CN") ?? part("O") ?? subject).toWellFormed();
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
