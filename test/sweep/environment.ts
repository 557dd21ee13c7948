import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { startSimulator, type Simulator, type SurfaceName } from "../../src/simulator/index.ts";
import { token } from "../support/operations.ts";
import { startServer, type RawServer } from "../support/servers.ts";
import { WebhookServer } from "./webhook-server.ts";
import { FaultProxy } from "./fault-proxy.ts";
import type { StepWatch } from "./steps.ts";

export const proxyNames = ["newer", "earlier", "cloud", "webhook"] as const;
export type ProxyName = (typeof proxyNames)[number];

/** A simulator behind proxies that can fail, used for one case after the other. */
export class SweepEnvironment {
  readonly sim: Simulator;
  readonly proxies: Readonly<Record<ProxyName, FaultProxy>>;
  readonly webhook: WebhookServer;
  /** Where redirects lead; no client may ever connect to it. */
  readonly redirectTarget: RawServer;
  readonly watch: StepWatch;
  readonly #portHolder: Socket;

  private constructor(
    parts: Pick<SweepEnvironment, "redirectTarget" | "webhook" | "proxies" | "sim" | "watch"> & {
      readonly portHolder: Socket;
    },
  ) {
    this.sim = parts.sim;
    this.proxies = parts.proxies;
    this.webhook = parts.webhook;
    this.redirectTarget = parts.redirectTarget;
    this.watch = parts.watch;
    this.#portHolder = parts.portHolder;
  }

  /** A port on which nothing listens. An open connection was bound to it, so that no other connection gets it. */
  get unusedPort(): number {
    return this.#portHolder.localPort ?? 0;
  }

  static async open(watch: StepWatch): Promise<SweepEnvironment> {
    const sim = await startSimulator({ token, mode: "video-only" });
    const webhook = await WebhookServer.start();
    const proxies = {
      newer: await FaultProxy.start(sim.newer.port),
      earlier: await FaultProxy.start(sim.earlier.port),
      cloud: await FaultProxy.start(sim.cloud.port),
      webhook: await FaultProxy.start(webhook.port),
    };
    const redirectTarget = await startServer(() => undefined);
    // With its address bound. A port that the system chose while connecting may be given to a connection to this very port.
    const portHolder = connect({ port: webhook.port, host: "127.0.0.1", localAddress: "127.0.0.1" });
    await once(portHolder, "connect");
    return new SweepEnvironment({ sim, webhook, redirectTarget, watch, portHolder, proxies });
  }

  /** The body of a peer's response, without any proxy. */
  async fetchDirectly(surface: SurfaceName, path: string): Promise<Buffer> {
    const headers = surface === "cloud" ? { authorization: `Bearer ${token}` } : {};
    const request = get(this.sim[surface].origin + path, { agent: false, headers });
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    if (answer.statusCode !== 200) {
      throw new Error(`${path}: ${answer.statusCode}`);
    }
    return await buffer(answer);
  }

  async close(): Promise<void> {
    this.#portHolder.destroy();
    await Promise.all(
      [...Object.values(this.proxies), this.redirectTarget, this.webhook, this.sim].map((one) => one.close()),
    );
  }
}
