import type { Framing } from "../model/download.ts";
import type { Peer, Read } from "./call.ts";
import type { Headers } from "./exchange.ts";
import { readRange, refusePart } from "./response.ts";

/** What the headers of a response say of the whole download. */
interface DownloadHead {
  readonly contentType: string | null;
  readonly contentLength: number | null;
  readonly framing: Framing;
  readonly etag: string | undefined;
}

/** Reads the head of the first response, which has to be for the whole body: throws for any other part. */
export function readDownloadHead(peer: Peer, read: Read, statusCode: number, headers: Headers): DownloadHead {
  const range = readRange(headers);
  if (statusCode === 206 && range?.isWhole !== true) {
    refusePart(peer, read, headers);
  }
  const length = statusCode === 206 ? range?.total : headers["content-length"];
  const type = headers["content-type"];
  return {
    contentType: typeof type === "string" ? (type.split(";", 1)[0] ?? "").trim().toLowerCase() || null : null,
    contentLength: length === undefined ? null : Number(length),
    framing: framingOf(length !== undefined, headers),
    etag: strongEtag(headers),
  };
}

/** The ETag of a response, unless it is weak: only a strong one identifies the exact bytes (RFC 9110, 8.8.1). */
export function strongEtag(headers: Headers): string | undefined {
  const etag = headers["etag"];
  return typeof etag === "string" && etag.startsWith('"') ? etag : undefined;
}

function framingOf(hasLength: boolean, headers: Headers): Framing {
  if (hasLength) {
    return "length";
  }
  return headers["transfer-encoding"] === undefined ? "close" : "chunked";
}
