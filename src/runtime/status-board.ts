import type { Node, NodeAPI } from "node-red";
import type { StatusKey } from "./status-texts.ts";
import { translateStatus } from "./translate.ts";

type Look = "working" | "waiting" | "done" | "failed";

const looks = {
  working: { fill: "blue", shape: "dot" },
  waiting: { fill: "yellow", shape: "ring" },
  done: { fill: "green", shape: "dot" },
  failed: { fill: "red", shape: "ring" },
} as const;

/** Longest text that the workspace shows whole. */
const longestText = 31;
/** The editor gets at most this many updates a second from one node; what comes faster is merged into the last. */
const updatesPerSecond = 4;
/** So many may come at once before that, so that the steps of a single message are all seen. */
const burst = 8;

/** What a node shows under itself. */
export class StatusBoard {
  readonly #RED: NodeAPI;
  readonly #node: Node;
  #budget = burst;
  #filledAt = performance.now();
  #next: { look: Look; text: string } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(RED: NodeAPI, node: Node) {
    this.#RED = RED;
    this.#node = node;
  }

  say(look: Look, key: StatusKey, values: Readonly<Record<string, string | number>> = {}): void {
    this.show(look, translateStatus(this.#RED, key, values));
  }

  show(look: Look, text: string): void {
    if (this.#isClosed) {
      return;
    }
    this.#refill();
    if (this.#timer === undefined && this.#budget >= 1) {
      this.#budget--;
      this.#publish(look, text);
      return;
    }
    this.#next = { look, text };
    this.#timer ??= setTimeout(() => this.#publishNext(), 1000 / updatesPerSecond);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
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
      this.#publish(next.look, next.text);
    }
  }

  #publish(look: Look, text: string): void {
    this.#node.status({ ...looks[look], text: text.slice(0, longestText) });
  }
}
