import { setMaxListeners } from "node:events";
import type { Node, NodeAPI } from "node-red";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { ConfigChoice } from "../config/config-node.ts";
import type { Message, Outputs } from "../messages.ts";
import { isKnown } from "../../saved/migrations.ts";
import { refuseNewer, type Versioned } from "./saved-properties.ts";
import { StatusBoard } from "../status/status-board.ts";
import { translateError } from "../status/translate.ts";

/** One message at work in a node. */
export interface Job {
  readonly msg: Message;
  /** Aborts when the node is closed. */
  readonly signal: AbortSignal;
  /** Aborts, with the reason "reset", when a message with msg.reset empties what waits in the node. */
  readonly waitSignal: AbortSignal;
  readonly status: StatusBoard;
}

/** What a node does with one message: what goes out where, or it throws. It shows its own success as status. */
export type Work = (job: Job) => Promise<Outputs>;

interface Served {
  /** In the API's words, for an error that belongs to no single call. */
  readonly operation: string;
  readonly acts: boolean;
  readonly config: Pick<ConfigChoice<never>, "problem" | "surface">;
  readonly properties: Versioned;
}

/**
 * Lets a node serve its input under the rules that all action nodes share: each message ends in exactly one of `send`
 * with one `done()`, or one `done(error)`; msg.reset empties what waits; closing aborts what runs, waits until that has
 * cleaned up, and nothing is sent afterwards.
 */
export function serve(
  RED: NodeAPI,
  node: Node,
  { operation, acts, config, properties }: Served,
  work: Work,
): void {
  const status = new StatusBoard(RED, node);
  const closing = quietController();
  const running = new Set<Promise<void>>();
  let resetting = quietController();

  const problem = isKnown(node.type, properties) ? config.problem() : "configNewer";
  if (problem !== undefined) {
    status.say("failed", problem);
  }

  /** Never rejects: a rejection here would end the process. */
  const run = async (
    msg: Message,
    send: (outputs: unknown[]) => void,
    done: (error?: Error) => void,
  ): Promise<void> => {
    let outputs: Outputs;
    try {
      refuseNewer(node.type, properties, { operation, acts, surface: "config" });
      outputs = await work({ msg, signal: closing.signal, waitSignal: resetting.signal, status });
      if (closing.signal.aborted) {
        const outcome = acts ? "unknown" : null;
        throw new DimensionerError("cancelledClose", { operation, outcome, surface: config.surface() });
      }
      if (outputs.some((output) => output !== null && (!Array.isArray(output) || output.length > 0))) {
        send([...outputs]);
      }
    } catch (error) {
      end(done, explain(error));
      return;
    }
    end(done);
  };

  /** Node-RED throws at a message that it cannot hand on to a Catch node: one with a property `hasOwnProperty`, say. */
  const end = (done: (error?: Error) => void, error?: Error): void => {
    try {
      done(error);
    } catch (thrown) {
      node.error(error?.message ?? String(thrown));
    }
  };

  const explain = (error: unknown): Error => {
    if (error instanceof DimensionerError) {
      status.say("failed", `failed.${error.code}`);
      return translateError(RED, error);
    }
    const unforeseen = error instanceof Error ? error : new Error(String(error));
    status.show("failed", unforeseen.message);
    return unforeseen;
  };

  node.on("input", (msg, send, done) => {
    const message: Message = msg;
    if (message["reset"]) {
      resetting.abort("reset");
      resetting = quietController();
      end(done);
      return;
    }
    const ended = run(message, (outputs) => send(outputs as Message[]), done);
    running.add(ended);
    void ended.then(() => running.delete(ended));
  });

  node.on("close", (done: () => void) => {
    closing.abort("close");
    status.close();
    void Promise.all(running).then(() => done());
  });
}

/** As many may listen as messages are at work: that is no leak. */
function quietController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
