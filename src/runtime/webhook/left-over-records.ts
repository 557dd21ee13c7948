import type { Inbox } from "../../database/inbox.ts";
import type { Received } from "../../webhook/record-intake.ts";
import type { StoredProgress } from "../../webhook/stored-progress.ts";

/** What was found in the store at the start. */
export interface LeftOver {
  readonly resumed: number;
  /** Rows whose content is not what was written. */
  readonly damaged: number;
}

export interface LeftOverOptions {
  /** A node that replaces another one continues with the same. */
  readonly progress: StoredProgress;
  /** Passes on a record that was left over, after those before it. */
  readonly handOn: (received: Received, bytes: number) => void;
  /** Called once all records that were left over were passed on. */
  readonly onReady: (found: LeftOver) => void;
  /** Called after that if records were not handled for a week. */
  readonly onTooOld: (count: number) => void;
}

/**
 * How many records of an earlier run are read at once; the next ones are read when fewer wait for the flow. Each may have
 * a megabyte.
 */
const pageSize = 32;

/**
 * Reads the records of a store that nobody has in hand, and passes them on in the order in which they arrived, not more at
 * once than the flow can take.
 */
export class LeftOverRecords {
  /** As the records that are handed on name it. */
  readonly #database: string;
  readonly #options: LeftOverOptions;
  readonly #closing: AbortSignal;
  /** Records that were handed on and not delivered yet. */
  readonly #outstanding = new Set<number>();
  #onDelivered: (() => void) | undefined;
  /** Whether a look that finds nothing new is not worth a word. */
  #isAllSaid = false;
  #hasCounted = false;

  constructor(database: string, options: LeftOverOptions, closing: AbortSignal) {
    this.#database = database;
    this.#options = options;
    this.#closing = closing;
    closing.addEventListener("abort", () => this.#onDelivered?.());
  }

  /** The next look is worth a word, because the database has failed or has not answered. */
  sayAgain(): void {
    this.#isAllSaid = false;
  }

  /** To be called when the flow has received a record. */
  delivered(recordId: number): void {
    if (this.#outstanding.delete(recordId)) {
      this.#onDelivered?.();
    }
  }

  /** Passes on what nobody has in hand, until nothing is left or the node closes. Rejects with ERR_STORE. */
  async handOn(inbox: Inbox): Promise<void> {
    const { progress, handOn, onReady } = this.#options;
    const signal = this.#closing;
    let [resumed, damaged] = [0, 0];
    while (!signal.aborted) {
      // Not Math.min(...): so many arguments as records may have arrived meanwhile would be too many.
      let after = [...progress.unread].reduce((one, other) => Math.min(one, other), Infinity) - 1;
      progress.unread.clear();
      for (let hasMore = true; hasMore;) {
        // What is noted as sent meanwhile is not in hand any more when the answer comes.
        const before = new Set(progress.inHand);
        const page = await inbox.unsent(after, pageSize);
        if (signal.aborted) {
          return;
        }
        ({ hasMore, last: after } = page);
        progress.readTo = Math.max(progress.readTo, after);
        damaged += page.damaged.length;
        for (const { record, recordId, bytes, isResumed } of page.records) {
          progress.unread.delete(recordId);
          if (!before.has(recordId) && !progress.inHand.has(recordId)) {
            resumed += 1;
            progress.inHand.add(recordId);
            this.#outstanding.add(recordId);
            handOn({ record, kept: { store: this.#database, recordId }, isResumed }, bytes);
          }
        }
        if (!hasMore && progress.unread.size === 0) {
          progress.isReading = false;
          if (!this.#isAllSaid || resumed > 0) {
            this.#isAllSaid = true;
            onReady({ resumed, damaged });
          }
          void this.#countTooOld(inbox);
          return;
        }
        await this.#untilDelivered();
      }
    }
  }

  /** Only for the log: among very many records it takes so long that no record may have to wait for it, or for its success. */
  async #countTooOld(inbox: Inbox): Promise<void> {
    if (this.#hasCounted) {
      return;
    }
    this.#hasCounted = true;
    const count = await inbox.countTooOld().catch(() => 0);
    if (count > 0 && !this.#closing.aborted) {
      this.#options.onTooOld(count);
    }
  }

  /** Waits until most of the records were delivered, so that the records of a week are not in memory all at once. */
  async #untilDelivered(): Promise<void> {
    while (this.#outstanding.size >= pageSize && !this.#closing.aborted) {
      await new Promise<void>((resolve) => {
        this.#onDelivered = resolve;
      });
    }
  }
}
