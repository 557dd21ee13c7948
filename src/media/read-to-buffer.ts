import { addAbortSignal } from "node:stream";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { phrase } from "../errors/interpolation.ts";
import type { Download } from "../model/download.ts";
import { type TransferFacts, errorFacts, throwIfAborted } from "./disk.ts";
import { suggestedName } from "./file-names.ts";
import { ContentCheck } from "./formats.ts";

const megabyte = 1024 * 1024;
const defaultLimitBytes = 256 * megabyte;

/** A medium in memory. */
export interface BufferedMedia {
  payload: Buffer;
  contentType: string;
  /** A suggested file name: safe, with an extension by content. */
  filename: string;
  /** Only of a format that nobody knows, or of a film without its index. */
  recognized?: false;
}

export interface BufferOptions extends TransferFacts {
  /** The suggested file name without its extension; the download's own if it is not given. */
  suggestedBase?: string | undefined;
  /** A larger download ends in ERR_TOO_LARGE; 256 MB if it is not given. */
  limitBytes?: number | undefined;
  /** Called with how much is in memory so far; what it throws ends the download. */
  onBytes?: ((bytes: number) => void) | undefined;
}

/**
 * Reads a download into memory, and restarts it where that helps. Throws ERR_TOO_LARGE, ERR_BAD_RESPONSE (empty, a web
 * page, cut short), and the download's own errors unchanged.
 */
export async function readToBuffer(
  start: () => Promise<Download>,
  options: BufferOptions,
): Promise<BufferedMedia> {
  throwIfAborted(options);
  for (let download = await start(); ;) {
    const { body, source } = download;
    try {
      if (options.signal !== undefined) {
        addAbortSignal(options.signal, body);
      }
      const { payload, content } = await readBody(download, options);
      throwIfAborted(options);
      const { contentType, extension, found } = content.verdict(download.contentType, source);
      const filename = suggestedName(options.suggestedBase ?? download.suggestedName, extension);
      return { payload, contentType, filename, ...(found === null && { recognized: false }) };
    } catch (error) {
      throwIfAborted(options);
      if (error !== body.errored) {
        throw error;
      }
    }
    download = await download.restart();
  }
}

/** Leaving the loop in any way ends the transfer. */
async function readBody(
  { body, contentLength }: Download,
  options: BufferOptions,
): Promise<{ payload: Buffer; content: ContentCheck }> {
  const { limitBytes = defaultLimitBytes } = options;
  const content = new ContentCheck();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  if (contentLength !== null && contentLength > limitBytes) {
    body.destroy();
    throw tooLarge(options, limitBytes);
  }
  for await (const chunk of body) {
    const piece: unknown = chunk;
    if (!(piece instanceof Uint8Array)) {
      throw new TypeError("The body of a download must be a stream of bytes.");
    }
    bytes += piece.byteLength;
    if (bytes > limitBytes) {
      throw tooLarge(options, limitBytes);
    }
    options.onBytes?.(bytes);
    content.update(piece);
    chunks.push(piece);
  }
  return { payload: Buffer.concat(chunks, bytes), content };
}

function tooLarge(options: BufferOptions, limitBytes: number): DimensionerError {
  const { host, surface } = options;
  const limit =
    limitBytes % megabyte === 0
      ? phrase("megabytes", { count: limitBytes / megabyte })
      : phrase("bytes", { count: limitBytes });
  return new DimensionerError("tooLarge", errorFacts(options, surface), { host, limit });
}
