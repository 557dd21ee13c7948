import { WebhookMemory } from "../../webhook/record-intake.ts";

/** The memory of one node, for as long as the node is there. */
interface HeldMemory {
  readonly memory: WebhookMemory;
  /** The node has been closed; one with the same id may take its place. */
  release(): void;
}

/** Records that were taken for a node that is gone, and that nobody hands on any more. */
interface Abandoned {
  readonly nodeId: string;
  readonly records: number;
}

/** What the webhooks of a runtime have taken, by node, over deploys and restarts of the flows. */
export class WebhookMemories {
  readonly #held = new Map<string, { readonly memory: WebhookMemory; isOwned: boolean }>();

  /** The memory of the node that had this id before, or a new one. */
  hold(nodeId: string): HeldMemory {
    const own = { memory: this.#held.get(nodeId)?.memory ?? new WebhookMemory(), isOwned: true };
    this.#held.set(nodeId, own);
    return {
      memory: own.memory,
      release: () => {
        own.isOwned = false;
      },
    };
  }

  /** Forgets what belongs to no node, once the nodes of a deploy are there; returns what is lost by that. */
  settle(): readonly Abandoned[] {
    const gone = [...this.#held].filter(([, { isOwned }]) => !isOwned);
    gone.forEach(([nodeId]) => this.#held.delete(nodeId));
    return gone
      .map(([nodeId, { memory }]) => ({ nodeId, records: memory.queue.size }))
      .filter(({ records }) => records > 0);
  }
}
