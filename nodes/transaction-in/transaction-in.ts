import { randomUUID } from "node:crypto";
import type { Node, NodeAPI, NodeDef } from "node-red";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import { phrase } from "../../src/errors/interpolation.ts";
import { raiseError } from "../../src/runtime/action/cut-messages.ts";
import { serve } from "../../src/runtime/action/serve.ts";
import { ValueReader, readSaved, refuseNewer } from "../../src/runtime/action/values.ts";
import { readParcel } from "../../src/runtime/archive/intent.ts";
import { noConfig, openOrExplain } from "../../src/runtime/config/config-choice.ts";
import { FlowsEvent, followFlows } from "../../src/runtime/config/flows-event.ts";
import { CloudDevices } from "../../src/runtime/config/instrument.ts";
import { SettingsReader } from "../../src/runtime/config/settings.ts";
import { errorBeforeSending, type Message } from "../../src/runtime/messages.ts";
import {
  LogThrottle,
  NodeStatus,
  translateError,
  translateStatus,
  translateValue,
} from "../../src/runtime/status/node-status.ts";
import { storeOf } from "../../src/runtime/store/store-choice.ts";
import {
  type PathOwner,
  ServedPaths,
  checkPaths,
  ownerOf,
  partBehind,
  sayPathProblem,
  servePath,
} from "../../src/runtime/web/served-paths.ts";
import { RecordSender, readWebhook } from "../../src/runtime/webhook/record-sender.ts";
import { NextPosts } from "../../src/runtime/webhook/next-posts.ts";
import { RecordPump } from "../../src/webhook/pump.ts";
import { type Refusal, WebhookReceiver } from "../../src/webhook/receiver.ts";
import { Room } from "../../src/webhook/room.ts";
import type { StoreUse } from "../../src/webhook/stored-records.ts";
import { type TransactionInProperties, defaults, properties } from "./transaction-in.shared.ts";

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
  /** The room of all webhooks for bodies that are being received. */
  const bodies = new Room();
  const flows = {
    started: new FlowsEvent(RED, "flows:started"),
    stopping: new FlowsEvent(RED, "flows:stopping"),
  };
  /** By node. Deploys and restarts of the flows keep them. */
  const pumps = new Map<string, { readonly pump: RecordPump; users: number }>();
  const devices = new CloudDevices(RED);
  const nextPosts = new NextPosts(RED);

  /** After a deploy: deletes what belongs to no node any more, with the records that were accepted for it. */
  const settle = (): void => {
    ServedPaths.of(RED.httpNode).settle();
    for (const [nodeId, { pump, users }] of pumps) {
      if (users > 0) {
        continue;
      }
      pumps.delete(nodeId);
      if (pump.waiting > 0) {
        const text = translateStatus(RED, "undelivered", { count: pump.waiting });
        RED.log.warn(`[dimensioner-transaction-in:${nodeId}] ${text}`);
      }
    }
  };

  function TransactionInNode(
    this: Node<TransactionInCredentials>,
    config: NodeDef & Partial<TransactionInProperties>,
  ): void {
    RED.nodes.createNode(this, config);
    const status = new NodeStatus(RED, this);
    const own = pumps.get(this.id) ?? { pump: new RecordPump(), users: 0 };
    pumps.set(this.id, own);
    own.users++;
    const { pump } = own;
    this.on("close", () => {
      own.users--;
      flows.started.next(settle);
      status.close();
    });
    const saved = readSaved(defaults, config);
    const webhook = openOrExplain(() => {
      refuseNewer(this.type, saved, operation);
      const reader = new SettingsReader("webhook");
      const settings = reader.read(properties, saved);
      reader.refuseUnset(this.credentials ?? {});
      const store = settings.store === "" ? undefined : storeOf(RED, settings.store, operation);
      return { ...readWebhook(settings, this.credentials?.secret ?? ""), store };
    });
    const throttle = new LogThrottle();
    const store = "problem" in webhook ? undefined : webhook.store;
    const endUse = pump.open(
      store === undefined
        ? undefined
        : { store, nodeId: this.id, runId, ...tellStore(RED, this, status, throttle) },
    );

    const served = { ...operation, status, config: noConfig, properties: saved, settings: () => undefined };
    serve(RED, this, served, async (job) => {
      if (store === undefined) {
        throw errorBeforeSending(operation, "configMissing", { what: phrase("store") });
      }
      const handled = await noteHandled(RED, this, job.msg, pump);
      job.status.say("done", "handled", { count: handled });
      return [];
    });

    if ("problem" in webhook) {
      status.say("failed", "failed.ERR_CONFIG");
      this.warn(translateError(RED, webhook.problem).message);
      return;
    }
    this.on("close", nextPosts.enter(this.id));
    let received = 0;
    const sender = new RecordSender(RED, this, flows.started, (waiting) => {
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
        deliver: (posted, waiting) => {
          nextPosts.tell(this.id, { said: "record", record: posted.record });
          sender.deliver(posted, waiting);
        },
        unreached: () => sender.unreached(),
        refused: (refusal, problem) => {
          // Whoever opens the address in a browser leaves a line in the log, and no warning.
          const isPost = refusal !== "method";
          const isWrong = refusal === "secret" && problem === undefined;
          const key = isWrong ? "refusedSecretHelp" : refusals[refusal];
          if (isPost) {
            status.say("failed", refusals[refusal]);
            nextPosts.tell(this.id, { said: "refused", key, problem: problem ?? null });
          }
          if (throttle.isDue(refusal)) {
            const text = translateStatus(RED, key);
            this[isPost ? "warn" : "log"](
              problem === undefined ? text : `${text} (${translateValue(RED, problem)})`,
            );
          }
        },
      },
      pump,
      bodies,
    );

    // While the flows stop and start, some of the nodes behind this one do not exist, whatever kind of deploy it is.
    const forget = followFlows(flows, {
      onStarted: () => {
        checkPaths(RED);
        receiver.resume();
      },
      onStopping: () => {
        receiver.hold();
        sender.stopping();
      },
    });
    let takenBy: PathOwner | undefined;
    const unserve = servePath(RED, {
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
      owner: ownerOf(this),
      onServed: () => {
        if (!status.release()) {
          status.say("done", "ready");
        }
      },
      onProblem: (problem) => {
        const { status: said, log } = sayPathProblem(RED, problem, webhook.path);
        status.hold(said.key, said.values);
        // Logged as well, because nobody may be looking at this flow when it is deployed.
        this.warn(log);
        takenBy = problem.key === "pathTaken" ? problem.by : undefined;
      },
      onLost: (request) => {
        if (receiver.admits(request, partBehind(webhook.path, request.url))) {
          const path = `/${webhook.path.base}`;
          const value = takenBy?.name ?? takenBy?.id ?? path;
          const error = errorBeforeSending(operation, "webhookTaken", { path, value });
          raiseError(this, translateError(RED, error), { _msgid: RED.util.generateId() });
        }
      },
    });

    this.on("close", (done: () => void) => {
      forget();
      unserve();
      receiver.close();
      // Stored records are sent again by themselves.
      if (store === undefined && pump.waiting > 0) {
        this.warn(translateStatus(RED, "undelivered", { count: pump.waiting }));
      }
      void endUse().finally(done);
    });
  }

  RED.nodes.registerType("dimensioner-transaction-in", TransactionInNode, {
    credentials: { secret: { type: "password" } },
  });
}

