import type { Node, NodeAPI } from "node-red";
import { onOneLine } from "../../errors/interpolation.ts";
import type { StatusKey } from "./status-texts.ts";
import { languageOf, translateStatus, type StatusValues } from "./translate.ts";

type StatusStyle = "working" | "waiting" | "done" | "failed";

const styles = {
  working: { fill: "blue", shape: "dot" },
  waiting: { fill: "yellow", shape: "ring" },
  done: { fill: "green", shape: "dot" },
  failed: { fill: "red", shape: "ring" },
} as const;

/** The longest text that the editor shows completely. */
export const longestText = 31;
/** How many updates a second are sent to the editor; of more updates only the last is sent. */
const updatesPerSecond = 4;
/** How many updates may be sent at once before the limit applies, so that all steps of a single message are seen. */
const burst = 8;

interface StatusUpdate {
  readonly style: StatusStyle;
  /** Called only if the update is sent: most updates of a busy node are not. */
  readonly text: () => string;
}

/** Identifies a status that was set. */
export type ShownStatus = object;

/** The status of a node, with a limit of updates a second. */
export class NodeStatus {
  readonly #RED: NodeAPI;
  readonly #node: Node;
  #budget = burst;
  #filledAt = performance.now();
  #next: StatusUpdate | undefined;
  #shown: ShownStatus | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(RED: NodeAPI, node: Node) {
    this.#RED = RED;
    this.#node = node;
  }

  /** Sets the status to a text of the catalog. Returns what `replace` needs. */
  say(style: StatusStyle, key: StatusKey, values: StatusValues = {}): ShownStatus {
    return this.#show({ style, text: () => translateStatus(this.#RED, key, values) });
  }

  /** Sets the status to a text that is in no catalog. */
  show(style: StatusStyle, textIn: (language: string) => string): ShownStatus {
    return this.#show({ style, text: () => textIn(languageOf(this.#RED)) });
  }

  /** Replaces a status, unless another one was set meanwhile. */
  replace(shown: ShownStatus, style: StatusStyle, key: StatusKey): void {
    if (shown === this.#shown) {
      this.say(style, key);
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #show(update: StatusUpdate): ShownStatus {
    this.#shown = update;
    this.#submit(update);
    return update;
  }

  #submit(update: StatusUpdate): void {
    if (this.#isClosed) {
      return;
    }
    if (this.#timer !== undefined) {
      this.#next = update;
      return;
    }
    this.#refill();
    if (this.#budget >= 1) {
      this.#budget--;
      this.#publish(update);
      return;
    }
    this.#next = update;
    this.#timer = setTimeout(() => this.#publishNext(), 1000 / updatesPerSecond);
  }

  #refill(): void {
    const now = performance.now();
    this.#budget = Math.min(burst, this.#budget + ((now - this.#filledAt) / 1000) * updatesPerSecond);
    this.#filledAt = now;
  }

  #publishNext(): void {
    this.#timer = undefined;
    const next = this.#next;
    this.#next = undefined;
    if (next !== undefined) {
      this.#publish(next);
    }
  }

  #publish({ style, text }: StatusUpdate): void {
    this.#node.status({ ...styles[style], text: onOneLine(text()).slice(0, longestText).toWellFormed() });
  }
}
