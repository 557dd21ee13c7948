/** As many numbers are remembered; with more, all records are looked through once more, which takes less memory. */
const mostUnread = 10_000;
const firstAgainMs = 1_000;
const longestAgainMs = 3_600_000;
/** What PostgreSQL commits still later, while a standby server is away, is found at the next deploy. */
const latestCommitMs = 24 * 3_600_000;

/** How far the records in a store were read; the nodes that replace each other share it. */
export class StoredProgress {
  /** The numbers of the records that are in the queue, or were sent and are not noted as such yet. */
  readonly inHand = new Set<number>();
  /** Whether records are being read. Those that arrive meanwhile are read after them. */
  isReading = true;
  /** The highest number that was read. */
  readTo = 0;
  /** The numbers of records that have to be read; 0: of any number. */
  readonly unread = new Set<number>();
  /** Reads what was left over; that of the node that is not closed. A node that opens reads by itself. */
  read: (() => void) | undefined;
  #again: NodeJS.Timeout | undefined;

  /**
   * To be called for a record that is in the store, or may be, and that nobody has in hand: it has to be read there. 0 if its
   * number is not known.
   */
  leaveUnread(recordId: number): void {
    if (this.unread.size < mostUnread) {
      this.unread.add(recordId);
    } else {
      this.unread.clear();
      this.unread.add(0);
    }
    if (!this.isReading) {
      this.isReading = true;
      this.read?.();
    }
  }

  /**
   * To be called if the database has not answered: PostgreSQL may commit much later what nobody can see until then. Each look comes
   * after twice the pause, so what is committed within a day is found soon, however long that took. Each reads all records.
   */
  leaveUnanswered(): void {
    this.#look(firstAgainMs, latestCommitMs);
  }

  /** Also while the store has no reader: a deploy may be about to open one. */
  #look(pauseMs: number, leftMs: number): void {
    this.leaveUnread(0);
    clearTimeout(this.#again);
    if (leftMs > 0) {
      const again = (): void => this.#look(Math.min(pauseMs * 2, longestAgainMs), leftMs - pauseMs);
      this.#again = setTimeout(again, pauseMs).unref();
    }
  }
}
