import { notS3 } from "./failures.ts";
import { sha256Header } from "./store-object.ts";

/** What a bucket says of an object. */
export interface ObjectHead {
  readonly bytes: number;
  /** Changes with the content; blank if the object store has none. */
  readonly etag: string;
  /** SHA-256 of the content, lower-case hexadecimal, as its writer has noted it; undefined if it has not. */
  readonly sha256: string | undefined;
  /**
   * Until when it is protected from being deleted (Object Lock), as far as the object store says so, in milliseconds since 1970:
   * infinite for a legal hold, 0 if it is not.
   */
  readonly retainedUntilMs: number;
}

type HeaderFields = Readonly<Record<string, string | string[] | undefined>>;

/** Throws ProblemError if the answer does not say how long the object is. */
export function headOf(headers: HeaderFields): ObjectHead {
  const sha256 = headers[sha256Header];
  const bytes = Number(headers["content-length"] ?? Number.NaN);
  if (!Number.isSafeInteger(bytes)) {
    // Without its length, an object that was cut off could not be told from a whole one.
    return notS3();
  }
  return {
    bytes,
    etag: String(headers["etag"] ?? ""),
    sha256: typeof sha256 === "string" ? sha256 : undefined,
    retainedUntilMs: retainedUntil(headers),
  };
}

/**
 * Where a part of an object begins that was sent, and the length of the whole object; undefined if the answer does not say it.
 */
export function partOf(headers: HeaderFields): { readonly from: number; readonly total: number } | undefined {
  const [, from, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(String(headers["content-range"] ?? "")) ?? [];
  return from === undefined ? undefined : { from: Number(from), total: Number(total) };
}

function retainedUntil(headers: HeaderFields): number {
  if (headers["x-amz-object-lock-legal-hold"] === "ON") {
    return Infinity;
  }
  const untilMs = Date.parse(String(headers["x-amz-object-lock-retain-until-date"] ?? ""));
  return Number.isNaN(untilMs) ? 0 : untilMs;
}
