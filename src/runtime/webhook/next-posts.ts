import type { NodeAPI } from "node-red";
import type { Problem } from "../../errors/interpolation.ts";
import { answerWith } from "../admin/admin-route.ts";

/** What has become of a post: a record, or the key of the status that says why it was refused, with what is wrong. */
export type NextPost =
  | { readonly said: "record"; readonly record: object }
  | { readonly said: "refused"; readonly key: string; readonly problem: Problem | null };

type Answer = NextPost | { readonly said: "none" | "notDeployed" };

/** A person waits no longer for a button. */
const longestWaitMs = 60_000;

/** Lets the dialog of a webhook's node wait for the next post, so that somebody who sets it up sees what the cloud sends. */
export class NextPosts {
  /** By node: how many of this ID exist, which is two for a moment in a deploy, and who waits. */
  readonly #nodes = new Map<string, { count: number; readonly waiting: Set<(post: NextPost) => void> }>();

  constructor(RED: NodeAPI) {
    RED.httpAdmin.get(
      "/dimensioner-transaction-in/:id/next",
      RED.auth.needsPermission("dimensioner-transaction-in.read"),
      answerWith((request, signal) => this.#next(String(request.params["id"]), signal)),
    );
  }

  /** To be called when a node begins. Returns a function to be called when it closes. */
  enter(nodeId: string): () => void {
    const node = this.#nodes.get(nodeId) ?? { count: 0, waiting: new Set() };
    this.#nodes.set(nodeId, node);
    node.count += 1;
    return () => {
      node.count -= 1;
      if (node.count === 0 && node.waiting.size === 0) {
        this.#nodes.delete(nodeId);
      }
    };
  }

  /** Shows a post to all who wait for it. */
  tell(nodeId: string, post: NextPost): void {
    this.#nodes.get(nodeId)?.waiting.forEach((show) => show(post));
  }

  async #next(nodeId: string, signal: AbortSignal): Promise<Answer> {
    const node = this.#nodes.get(nodeId);
    if (node === undefined || node.count === 0) {
      return { said: "notDeployed" };
    }
    const { waiting } = node;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const end = (): void => resolve({ said: "none" });
    const timer = setTimeout(end, longestWaitMs);
    signal.addEventListener("abort", end);
    waiting.add(resolve);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      waiting.delete(resolve);
    }
  }
}
