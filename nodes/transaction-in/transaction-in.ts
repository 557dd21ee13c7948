import type { Node, NodeAPI, NodeDef } from "node-red";
import { openOrExplain } from "../../src/runtime/config/config-node.ts";
import { FlowsEvent } from "../../src/runtime/config/flows-event.ts";
import { LogThrottle } from "../../src/runtime/status/log-throttle.ts";
import { StatusBoard } from "../../src/runtime/status/status-board.ts";
import { translateError, translateStatus, translateValue } from "../../src/runtime/status/translate.ts";
import { SettingsReader } from "../../src/runtime/config/settings.ts";
import { RecordSender } from "../../src/runtime/webhook/record-sender.ts";
import { readWebhook } from "../../src/runtime/webhook/webhook-settings.ts";
import { BodyBudget } from "../../src/webhook/body-budget.ts";
import { partBehind, WebhookPaths, type Handler } from "../../src/webhook/paths.ts";
import { WebhookMemory, WebhookReceiver, type Refusal } from "../../src/webhook/receiver.ts";
import { readCurrent } from "../../src/runtime/action/saved-properties.ts";
import { defaults, properties, type TransactionInProperties } from "./transaction-in.shared.ts";

interface TransactionInCredentials {
  secret: string;
}

const refusals = {
  secret: "refusedSecret",
  record: "refusedRecord",
  full: "failed.ERR_QUEUE_FULL",
} as const satisfies Record<Refusal, string>;

/** What a node has taken, over deploys and restarts of the flows. */
interface Held {
  readonly memory: WebhookMemory;
  /** Whether the node is there; between two of them, nobody is. */
  isOwned: boolean;
}

/** `dimensioner-transaction-in`: what the cloud's webhook tells of a measurement becomes a message. */
export default function (RED: NodeAPI): void {
  const paths = new WebhookPaths();
  const budget = new BodyBudget();
  const started = new FlowsEvent(RED, "flows:started");
  const stopping = new FlowsEvent(RED, "flows:stopping");
  const held = new Map<string, Held>();

  /** After a deploy: what belongs to no node any more goes. */
  const settle = (): void => {
    paths.settle();
    for (const [id, { memory, isOwned }] of held) {
      if (!isOwned) {
        held.delete(id);
        if (memory.queue.size > 0) {
          const text = translateStatus(RED, "undelivered", { count: memory.queue.size });
          RED.log.warn(`[dimensioner-transaction-in:${id}] ${text}`);
        }
      }
    }
  };

  function TransactionInNode(
    this: Node<TransactionInCredentials>,
    config: NodeDef & Partial<TransactionInProperties>,
  ): void {
    RED.nodes.createNode(this, config);
    const status = new StatusBoard(RED, this);
    const own: Held = { memory: held.get(this.id)?.memory ?? new WebhookMemory(), isOwned: true };
    held.set(this.id, own);
    this.on("close", () => {
      own.isOwned = false;
      started.next(settle);
      status.close();
    });
    const webhook = openOrExplain(() =>
      readWebhook(
        new SettingsReader("webhook").read(properties, readCurrent(defaults, config)),
        this.credentials?.secret ?? "",
      ),
    );
    if ("problem" in webhook) {
      status.say("failed", "failed.ERR_CONFIG");
      this.warn(translateError(RED, webhook.problem).message);
      return;
    }
    const throttle = new LogThrottle();
    let received = 0;

    const sender = new RecordSender(RED, this, started, (waiting) => {
      received++;
      if (waiting > 0) {
        status.say("waiting", "waitingInQueue", { count: waiting });
      } else {
        status.say("done", "received", { count: received });
      }
    });
    const receiver = new WebhookReceiver(
      webhook.rules,
      {
        deliver: (record, waiting) => sender.deliver(record, waiting),
        unreached: () => sender.unreached(),
        refused: (refusal, problem) => {
          status.say("failed", refusals[refusal]);
          if (throttle.isDue(refusal)) {
            const text = translateStatus(RED, refusals[refusal]);
            this.warn(problem === undefined ? text : `${text} (${translateValue(RED, problem)})`);
          }
        },
      },
      own.memory,
      budget,
    );

    // While the flows stop and start, some of the nodes behind this one are not there, whatever is deployed.
    let forget: () => void;
    const awaitStart = (): void => {
      forget = started.next(() => {
        receiver.resume();
        forget = stopping.next(() => {
          receiver.hold();
          sender.stopping();
          awaitStart();
        });
      });
    };
    awaitStart();

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
    const leave = isServed(RED)
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

    this.on("close", () => {
      forget();
      leave();
      receiver.close();
      if (receiver.waiting > 0) {
        this.warn(translateStatus(RED, "undelivered", { count: receiver.waiting }));
      }
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
