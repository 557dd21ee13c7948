import { DimensionerError } from "../errors/dimensioner-error.ts";
import { phrase } from "../errors/interpolation.ts";
import type { ByteSink, Download } from "../model/download.ts";
import { ContentCheck } from "./content-check.ts";
import { errorFacts, throwIfAborted, type TransferFacts } from "./disk.ts";
import { suggestedName } from "./file-names.ts";

const megabyte = 1024 * 1024;
const defaultLimitBytes = 256 * megabyte;
/** Smaller chunks are gathered, so that a drip of single bytes costs no more than its bytes. */
const smallBytes = 4 * 1024;

/** A medium in memory. */
export interface BufferedMedia {
  payload: Buffer;
  contentType: string;
  /** Suggested, safe as a file name, extension by content. */
  filename: string;
}

export interface BufferOptions extends TransferFacts {
  suggestedBase: string;
  /** Over it the download ends in ERR_TOO_LARGE; 256 MB where it is not given. */
  limitBytes?: number | undefined;
}

/**
 * Runs a download into memory. Throws ERR_TOO_LARGE, ERR_BAD_RESPONSE (empty, a web page, cut short) and, untouched,
 * what the download rejects with.
 */
export async function readToBuffer(download: Download, options: BufferOptions): Promise<BufferedMedia> {
  throwIfAborted(options);
  const sink = new BufferSink(options);
  const downloaded = await download(sink).catch((error: unknown) => {
    throw sink.failure ?? error;
  });
  if (sink.failure !== undefined) {
    throw sink.failure;
  }
  throwIfAborted(options);
  const { contentType, extension } = sink.content.verdict(downloaded, options);
  return { payload: sink.payload(), contentType, filename: suggestedName(options.suggestedBase, extension) };
}

class BufferSink implements ByteSink {
  onDrain: (() => void) | undefined;
  onError: ((error: DimensionerError) => void) | undefined;
  content = new ContentCheck();
  failure: DimensionerError | undefined;
  readonly #options: BufferOptions;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #small: Uint8Array[] = [];
  #smallBytes = 0;

  constructor(options: BufferOptions) {
    this.#options = options;
  }

  get bytes(): number {
    return this.#bytes;
  }

  write(chunk: Uint8Array): boolean {
    if (this.failure !== undefined) {
      return true;
    }
    this.#bytes += chunk.byteLength;
    const { limitBytes = defaultLimitBytes } = this.#options;
    if (this.#bytes > limitBytes) {
      this.#fail(limitBytes);
      return true;
    }
    this.content.update(chunk);
    if (chunk.byteLength < smallBytes) {
      this.#small.push(chunk);
      this.#smallBytes += chunk.byteLength;
      if (this.#smallBytes >= smallBytes) {
        this.#gather();
      }
    } else {
      this.#gather();
      this.#chunks.push(chunk);
    }
    return true;
  }

  restart(): Promise<void> {
    this.#drop();
    this.#bytes = 0;
    this.content = new ContentCheck();
    return Promise.resolve();
  }

  payload(): Buffer {
    this.#gather();
    return Buffer.concat(this.#chunks, this.#bytes);
  }

  #gather(): void {
    if (this.#small.length > 0) {
      this.#chunks.push(Buffer.concat(this.#small));
    }
    this.#small = [];
    this.#smallBytes = 0;
  }

  #drop(): void {
    this.#chunks = [];
    this.#small = [];
    this.#smallBytes = 0;
  }

  #fail(limitBytes: number): void {
    const { host, surface } = this.#options;
    this.#drop();
    const limit =
      limitBytes % megabyte === 0
        ? phrase("megabytes", { count: limitBytes / megabyte })
        : phrase("bytes", { count: limitBytes });
    this.failure = new DimensionerError("tooLarge", errorFacts(this.#options, surface), { host, limit });
    this.onError?.(this.failure);
  }
}
