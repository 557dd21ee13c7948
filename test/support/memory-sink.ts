import type { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import type { ByteSink } from "../../src/model/download.ts";

/** A sink that keeps all in memory, and can be made slow. */
export class MemorySink implements ByteSink {
  onDrain: (() => void) | undefined;
  onError: ((error: DimensionerError) => void) | undefined;
  chunks: Uint8Array[] = [];
  restarts = 0;
  /** Called after each chunk; true: the sink is full until somebody calls `onDrain`. */
  isFull: (sink: MemorySink) => boolean = () => false;

  get bytes(): number {
    return this.chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  }

  get content(): Buffer {
    return Buffer.concat(this.chunks);
  }

  write(chunk: Uint8Array): boolean {
    this.chunks.push(chunk);
    return !this.isFull(this);
  }

  restart(): void {
    this.restarts++;
    this.chunks = [];
  }
}
