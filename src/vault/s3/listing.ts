import { notS3 } from "./failures.ts";
import { childrenOf, childText, type XmlElement } from "./xml.ts";

/** An entry of a listing. */
export interface ListedObject {
  readonly key: string;
  readonly bytes: number;
  /** When it was stored, by the clock of the object store, in milliseconds since 1970. */
  readonly storedAtMs: number;
}

export interface Page {
  readonly objects: readonly ListedObject[];
  /** What asks for the next page; undefined for the last one. */
  readonly next: string | undefined;
}

/**
 * Reads a page of a listing. Objects are removed because of their keys, and what is not listed counts as missing: so an answer
 * with other keys, or with pages that cannot be asked for, is none. Throws ProblemError.
 */
export function pageOf(
  answer: XmlElement,
  { prefix, token }: { readonly prefix: string; readonly token: string },
): Page {
  // Some stores do not encode keys, and do not say so.
  const isEncoded = childText(answer, "EncodingType") === "url";
  const objects = childrenOf(answer, "Contents").map((one) => {
    const key = childText(one, "Key") ?? "";
    return {
      key: isEncoded ? decodeURIComponent(key.replaceAll("+", " ")) : key,
      bytes: Number(childText(one, "Size")),
      storedAtMs: Date.parse(childText(one, "LastModified") ?? ""),
    };
  });
  const next =
    childText(answer, "IsTruncated") === "true"
      ? (childText(answer, "NextContinuationToken") ?? token)
      : undefined;
  const isListing = answer.name === "ListBucketResult" && objects.every(({ key }) => key.startsWith(prefix));
  return isListing && next !== token ? { objects, next } : notS3();
}

/**
 * Notices when a listing goes round in a circle: the marks of its pages come again. Only one of them is kept, another one after
 * twice as many pages each time, which every circle comes back to.
 */
export class PageMarks {
  #kept: string | undefined;
  #pages = 1;
  #left = 1;

  /** Throws ProblemError if this mark, which asks for the next page, was there before. */
  add(mark: string): void {
    if (mark === this.#kept) {
      notS3();
    }
    this.#left -= 1;
    if (this.#left === 0) {
      this.#kept = mark;
      this.#pages *= 2;
      this.#left = this.#pages;
    }
  }
}
