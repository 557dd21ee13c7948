import { once } from "node:events";
import { createServer, request, type IncomingMessage, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { unknownDevice } from "../../src/model/instrument.ts";
import { WebhookReceiver } from "../../src/webhook/receiver.ts";
import { RecordPump } from "../../src/webhook/pump.ts";
import { Room } from "../../src/webhook/room.ts";
import { listen } from "../support/servers.ts";

const rules = {
  secret: { in: "header", name: "x-webhook-secret", value: "known" },
  dedupeMs: 3_600_000,
  queueLimit: 100,
  onlyOk: false,
  deviceClientIds: [],
  deviceOf: () => unknownDevice,
} as const;

/** A server whose webhook can be closed and opened again, as a deploy does it. */
export class WebhookServer {
  readonly port: number;
  readonly delivered: string[] = [];
  readonly #server: Server;
  readonly #pump = new RecordPump();
  #receiver: WebhookReceiver;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
    this.#receiver = this.#open();
    server.on("request", (asked, response) => void this.#receiver.receive(asked, response, undefined));
  }

  static async start(): Promise<WebhookServer> {
    const server = createServer();
    return new WebhookServer(server, await listen(server));
  }

  /** Does what a deploy does: another receiver goes on with the records that the closed one had accepted. */
  redeploy(): void {
    this.#receiver.close();
    this.#receiver = this.#open();
  }

  async close(): Promise<void> {
    this.#receiver.close();
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  #open(): WebhookReceiver {
    const receiver = new WebhookReceiver(
      rules,
      {
        deliver: ({ record }) => void this.delivered.push(record.transactionId),
        unreached: () => [],
        refused: () => undefined,
      },
      this.#pump,
      new Room(),
    );
    receiver.resume();
    return receiver;
  }
}

/** Posts a record as the cloud does, which gives up after a while. Returns the status of the response. */
export async function post(origin: string, record: object, giveUpMs: number): Promise<number> {
  const call = request(origin, {
    agent: false,
    method: "POST",
    signal: AbortSignal.timeout(giveUpMs),
    headers: { "content-type": "application/json", [rules.secret.name]: rules.secret.value },
  });
  call.end(JSON.stringify(record));
  const [answer] = (await once(call, "response")) as [IncomingMessage];
  await text(answer);
  return answer.statusCode ?? 0;
}
