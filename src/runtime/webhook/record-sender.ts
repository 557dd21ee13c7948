import type { Node, NodeAPI, NodeMessage } from "node-red";
import type { Target } from "../../webhook/delivery-queue.ts";
import type { Received } from "../../webhook/record-intake.ts";
import type { FlowsEvent } from "../config/flows-event.ts";

/** A message that was sent, and which nodes received it. */
interface Sent {
  readonly received: Received;
  reached: number;
  /** Messages that were not delivered because their nodes had been closed. */
  readonly missed: { readonly nodeId: string; readonly msg: NodeMessage }[];
}

/**
 * Sends records into the flow so that a deploy loses none. Node-RED delivers a message one turn of the event loop after
 * it was sent. If the flows stop in between, the next node is closed by then and would drop the message: so it is not
 * delivered, and is sent again when the flows have started, to the nodes that did not get it.
 */
export class RecordSender implements Target<Received> {
  readonly #RED: NodeAPI;
  readonly #node: Node;
  readonly #started: FlowsEvent;
  readonly #onSent: (received: Received, waiting: number) => void;
  readonly #hook: string;
  readonly #sent = new Map<string, Sent>();
  #late: { readonly nodeId: string; readonly msg: NodeMessage }[] = [];
  #isStopping = false;

  constructor(
    RED: NodeAPI,
    node: Node,
    started: FlowsEvent,
    onSent: (received: Received, waiting: number) => void,
  ) {
    this.#RED = RED;
    this.#node = node;
    this.#started = started;
    this.#onSent = onSent;
    // The label of a hook must not contain a dot, which old ids have.
    this.#hook = `onReceive.dimensioner-${node.id.replaceAll(".", "-")}`;
  }

  /** Sends one record. It never throws, because nothing above it would catch an error. */
  deliver(received: Received, waiting: number): void {
    const { record, isResumed } = received;
    const { transactionId, transactionReference, barcodeReference } = record;
    const _msgid = this.#RED.util.generateId();
    const names = { _msgid, transactionId, transactionReference, barcodeReference };
    this.#sent.set(_msgid, { received, reached: 0, missed: [] });
    try {
      this.#node.send({ ...names, payload: record, ...(isResumed ? { resumed: true } : {}) });
      this.#onSent(received, waiting);
    } catch (error) {
      // Without the payload: a Catch node gets a copy of the message, and copying may be what failed.
      this.#node.error(error, names);
    }
  }

  /** To be called when the flows are about to stop, before any node is closed. */
  stopping(): void {
    this.#isStopping = true;
    this.#started.next(() => {
      this.#isStopping = false;
      this.#sendLate();
    });
    if (this.#sent.size > 0) {
      this.#RED.hooks.add(
        this.#hook,
        (event: { msg: NodeMessage; destination: { id: string; node: Node } }) => this.#onReceive(event),
      );
    }
  }

  unreached(): readonly Received[] {
    this.#RED.hooks.remove(this.#hook);
    const touched = [...this.#sent.values()].filter(({ missed }) => missed.length > 0);
    this.#sent.clear();
    this.#late.push(...touched.filter(({ reached }) => reached > 0).flatMap(({ missed }) => missed));
    if (!this.#isStopping) {
      this.#sendLate();
    }
    return touched.filter(({ reached }) => reached === 0).map(({ received }) => received);
  }

  /** Returns false if the message must not be delivered. */
  #onReceive({
    msg,
    destination: { id, node },
  }: {
    msg: NodeMessage;
    destination: { id: string; node: Node };
  }): false | undefined {
    const sent = this.#sent.get(msg._msgid ?? "");
    if (sent === undefined) {
      return undefined;
    }
    if (this.#RED.nodes.getNode(id) === node) {
      sent.reached++;
      return undefined;
    }
    sent.missed.push({ nodeId: id, msg });
    return false;
  }

  /** Sends a message again to those of its receivers that still exist. */
  #sendLate(): void {
    for (const { nodeId, msg } of this.#late.splice(0)) {
      this.#RED.nodes.getNode(nodeId)?.receive(msg);
    }
  }
}
