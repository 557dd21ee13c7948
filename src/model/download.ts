import type { Readable } from "node:stream";
import type { Surface } from "../errors/dimensioner-error.ts";

/** How the end of a body is marked in HTTP. With `close` only the body's format shows whether it is complete. */
export type Framing = "length" | "chunked" | "close";

/** The origin of a download, as its errors name it. */
export interface DownloadSource {
  readonly surface: Surface;
  /** In the API's words: "image", "video", "media". */
  readonly operation: string;
  /** Host and port as people write them. */
  readonly host: string;
  /** Origin and path; never a query. */
  readonly url?: string | undefined;
}

/** A picture or a video whose download has started: the facts of the headers, and the body. */
export interface Download {
  /** The announced content type, without parameters, in lower case; null when there is none. */
  readonly contentType: string | null;
  /** Length of the whole body in bytes; null when it was not announced. */
  readonly contentLength: number | null;
  readonly framing: Framing;
  /** A file name without its extension, which depends on the content. */
  readonly suggestedName: string;
  readonly source: DownloadSource;
  /**
   * The bytes, which can be read once. It ends only after the whole body; otherwise it fails with a DimensionerError.
   * Connections that break meanwhile are replaced where a strong ETag allows the rest to be requested. Destroying it,
   * or leaving a loop over it, ends the transfer and its connection at once.
   */
  readonly body: Readable;
  /**
   * After `body` has failed: requests the same again, from its first byte. Rejects with the body's error if another try
   * cannot help, or if three in a row have brought nothing new.
   */
  restart(): Promise<Download>;
}
