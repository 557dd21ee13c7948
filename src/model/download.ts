import type { DimensionerError } from "../errors/dimensioner-error.ts";

/**
 * Where the bytes of a download go. The transport pushes, the sink answers at once and never throws; what goes wrong
 * on its side it tells through `onError`, and the transport then ends the download with that error.
 */
export interface ByteSink {
  /** Bytes taken since the start or the last restart. */
  readonly bytes: number;
  /** Takes the next chunk, which it may keep. False: send no more until `onDrain` is called. */
  write(chunk: Uint8Array): boolean;
  /** Set by the transport before the first write. */
  onDrain: (() => void) | undefined;
  /** Set by the transport before the first write. */
  onError: ((error: DimensionerError) => void) | undefined;
  /**
   * Set by the transport before the first write; a sink may tell it of each chunk that it needs no more, in the order in
   * which they came. The memory is then used again: a sink that keeps its chunks has none of this.
   */
  onChunkDone?: ((chunk: Uint8Array) => void) | undefined;
  /**
   * Forgets all that was written, for a transfer that starts again at its first byte: what is written after the call
   * belongs to the new beginning. What goes wrong is told through `onError`; a promise, where there is one, says when the
   * old bytes are gone, and never rejects.
   */
  restart(): void | Promise<void>;
}

/** How the end of a body was marked on the wire. With `close` only the format itself can show that it is whole. */
export type Framing = "length" | "chunked" | "close";

/** What a finished download says of itself. */
export interface DownloadFacts {
  /** The content type that the peer announced, without parameters, in lower case; null when it said none. */
  contentType: string | null;
  framing: Framing;
  /** Length of the whole body in bytes. */
  bytes: number;
}

/** A download that is ready to run: the one thing that the media pipeline asks of a client. */
export type Download = (sink: ByteSink) => Promise<DownloadFacts>;
