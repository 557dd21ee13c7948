import type { Node, NodeAPI } from "node-red";
import { DimensionerError, type Surface } from "../../errors/dimensioner-error.ts";
import type { CommandOptions } from "../../http/transport.ts";
import type { InTurn, Message, Outputs } from "../messages.ts";
import { errorBeforeSending, type Operation } from "../failure.ts";
import { hasSeveralWires, isTooDeepToCopy } from "./message-depth.ts";
import { isKnown } from "../../saved/migrations.ts";
import { openOrExplain } from "../config/config-node.ts";
import { SettingsReader } from "../config/settings.ts";
import type { Versioned } from "./saved-properties.ts";
import { StatusBoard } from "../status/status-board.ts";
import type { StatusKey } from "../status/status-texts.ts";
import { translateError } from "../status/translate.ts";

/** One message at work in a node. */
export interface Job {
  readonly msg: Message;
  /** Aborts when the node is closed. */
  readonly signal: AbortSignal;
  /** Aborts, with the reason "reset", when a message with msg.reset empties what waits in the node. */
  readonly waitSignal: AbortSignal;
  readonly status: StatusBoard;
  /** How people call the device or the cloud that the message is for, once it is chosen; its errors say it. */
  device?: string;
}

/** What a node does with one message: what goes out where, or it throws. It shows its own success as status. */
type Work<TSettings> = (job: Job, settings: TSettings) => Promise<Outputs | InTurn>;

interface Served<TSettings> {
  /** In the API's words, for an error that belongs to no single call. */
  readonly operation: string;
  readonly acts: boolean;
  readonly config: {
    /** Why every message would fail, known at deploy. */
    problem(): StatusKey | undefined;
    surface(): Surface;
  };
  readonly properties: Versioned;
  /** Reads, when the node is deployed, what does not depend on the message. Throws ERR_CONFIG where it cannot be used. */
  settings(reader: SettingsReader): TSettings;
  /** How many messages may be at work at once; those beyond end in ERR_QUEUE_FULL. */
  readonly most?: number;
  /** Told of a reset, for what waits in the node without being a message yet. */
  readonly onReset?: () => void;
}

/** How a command of this job waits, ends and shows that it does. */
export function commandOptions(
  { signal, waitSignal, status }: Job,
  working: "measuring" | "sending",
  onTurn?: () => void,
): CommandOptions {
  return {
    signal,
    waitSignal,
    onWaiting: (count) => status.say("waiting", "waitingInQueue", { count }),
    onTurn: () => {
      onTurn?.();
      status.say("working", working);
    },
  };
}

/** Of a node that needs no config node to take messages. */
export const noConfig = { problem: () => undefined, surface: () => "config" as const };

/** Each holds its message and, while it waits, a timer or a place in a queue: some kilobytes. */
const mostAtWork = 1_000;

/**
 * Lets a node serve its input under the rules that all action nodes share: each message ends in exactly one of `send`
 * with one `done()`, or one `done(error)`; msg.reset empties what waits; closing aborts what runs, waits until that has
 * cleaned up, and nothing is sent afterwards.
 */
export function serve<TSettings>(
  RED: NodeAPI,
  node: Node,
  { operation, acts, config, properties, settings, onReset, most = mostAtWork }: Served<TSettings>,
  work: Work<TSettings>,
): void {
  const status = new StatusBoard(RED, node);
  const closing = new AbortController();
  const running = new Set<Promise<void>>();
  let resetting = new AbortController();

  const call: Operation = { operation, acts, surface: "config" };
  const refuseTooDeep = (msg: object): void => {
    if (isTooDeepToCopy(msg)) {
      throw errorBeforeSending(call, "messageTooDeep");
    }
  };

  const isNewer = !isKnown(node.type, properties);
  const read = openOrExplain(() => ({ settings: settings(new SettingsReader("node", call)) }));
  const problem = isNewer ? "configNewer" : "problem" in read ? "failed.ERR_CONFIG" : config.problem();
  if (problem !== undefined) {
    status.say("failed", problem);
  }

  /** Never rejects: a rejection here would end the process. */
  const run = async (
    msg: Message,
    send: (outputs: unknown[]) => void,
    done: (error?: Error) => void,
  ): Promise<void> => {
    const job: Job = { msg, signal: closing.signal, waitSignal: resetting.signal, status };
    try {
      if (running.size >= most) {
        throw errorBeforeSending(call, "messagesFull", { most });
      }
      // Before anything acts: afterwards it would be too late to say that the result cannot be sent.
      if (hasSeveralWires(node)) {
        refuseTooDeep(msg);
      }
      if (isNewer) {
        throw errorBeforeSending(call, "configNewer");
      }
      if ("problem" in read) {
        throw errorBeforeSending(call, read.problem.sentence, read.problem.values);
      }
      const result = await work(job, read.settings);
      if (closing.signal.aborted) {
        const outcome = acts ? "unknown" : null;
        throw new DimensionerError("cancelledClose", { operation, outcome, surface: config.surface() });
      }
      for (const outputs of "turns" in result ? result.turns : [result]) {
        if (outputs.some((output) => output !== null && (!isList(output) || output.length > 0))) {
          // Of several messages in a row Node-RED sends copies, whatever the wires.
          outputs.forEach((output) => isList(output) && output.length > 1 && output.forEach(refuseTooDeep));
          send([...outputs]);
        }
      }
    } catch (error) {
      end(msg, done, explain(error, job.device));
      return;
    }
    end(msg, done);
  };

  /**
   * Node-RED throws at a message that it cannot copy for a Catch or Complete node: one with a property `hasOwnProperty`,
   * say, or one that is nested too deeply. A Catch node then gets the error with the message's id alone.
   */
  const end = ({ _msgid }: Message, done: (error?: Error) => void, error?: Error): void => {
    try {
      done(error);
    } catch (thrown) {
      if (error === undefined) {
        node.warn(thrown);
      } else {
        node.error(error, { _msgid });
      }
    }
  };

  const explain = (error: unknown, device: string | undefined): Error => {
    if (error instanceof DimensionerError) {
      status.say("failed", `failed.${error.code}`);
      return translateError(RED, error, device);
    }
    const unforeseen = error instanceof Error ? error : new Error(String(error));
    status.show("failed", () => unforeseen.message);
    return unforeseen;
  };

  node.on("input", (msg, send, done) => {
    const message: Message = msg;
    if (message["reset"]) {
      resetting.abort("reset");
      onReset?.();
      resetting = new AbortController();
      end(message, done);
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

function isList(value: unknown): value is readonly object[] {
  return Array.isArray(value);
}
