/** What the bodies that have not come to their end may take together, for all webhooks of a runtime. */
const bodyLimits = { bodies: 500, bytes: 32_000_000 } as const;

/** Counts the bodies under way, so that senders that begin many and end none cannot fill the memory. */
export class BodyBudget {
  readonly #most: { readonly bodies: number; readonly bytes: number };
  #bodies = 0;
  #bytes = 0;

  constructor(most: { readonly bodies: number; readonly bytes: number } = bodyLimits) {
    this.#most = most;
  }

  /** Room for one more body; undefined when there is none. */
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

/** The place of one body; closed once, when the body has come to its end or is given up. */
export interface BodyRoom {
  /** False when so many bytes more would be too many. */
  take(bytes: number): boolean;
  close(): void;
}
