import { abortWithAny } from "./retry.ts";

/** Called when a transfer begins; the returned function is called when it has ended. */
export type Hold = () => () => void;

/** The hold of one transfer. If the transfer fails, it is kept for a while, so that a restart can take its own in time. */
export class TransferHold {
  #release: (() => void) | undefined;
  #stopWaiting: (() => void) | undefined;

  constructor(hold: Hold | undefined) {
    this.#release = hold?.();
  }

  /** Ends the hold; a second call does nothing. */
  end(): void {
    this.#stopWaiting?.();
    this.#release?.();
    this.#release = undefined;
  }

  /** Ends the hold after a time or when one of the signals aborts, unless it ends before. */
  endAfter(ms: number, signals: readonly AbortSignal[]): void {
    if (this.#release === undefined) {
      return;
    }
    const end = (): void => this.end();
    const controller = new AbortController();
    const release = abortWithAny(signals, controller);
    const timer = setTimeout(end, ms);
    this.#stopWaiting = () => {
      clearTimeout(timer);
      release();
    };
    controller.signal.addEventListener("abort", end);
    if (controller.signal.aborted) {
      end();
    }
  }
}
