import type { NodeAPI } from "node-red";

/**
 * Notifies nodes of one type, each once, that the flows have started or are about to stop. They share one listener,
 * because Node-RED's event emitter would warn of a leak at eleven of them.
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

  /** Returns a function that cancels the notification. */
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

/**
 * Calls `onStarted` after each start of the flows and `onStopping` before each stop, until the returned function is
 * called.
 */
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
