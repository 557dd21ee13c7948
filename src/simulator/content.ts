import { createHash } from "node:crypto";

/** A known number of bytes, which may be generated while they are sent. */
export interface Body {
  readonly size: number;
  /** The bytes from `start` up to, not including, `end`. The chunks may be shared: read them, never write to them. */
  read(start: number, end: number): Iterable<Uint8Array>;
}

/** A file as a server knows it. */
export interface Content extends Body {
  readonly contentType: string;
  /** Strong, with its quotes. */
  readonly etag: string;
}

const filler = Buffer.alloc(256 * 1024);

/** A body in memory. */
export function bytesBody(bytes: Uint8Array): Body {
  return { size: bytes.length, read: (start, end) => [bytes.subarray(start, end)] };
}

/** `head`, then zeros up to `size`, which are never in memory at once. */
export function filledBody(head: Uint8Array, size: number): Body {
  return {
    size: Math.max(size, head.length),
    *read(start, end) {
      if (start < head.length) {
        yield head.subarray(start, Math.min(end, head.length));
      }
      for (let at = Math.max(start, head.length); at < end; at += filler.length) {
        yield filler.subarray(0, Math.min(filler.length, end - at));
      }
    },
  };
}

/** Several bodies, one after the other, as one. */
export function joinedBody(parts: readonly Body[]): Body {
  return {
    size: parts.reduce((sum, part) => sum + part.size, 0),
    *read(start, end) {
      let before = 0;
      for (const part of parts) {
        const from = Math.max(0, start - before);
        const to = Math.min(part.size, end - before);
        if (from < to) {
          yield* part.read(from, to);
        }
        before += part.size;
      }
    },
  };
}

export function etagOf(...parts: readonly (Uint8Array | string)[]): string {
  const hash = createHash("sha256");
  parts.forEach((part) => hash.update(part));
  return `"${hash.digest("hex").slice(0, 32)}"`;
}

/** A file in memory. */
export function bytesContent(contentType: string, bytes: Uint8Array): Content {
  return { ...bytesBody(bytes), contentType, etag: etagOf(bytes) };
}

/** A file of any length: `head`, then zeros. */
export function filledContent(contentType: string, head: Uint8Array, size: number): Content {
  return { ...filledBody(head, size), contentType, etag: etagOf(head, String(size)) };
}
