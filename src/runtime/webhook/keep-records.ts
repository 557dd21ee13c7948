import type { Node, NodeAPI } from "node-red";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { Store } from "../../vault/store.ts";
import type { WebhookMemory } from "../../webhook/record-intake.ts";
import type { LogThrottle } from "../status/log-throttle.ts";
import type { NodeStatus } from "../status/node-status.ts";
import { translateError, translateStatus } from "../status/translate.ts";
import { StoredRecords } from "./stored-records.ts";

interface KeepOptions {
  readonly store: Store;
  /** The id of this run of the process. */
  readonly runId: string;
  readonly memory: WebhookMemory;
  readonly status: NodeStatus;
  readonly throttle: LogThrottle;
}

/** Keeps a node's records in its store, and shows the state of that in its status and in the log. */
export function keepRecords(
  RED: NodeAPI,
  node: Node,
  { store, runId, memory, status, throttle }: KeepOptions,
): StoredRecords {
  return new StoredRecords(store, {
    nodeId: node.id,
    runId,
    progress: memory.storedIn(store.databaseKey),
    handOn: (received, bytes) => memory.queue.push(received, bytes),
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
    onTooOld: (count) => node.warn(translateStatus(RED, "recordsTooOld", { count })),
  });
}
