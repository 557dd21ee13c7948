import type { ExportHead, ExportStream } from "./export/export-packages.ts";
import type { EvidenceAnswer } from "./thread-messages.ts";

/** Enough that neither thread waits for the other, and little memory if the reader is slow. */
const mostUnderway = 4;

/** Sends a ZIP to another thread, as fast as that one takes it. */
export class BlockSender implements ExportStream {
  readonly #answer: (message: EvidenceAnswer) => void;
  readonly #signal: AbortSignal;
  #underway = 0;
  #onTaken: (() => void) | undefined;

  constructor(answer: (message: EvidenceAnswer) => void, signal: AbortSignal) {
    this.#answer = answer;
    this.#signal = signal;
  }

  begin(begun: ExportHead): void {
    this.#answer({ begun });
  }

  /** Rejects with the signal's reason. */
  async write(block: Uint8Array): Promise<void> {
    while (this.#underway >= mostUnderway && !this.#signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#onTaken = resolve;
      });
    }
    this.#signal.throwIfAborted();
    this.#underway += 1;
    this.#answer({ block });
  }

  /** To be called when the other thread has taken a block, and when the signal was aborted. */
  taken(): void {
    this.#underway -= 1;
    this.#onTaken?.();
  }
}
