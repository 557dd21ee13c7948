import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { startSimulator, type Simulator, type SurfaceName } from "../../src/simulator/index.ts";
import { token } from "../support/operations.ts";
import { startServer, type RawServer } from "../support/servers.ts";
import { WebhookServer } from "./webhook-server.ts";
import { Relay } from "./relay.ts";
import type { StepWatch } from "./steps.ts";

export const relayNames = ["newer", "earlier", "cloud", "webhook"] as const;
export type RelayName = (typeof relayNames)[number];

/** A simulator behind relays of our own, for one case after the other. */
export class Testbed {
  readonly sim: Simulator;
  readonly relays: Readonly<Record<RelayName, Relay>>;
  readonly webhook: WebhookServer;
  /** Where redirects lead; nobody may ever come here. */
  readonly elsewhere: RawServer;
  readonly watch: StepWatch;
  readonly #holder: Socket;

  private constructor(
    parts: Pick<Testbed, "elsewhere" | "webhook" | "relays" | "sim" | "watch"> & { readonly holder: Socket },
  ) {
    this.sim = parts.sim;
    this.relays = parts.relays;
    this.webhook = parts.webhook;
    this.elsewhere = parts.elsewhere;
    this.watch = parts.watch;
    this.#holder = parts.holder;
  }

  /** Nothing listens there, and nobody else gets this port: a connection of ours goes out from it. */
  get deadPort(): number {
    return this.#holder.localPort ?? 0;
  }

  static async open(watch: StepWatch): Promise<Testbed> {
    const sim = await startSimulator({ token, mode: "video-only" });
    const webhook = await WebhookServer.start();
    const relays = {
      newer: await Relay.start(sim.newer.port),
      earlier: await Relay.start(sim.earlier.port),
      cloud: await Relay.start(sim.cloud.port),
      webhook: await Relay.start(webhook.port),
    };
    const elsewhere = await startServer(() => undefined);
    const holder = connect(webhook.port, "127.0.0.1");
    await once(holder, "connect");
    return new Testbed({ sim, webhook, elsewhere, watch, holder, relays });
  }

  /** What a peer answers when it is asked without any relay. */
  async ask(surface: SurfaceName, path: string): Promise<Buffer> {
    const headers = surface === "cloud" ? { authorization: `Bearer ${token}` } : {};
    const request = get(this.sim[surface].origin + path, { agent: false, headers });
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    if (answer.statusCode !== 200) {
      throw new Error(`${path}: ${answer.statusCode}`);
    }
    return await buffer(answer);
  }

  async close(): Promise<void> {
    this.#holder.destroy();
    await Promise.all(
      [...Object.values(this.relays), this.elsewhere, this.webhook, this.sim].map((one) => one.close()),
    );
  }
}