/** Shows in a node's status and in the log how its store fares. */
function tellStore(
  RED: NodeAPI,
  node: Node,
  status: NodeStatus,
  throttle: LogThrottle,
): Pick<StoreUse, "onTrouble" | "onReady" | "onLongUnhandled"> {
  return {
    onTrouble: (error) => {
      status.say("failed", "failed.ERR_STORE");
      if (throttle.isDue("store")) {
        node.warn(error instanceof DimensionerError ? translateError(RED, error).message : String(error));
      }
    },
    onReady: ({ resumed, damaged }) => {
      status.say("done", "ready");
      if (resumed > 0) {
        node.log(translateStatus(RED, "recordsResumed", { count: resumed }));
      }
      if (damaged > 0) {
        node.warn(translateStatus(RED, "recordsDamaged", { count: damaged }));
      }
    },
    onLongUnhandled: (count) => node.warn(translateStatus(RED, "recordsUnhandled", { count })),
  };
}

/**
 * A message that returns to this node reports its transaction as handled: its records are not sent again after a
 * restart.
 */
async function noteHandled(RED: NodeAPI, node: Node, msg: Message, pump: RecordPump): Promise<number> {
  const values = new ValueReader(RED, node, msg, operation);
  const given = { field: "transactionId", value: "transactionId", type: "msg" } as const;
  return pump.handled(await values.required(given), readParcel(msg));
}
