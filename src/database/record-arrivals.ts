import type { TransactionRecord } from "../model/shapes.ts";

type Listener = (record: TransactionRecord) => void;

/** Notifies those who wait for a record when this process has put it into the database. */
export class RecordArrivals {
  readonly #listeners = new Map<string, Set<Listener>>();

  /** Calls the listener for each record with one of these references, until the returned function is called. */
  on(references: readonly string[], listener: Listener): () => void {
    for (const reference of references) {
      const listeners = this.#listeners.get(reference) ?? new Set();
      this.#listeners.set(reference, listeners.add(listener));
    }
    return () => {
      for (const reference of references) {
        const listeners = this.#listeners.get(reference);
        listeners?.delete(listener);
        if (listeners?.size === 0) {
          this.#listeners.delete(reference);
        }
      }
    };
  }

  tell(record: TransactionRecord): void {
    const { transactionReference, customReference1, customReference2, customReference3 } = record;
    const references = [transactionReference, customReference1, customReference2, customReference3];
    const listeners = references.flatMap((reference) => [...(this.#listeners.get(reference ?? "") ?? [])]);
    new Set(listeners).forEach((listener) => listener(record));
  }
}
