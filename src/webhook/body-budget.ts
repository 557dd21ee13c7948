/** Limits of all bodies together that are being received, for all webhooks of a runtime. */
const bodyLimits = { bodies: 500, bytes: 32_000_000 } as const;

/**
 * Counts the bodies that are being received, so that senders that begin many and finish none cannot fill the memory.
 */
export class BodyBudget {
  readonly #most: { readonly bodies: number; readonly bytes: number };
  #bodies = 0;
  #bytes = 0;

  constructor(most: { readonly bodies: number; readonly bytes: number } = bodyLimits) {
    this.#most = most;
  }

  /** Reserves the place of one more body; undefined if there is none. */
  open(): BodyRoom | undefined {
    if (this.#bodies >= this.#most.bodies) {
      return undefined;
    }
    this.#bodies++;
    let taken = 0;
    return {
      take: (bytes) => {
        if (this.#bytes + bytes > this.#most.bytes) {
          return false;
        }
        taken += bytes;
        this.#bytes += bytes;
        return true;
      },
      close: () => {
        this.#bodies--;
        this.#bytes -= taken;
        taken = 0;
      },
    };
  }
}

/** The place of one body; to be closed once, when the body is complete or given up. */
export interface BodyRoom {
  /** Reserves bytes; returns false if they would exceed the limit. */
  take(bytes: number): boolean;
  close(): void;
}
