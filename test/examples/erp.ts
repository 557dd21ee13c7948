import { EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { FlowNode } from "../support/examples.ts";

/** An ERP that receives a POST to /<what has become of the parcel>/<reference> for each parcel. */
export class Erp {
  /** The posts that it has received: “confirmed ORDER-1”. */
  readonly told: string[] = [];
  readonly #events = new EventEmitter();
  readonly #server = createServer((request, response) => {
    this.told.push(decodeURIComponent((request.url ?? "").slice(1).replace("/", " ")));
    this.#events.emit("told");
    request.resume();
    response.writeHead(204).end();
  });

  /** Returns its address. */
  async open(): Promise<string> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Waits until it has received this many posts: the screen may show what has become of a parcel before the ERP is told. */
  async untilTold(count: number): Promise<void> {
    while (this.told.length < count) {
      await once(this.#events, "told");
    }
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** The packing station with an ERP in the place of its node “Parcel is done”, as docs/station.md says. */
export function withErp(nodes: readonly FlowNode[], origin: string): FlowNode[] {
  const request = {
    type: "http request",
    method: "POST",
    ret: "txt",
    paytoqs: "ignore",
    url: `${origin}/{{topic}}/{{transactionReference}}`,
    persist: false,
    senderr: false,
    headers: [],
  };
  return nodes.map((node) => (node.name === "Parcel is done" ? { ...node, ...request, wires: [[]] } : node));
}
