import { WebhookMemory } from "../../webhook/record-intake.ts";

/** The use of a node's memory, until the node is closed. */
interface HeldMemory {
  readonly memory: WebhookMemory;
  /** To be called when the node is closed; another one with the same id may continue. */
  release(): void;
}

/** Records that were accepted for a deleted node and will not be sent. */
interface Abandoned {
  readonly nodeId: string;
  readonly records: number;
}

/** The memories of all webhooks of a runtime, by node. Deploys and restarts of the flows keep them. */
export class WebhookMemories {
  readonly #held = new Map<string, { readonly memory: WebhookMemory; isOwned: boolean }>();

  /** Returns the memory of the earlier node with this id, or a new one. */
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

  /** Deletes the memories of deleted nodes, once the nodes of a deploy exist; returns what is lost by that. */
  settle(): readonly Abandoned[] {
    const gone = [...this.#held].filter(([, { isOwned }]) => !isOwned);
    gone.forEach(([nodeId]) => this.#held.delete(nodeId));
    return gone
      .map(([nodeId, { memory }]) => ({ nodeId, records: memory.queue.size }))
      .filter(({ records }) => records > 0);
  }
}
