import type { NodeAPI } from "node-red";

/**
 * Tells nodes of one type that the flows have started, or are about to stop, each once. They share one listener:
 * Node-RED's events would warn of a leak where eleven nodes have one each.
 */
export class FlowsEvent {
  readonly #RED: NodeAPI;
  readonly #event: string;
  readonly #waiting = new Set<() => void>();
  readonly #onEvent = (): void => {
    const all = [...this.#waiting];
    this.#waiting.clear();
    all.forEach((act) => act());
  };

  constructor(RED: NodeAPI, event: "flows:started" | "flows:stopping") {
    this.#RED = RED;
    this.#event = event;
  }

  /** Returns what takes the wish back. */
  next(act: () => void): () => void {
    if (this.#waiting.size === 0) {
      this.#RED.events.off(this.#event, this.#onEvent);
      this.#RED.events.once(this.#event, this.#onEvent);
    }
    this.#waiting.add(act);
    return () => {
      this.#waiting.delete(act);
      if (this.#waiting.size === 0) {
        this.#RED.events.off(this.#event, this.#onEvent);
      }
    };
  }
}

/** Calls `onStarted` after each start of the flows and `onStopping` before each stop, until what it returns is called. */
export function followFlows(
  events: { readonly started: FlowsEvent; readonly stopping: FlowsEvent },
  { onStarted, onStopping }: { readonly onStarted: () => void; readonly onStopping: () => void },
): () => void {
  let forget: () => void;
  const awaitStart = (): void => {
    forget = events.started.next(() => {
      forget = events.stopping.next(() => {
        onStopping();
        awaitStart();
      });
      onStarted();
    });
  };
  awaitStart();
  return () => forget();
}
