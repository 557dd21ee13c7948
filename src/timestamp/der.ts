import { type BaseBlock, Constructed, fromBER, Integer, ObjectIdentifier, OctetString } from "asn1js";
import { phrase, ProblemError } from "../errors/interpolation.ts";

/** One value of a structure in ASN.1. */
export type Block = BaseBlock;

/** More than a time stamp has with the certificates of its signer; the data come from a network or a disk. */
const limits = { maxDepth: 32, maxNodes: 5_000, maxContentLength: 1024 * 1024, parseEmbedded: false };
const contextClass = 3;

/** What cannot be a time stamp as RFC 3161 defines it. */
export function wrongForm(): ProblemError {
  return new ProblemError(phrase("timestampForm"));
}

/** Reads bytes that are one value and nothing else. Throws a ProblemError. */
export function readDer(bytes: Uint8Array): Block {
  // A Buffer may be a part of a larger memory, whose beginning the parser would read.
  const own = Uint8Array.from(bytes);
  const { offset, result } = parse(own);
  if (offset !== own.length) {
    throw wrongForm();
  }
  return result;
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
