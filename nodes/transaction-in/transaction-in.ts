import { randomUUID } from "node:crypto";
import type { Node, NodeAPI, NodeDef } from "node-red";
import { phrase } from "../../src/errors/interpolation.ts";
import { refuseNewer, readSaved } from "../../src/runtime/action/saved-properties.ts";
import { noConfig } from "../../src/runtime/config/no-config.ts";
import { serve } from "../../src/runtime/action/serve.ts";
import { ValueReader } from "../../src/runtime/action/values.ts";
import { errorBeforeSending } from "../../src/runtime/failure.ts";
import { readParcel } from "../../src/runtime/archive/archive-facts.ts";
import type { Message } from "../../src/runtime/messages.ts";
import { storeOf } from "../../src/runtime/store/store-choice.ts";
import { keepRecords } from "../../src/runtime/webhook/keep-records.ts";
import type { StoredRecords } from "../../src/runtime/webhook/stored-records.ts";
import { openOrExplain } from "../../src/runtime/config/config-node.ts";
import { followFlows, FlowsEvent } from "../../src/runtime/config/flows-event.ts";
import { CloudDevices } from "../../src/runtime/config/instrument.ts";
import { LogThrottle } from "../../src/runtime/status/log-throttle.ts";
import { NodeStatus } from "../../src/runtime/status/node-status.ts";
import { translateError, translateStatus, translateValue } from "../../src/runtime/status/translate.ts";
import { SettingsReader } from "../../src/runtime/config/settings.ts";
import { RecordSender } from "../../src/runtime/webhook/record-sender.ts";
import { servePath } from "../../src/runtime/web/serve-path.ts";
import { partBehind, ServedPaths } from "../../src/runtime/web/served-paths.ts";
import { WebhookMemories } from "../../src/runtime/webhook/webhook-memories.ts";
import { readWebhook } from "../../src/runtime/webhook/webhook-settings.ts";
import { BodyBudget } from "../../src/webhook/body-budget.ts";
import { WebhookReceiver, type Refusal } from "../../src/webhook/receiver.ts";
import { defaults, properties, type TransactionInProperties } from "./transaction-in.shared.ts";

interface TransactionInCredentials {
  secret: string;
}

const refusals = {
  method: "refusedRecord",
  secret: "refusedSecret",
  record: "refusedRecord",
  full: "failed.ERR_QUEUE_FULL",
  store: "failed.ERR_STORE",
} as const satisfies Record<Refusal, string>;

const operation = { operation: "transaction in", surface: "config", acts: false } as const;

