import type { Node, NodeAPI } from "node-red";
import { onOneLine } from "../../errors/interpolation.ts";
import type { StatusKey } from "./status-texts.ts";
import { languageOf, translateStatus, type StatusValues } from "./translate.ts";

type Look = "working" | "waiting" | "done" | "failed";

const looks = {
  working: { fill: "blue", shape: "dot" },
  waiting: { fill: "yellow", shape: "ring" },
  done: { fill: "green", shape: "dot" },
  failed: { fill: "red", shape: "ring" },
} as const;

/** Longest text that the workspace shows whole. */
export const longestText = 31;
/** The editor gets at most this many updates a second from one node; what comes faster is merged into the last. */
const updatesPerSecond = 4;
/** So many may come at once before that, so that the steps of a single message are all seen. */
const burst = 8;

interface Showing {
  readonly look: Look;
  /** Called only if it comes to be seen: most of what a busy node says does not. */
  readonly text: () => string;
}

/** One thing that was said. */
export type Said = object;

/** What a node shows under itself. */
export class StatusBoard {
  readonly #RED: NodeAPI;
  readonly #node: Node;
  #budget = burst;
  #filledAt = performance.now();
  #next: Showing | undefined;
  #said: Said | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(RED: NodeAPI, node: Node) {
    this.#RED = RED;
    this.#node = node;
  }

  /** Returns what `replace` takes. */
  say(look: Look, key: StatusKey, values: StatusValues = {}): Said {
    return this.#show({ look, text: () => translateStatus(this.#RED, key, values) });
  }

  /** A text that no catalog has. */
  show(look: Look, textIn: (language: string) => string): Said {
    return this.#show({ look, text: () => textIn(languageOf(this.#RED)) });
  }

  /** Says something in place of what was said before; nothing where the node has said something else since. */
  replace(said: Said, look: Look, key: StatusKey): void {
    if (said === this.#said) {
      this.say(look, key);
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #show(showing: Showing): Said {
    this.#said = showing;
    this.#submit(showing);
    return showing;
  }

  #submit(showing: Showing): void {
    if (this.#isClosed) {
      return;
    }
    if (this.#timer !== undefined) {
      this.#next = showing;
      return;
    }
    this.#refill();
    if (this.#budget >= 1) {
      this.#budget--;
      this.#publish(showing);
      return;
    }
    this.#next = showing;
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

  #publish({ look, text }: Showing): void {
    this.#node.status({ ...looks[look], text: onOneLine(text()).slice(0, longestText).toWellFormed() });
  }
}
