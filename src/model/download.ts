import type { Readable } from "node:stream";
import type { Surface } from "../errors/dimensioner-error.ts";

/** How the end of a body is marked on the wire. With `close` only the format itself can show that it is whole. */
export type Framing = "length" | "chunked" | "close";

/** Where a download comes from: what its errors tell. */
export interface DownloadSource {
  readonly surface: Surface;
  /** In the API's words: "image", "video", "media". */
  readonly operation: string;
  /** Host and port as people write them. */
  readonly host: string;
  /** Origin and path; never a query. */
  readonly url?: string | undefined;
}

/** A picture or a video that has begun to come: what its headers say, and its body. */
export interface Download {
  /** The announced content type, without parameters, in lower case; null when there is none. */
  readonly contentType: string | null;
  /** Length of the whole body in bytes; null when it was not announced. */
  readonly contentLength: number | null;
  readonly framing: Framing;
  /** For a file's name: what stands before the extension, which the content decides. */
  readonly suggestedName: string;
  readonly source: DownloadSource;
  /**
   * The bytes, once. It ends only after the whole body; otherwise it fails with a DimensionerError. Connections that
   * break meanwhile are replaced underneath, where a strong ETag lets the rest be asked for. Destroying it, or leaving a
   * loop over it, ends the transfer and its connection at once.
   */
  readonly body: Readable;
  /**
   * After `body` has failed: asks for the same again, from its first byte. Rejects with what it failed with, where
   * another try cannot help or three in a row have brought nothing new.
   */
  restart(): Promise<Download>;
}
