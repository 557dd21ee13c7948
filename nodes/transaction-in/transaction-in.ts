import type { Node, NodeAPI, NodeDef } from "node-red";
import { openOrExplain } from "../../src/runtime/config/config-node.ts";
import { Seldom } from "../../src/runtime/status/seldom.ts";
import { StatusBoard } from "../../src/runtime/status/status-board.ts";
import { translateError, translateStatus, translateValue } from "../../src/runtime/status/translate.ts";
import { readWebhook } from "../../src/runtime/config/webhook-settings.ts";
import { partBehind, WebhookPaths, type Handler } from "../../src/webhook/paths.ts";
import { WebhookReceiver, type Refusal, type WebhookMemory } from "../../src/webhook/receiver.ts";
import { readCurrent } from "../../src/runtime/action/saved-properties.ts";
import { defaults, type TransactionInProperties } from "./transaction-in.shared.ts";

interface TransactionInCredentials {
  secret: string;
}

const refusals = {
  secret: "refusedSecret",
  record: "refusedRecord",
  full: "failed.ERR_QUEUE_FULL",
} as const satisfies Record<Refusal, string>;

/** `dimensioner-transaction-in`: what the cloud's webhook tells of a measurement becomes a message. */
export default function (RED: NodeAPI): void {
  const paths = new WebhookPaths();
  /** What a node leaves, in a deploy or a restart of the flows, to the one that takes its place. */
  const memories = new Map<string, WebhookMemory>();

  function TransactionInNode(
    this: Node<TransactionInCredentials>,
    config: NodeDef & Partial<TransactionInProperties>,
  ): void {
    RED.nodes.createNode(this, config);
    const status = new StatusBoard(RED, this);
    const webhook = openOrExplain(() =>
      readWebhook(readCurrent(defaults, config), this.credentials?.secret ?? ""),
    );
    if ("problem" in webhook) {
      status.say("failed", "failed.ERR_CONFIG");
      this.warn(translateError(RED, webhook.problem).message);
      return;
    }
    const seldom = new Seldom();
    let received = 0;

    const receiver = new WebhookReceiver(
      webhook.rules,
      {
        deliver: (record, waiting) => {
          const { transactionId, transactionReference, barcodeReference } = record;
          this.send({ payload: record, transactionId, transactionReference, barcodeReference });
          received++;
          if (waiting > 0) {
            status.say("waiting", "waitingInQueue", { count: waiting });
          } else {
            status.say("done", "received", { count: received });
          }
        },
        refused: (refusal, problem) => {
          status.say("failed", refusals[refusal]);
          if (seldom.isDue(refusal)) {
            const text = translateStatus(RED, refusals[refusal]);
            this.warn(problem === undefined ? text : `${text} (${translateValue(RED, problem)})`);
          }
        },
      },
      memories.get(this.id),
    );
    memories.delete(this.id);

    /** Also in the log: nobody may look at this flow when it is deployed. */
    const complain = (key: "noWebServer" | "pathTaken"): void => {
      status.say("failed", key);
      this.warn(translateStatus(RED, key));
    };
    const handle: Handler = (request, response) => {
      receiver
        .receive(request, response, partBehind(webhook.path, request.url))
        .catch((error: unknown) => this.error(error instanceof Error ? error.message : String(error)));
    };
    const release = isServed(RED)
      ? paths.claim({
          path: webhook.path,
          app: RED.httpNode,
          handlers: [...middleware(RED), handle],
          onServed: () => status.say("done", "ready"),
          onTaken: () => complain("pathTaken"),
        })
      : () => undefined;
    if (!isServed(RED)) {
      complain("noWebServer");
    }

    this.on("close", (removed: boolean, done: () => void) => {
      release();
      status.close();
      const memory = receiver.close();
      const count = memory.waiting.length;
      if (!removed) {
        memories.set(this.id, memory);
      }
      if (count > 0) {
        this.warn(translateStatus(RED, "undelivered", { count }));
      }
      done();
    });
  }

  RED.nodes.registerType("dimensioner-transaction-in", TransactionInNode, {
    credentials: { secret: { type: "password" } },
  });
}

/** A site can switch off everything that flows serve. */
function isServed(RED: NodeAPI): boolean {
  const root: unknown = RED.settings.httpNodeRoot;
  return root !== false;
}

/** What the site puts before everything that flows serve, its own login for instance. */
function middleware(RED: NodeAPI): Handler[] {
  const given: unknown = Reflect.get(RED.settings, "httpNodeMiddleware");
  const list: unknown[] = Array.isArray(given) ? given : [given];
  return list.filter((one): one is Handler => typeof one === "function");
}
