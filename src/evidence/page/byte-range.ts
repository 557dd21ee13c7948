/** The bytes from the first to the last one, both included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Reads the Range header of a request for a file of this length. "whole" if there is none, or one that may be ignored:
 * several ranges, or another unit. "none" if the range lies outside of the file.
 */
export function readRange(header: string | undefined, bytes: number): ByteRange | "whole" | "none" {
  const [found, from = "", to = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? "") ?? [];
  if (found === undefined || (from === "" && to === "")) {
    return "whole";
  }
  if (from === "") {
    const length = Math.min(Number(to), bytes);
    return length === 0 ? "none" : { first: bytes - length, last: bytes - 1 };
  }
  const [first, last] = [Number(from), to === "" ? bytes - 1 : Math.min(Number(to), bytes - 1)];
  if (to !== "" && Number(to) < first) {
    return "whole";
  }
  return first >= bytes ? "none" : { first, last };
}