/** `dimensioner-transaction-in`: sends a message for each measurement that the cloud's webhook reports. */
export default function (RED: NodeAPI): void {
  /** Different for each start of the process: what an earlier process sent may have been lost with it. */
  const runId = randomUUID();
  const budget = new BodyBudget();
  const flows = {
    started: new FlowsEvent(RED, "flows:started"),
    stopping: new FlowsEvent(RED, "flows:stopping"),
  };
  const memories = new WebhookMemories();
  const devices = new CloudDevices(RED);

  /** After a deploy: deletes what belongs to no node any more. */
  const settle = (): void => {
    ServedPaths.of(RED.httpNode).settle();
    for (const { nodeId, records } of memories.settle()) {
      const text = translateStatus(RED, "undelivered", { count: records });
      RED.log.warn(`[dimensioner-transaction-in:${nodeId}] ${text}`);
    }
  };

  function TransactionInNode(
    this: Node<TransactionInCredentials>,
    config: NodeDef & Partial<TransactionInProperties>,
  ): void {
    RED.nodes.createNode(this, config);
    const status = new NodeStatus(RED, this);
    const { memory, release } = memories.hold(this.id);
    this.on("close", () => {
      release();
      flows.started.next(settle);
      status.close();
    });
    const saved = readSaved(defaults, config);
    const webhook = openOrExplain(() => {
      refuseNewer(this.type, saved, operation);
      const settings = new SettingsReader("webhook").read(properties, saved);
      const store = settings.store === "" ? undefined : storeOf(RED, settings.store, operation);
      return { ...readWebhook(settings, this.credentials?.secret ?? ""), store };
    });
    const throttle = new LogThrottle();
    const store = "problem" in webhook ? undefined : webhook.store;
    const stored =
      store === undefined ? undefined : keepRecords(RED, this, { store, runId, memory, status, throttle });

    const served = { ...operation, config: noConfig, properties: saved, settings: () => undefined };
    serve(RED, this, served, async (job) => {
      const handled = await noteHandled(RED, this, job.msg, stored);
      job.status.say("done", "handled", { count: handled });
      return [];
    });

    if ("problem" in webhook) {
      status.say("failed", "failed.ERR_CONFIG");
      this.warn(translateError(RED, webhook.problem).message);
      return;
    }
    let received = 0;
    const sender = new RecordSender(RED, this, flows.started, (record, waiting) => {
      stored?.delivered(record);
      received++;
      if (waiting > 0) {
        status.say("waiting", "waitingInQueue", { count: waiting });
      } else {
        status.say("done", "received", { count: received });
      }
    });
    const receiver = new WebhookReceiver(
      { ...webhook.rules, deviceOf: (cloudId) => devices.find(cloudId) },
      {
        deliver: (record, waiting) => sender.deliver(record, waiting),
        unreached: () => sender.unreached(),
        refused: (refusal, problem) => {
          // Whoever opens the address in a browser leaves a line in the log, and no warning.
          const isPost = refusal !== "method";
          if (isPost) {
            status.say("failed", refusals[refusal]);
          }
          if (throttle.isDue(refusal)) {
            const text = translateStatus(RED, refusal === "secret" ? "refusedSecretHelp" : refusals[refusal]);
            this[isPost ? "warn" : "log"](
              problem === undefined ? text : `${text} (${translateValue(RED, problem)})`,
            );
          }
        },
      },
      memory,
      budget,
      stored,
    );

    // While the flows stop and start, some of the nodes behind this one do not exist, whatever kind of deploy it is.
    const forget = followFlows(flows, {
      onStarted: () => {
        ServedPaths.of(RED.httpNode).check();
        receiver.resume();
        stored?.open();
      },
      onStopping: () => {
        receiver.hold();
        sender.stopping();
      },
    });
    const leave = servePath(RED, {
      path: webhook.path,
      handle: (request, response) => {
        receiver.receive(request, response, partBehind(webhook.path, request.url)).catch((error: unknown) => {
          this.error(error instanceof Error ? error.message : String(error));
          // Whoever has posted sends it again.
          if (response.headersSent) {
            response.destroy();
          } else {
            response.writeHead(503).end();
          }
        });
      },
      onServed: () => status.say("done", "ready"),
      onProblem: (problem) => {
        status.say("failed", problem);
        // Logged as well, because nobody may be looking at this flow when it is deployed.
        this.warn(translateStatus(RED, problem));
      },
    });

    this.on("close", (done: () => void) => {
      forget();
      leave();
      receiver.close();
      // Stored records are sent again by themselves.
      if (stored === undefined && receiver.waiting > 0) {
        this.warn(translateStatus(RED, "undelivered", { count: receiver.waiting }));
      }
      void Promise.resolve(stored?.close()).finally(done);
    });
  }

  RED.nodes.registerType("dimensioner-transaction-in", TransactionInNode, {
    credentials: { secret: { type: "password" } },
  });
}

/**
 * A message that returns to this node reports its transaction as handled: its records are not sent again after a
 * restart.
 */
async function noteHandled(
  RED: NodeAPI,
  node: Node,
  msg: Message,
  stored: StoredRecords | undefined,
): Promise<number> {
  if (stored === undefined) {
    throw errorBeforeSending(operation, "configMissing", { what: phrase("store") });
  }
  const values = new ValueReader(RED, node, msg, operation);
  const given = { field: "transactionId", value: "transactionId", type: "msg" } as const;
  return stored.handled(await values.required(given), readParcel(msg));
}
