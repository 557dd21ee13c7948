import { type BaseBlock, Constructed, fromBER, Integer, ObjectIdentifier, OctetString } from "asn1js";
import { phrase, ProblemError } from "../../errors/interpolation.ts";

/** One value of a structure in ASN.1. */
export type Block = BaseBlock;

/** More than a time stamp has with the certificates of its signer; the data come from a network or a disk. */
const limits = { maxDepth: 32, maxNodes: 5_000, maxContentLength: 1024 * 1024, parseEmbedded: false };
const contextClass = 3;
/**
 * A time stamp with many certificates has a tenth of this in all its object identifiers. Of each byte of one the parser may make
 * an object, which it does not count.
 */
const mostIdentifierBytes = 16 * 1024;
/** Numbers of universal tags: those of values that consist of others, and of strings that may. */
const consisting = [16, 17];
const mayConsist = [3, 4];
const identifiers = [6, 13];

/** What cannot be a time stamp as RFC 3161 defines it. */
export function wrongForm(): ProblemError {
  return new ProblemError(phrase("timestampForm"));
}

/** Reads bytes that are one value and nothing else. Throws a ProblemError. */
export function readDer(bytes: Uint8Array): Block {
  // A Buffer may be a part of a larger memory, whose beginning the parser would read.
  const own = Uint8Array.from(bytes);
  checkIdentifiers(own);
  const { offset, result } = parse(own);
  if (offset !== own.length) {
    throw wrongForm();
  }
  return result;
}

/**
 * Throws a ProblemError for more in object identifiers than there can be. The values are passed through in the order in which the
 * parser reads them, up to what it refuses; what it might read in another order is refused here.
 */
function checkIdentifiers(bytes: Uint8Array): void {
  let sum = 0;
  for (let at = 0; at < bytes.length;) {
    const tag = bytes[at] ?? 0;
    const { length, end } = readLength(bytes, at + 1);
    const number = tag & 0x1f;
    const isUniversal = tag < 0x40;
    const isConstructed = (tag & 0x20) !== 0;
    const isUsual =
      !isUniversal || mayConsist.includes(number) || isConstructed === consisting.includes(number);
    sum += isUniversal && identifiers.includes(number) ? length : 0;
    const isEndless = !isConstructed && bytes[at + 1] === 0x80;
    if (number === 0x1f || !isUsual || isEndless || sum > mostIdentifierBytes) {
      throw wrongForm();
    }
    at = isConstructed ? end : end + length;
  }
}

/** The length of a value, and where it ends itself. One that is not said is 0: what it consists of follows. */
function readLength(bytes: Uint8Array, at: number): { readonly length: number; readonly end: number } {
  const first = bytes[at] ?? 0;
  if (first < 0x80) {
    return { length: first, end: at + 1 };
  }
  const end = at + 1 + (first & 0x7f);
  const length = bytes.subarray(at + 1, end).reduce((sum, byte) => sum * 256 + byte, 0);
  return { length, end };
}

/** The parser throws for a time that is none, and returns an error for anything else. */
function parse(bytes: Uint8Array<ArrayBuffer>): ReturnType<typeof fromBER> {
  try {
    return fromBER(bytes, limits);
  } catch {
    throw wrongForm();
  }
}

/** The values in a sequence, a set, or a tagged value. */
export function itemsOf(block: Block | undefined): readonly Block[] {
  if (block instanceof Constructed) {
    return block.valueBlock.value;
  }
  throw wrongForm();
}

/** The first value with a context-specific tag, such as `[0]`. */
export function tagged(items: readonly Block[], tagNumber: number): Block | undefined {
  return items.find(({ idBlock }) => idBlock.tagClass === contextClass && idBlock.tagNumber === tagNumber);
}

/** The only value in an explicit tag. */
export function contentOf(block: Block | undefined): Block {
  const [content] = itemsOf(block);
  if (content === undefined) {
    throw wrongForm();
  }
  return content;
}

/** An object identifier with dots. */
export function oidOf(block: Block | undefined): string {
  if (block instanceof ObjectIdentifier) {
    return block.getValue();
  }
  throw wrongForm();
}

/** The object identifier of an AlgorithmIdentifier, which is a sequence that begins with it. */
export function algorithmOf(block: Block | undefined): string {
  return oidOf(itemsOf(block)[0]);
}

export function octetsOf(block: Block | undefined): Buffer {
  if (block instanceof OctetString) {
    return Buffer.from(block.getValue());
  }
  throw wrongForm();
}

/** An integer of any length. */
export function integerOf(block: Block | undefined): bigint {
  if (block instanceof Integer) {
    return block.toBigInt();
  }
  throw wrongForm();
}

/** The bytes of the whole value, with its tag and its length, as they were read. */
export function encodingOf(block: Block): Buffer {
  return Buffer.from(block.valueBeforeDecodeView);
}
