import type { NodeAPI } from "node-red";

/**
 * Tells nodes of one type that the flows have started, each once. They share one listener: Node-RED's events would warn of
 * a leak where eleven nodes have one each.
 */
export class FlowsStarted {
  readonly #RED: NodeAPI;
  readonly #waiting = new Set<() => void>();
  readonly #onStarted = (): void => {
    const all = [...this.#waiting];
    this.#waiting.clear();
    all.forEach((act) => act());
  };

  constructor(RED: NodeAPI) {
    this.#RED = RED;
  }

  /** Returns what takes the wish back. */
  next(act: () => void): () => void {
    if (this.#waiting.size === 0) {
      this.#RED.events.off("flows:started", this.#onStarted);
      this.#RED.events.once("flows:started", this.#onStarted);
    }
    this.#waiting.add(act);
    return () => {
      this.#waiting.delete(act);
      if (this.#waiting.size === 0) {
        this.#RED.events.off("flows:started", this.#onStarted);
      }
    };
  }
}
