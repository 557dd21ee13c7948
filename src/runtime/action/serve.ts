import { setImmediate as nextTurn } from "node:timers/promises";
import type { Node, NodeAPI } from "node-red";
import { DimensionerError, type Surface, isDimensionerError } from "../../errors/dimensioner-error.ts";
import { isKnown } from "../../properties/migrations.ts";
import { openOrExplain } from "../config/config-choice.ts";
import { SettingsReader } from "../config/settings.ts";
import { type Operation, errorBeforeSending, type InTurn, type Message, type Outputs } from "../messages.ts";
import {
  NodeStatus,
  type StatusKey,
  failedKeyOf,
  translateError,
  NodeError,
  unforeseenError,
} from "../status/node-status.ts";
import type { CommandJournal, JournaledCommand } from "./command-journal.ts";
import { CutMessages, raiseError } from "./cut-messages.ts";
import { MessageMemory, hasSeveralWires, refuseTooDeep, writableMessage, writeBack } from "./message.ts";
import type { Versioned } from "./values.ts";

/** A message that a node is processing. */
export interface Job {
  readonly msg: Message;
  /** Aborts when the node is closed. */
  readonly signal: AbortSignal;
  /** Aborts, with the reason "reset", when a message with msg.reset arrives: what waits is cancelled. */
  readonly waitSignal: AbortSignal;
  readonly status: NodeStatus;
  /** The name of the device or the cloud that the message is for, once it is chosen, for errors. */
  device?: string;
  /** What the messages of the node keep in memory. */
  readonly memory: MessageMemory;
  /** The command of the message, of a node that acts. */
  readonly command?: JournaledCommand | undefined;
  /** Called once Node-RED has the message or its error. The nodes behind get it from a `setImmediate` of Node-RED. */
  onSent?: () => void;
}

/** Processes one message: returns what to send to which output, or throws. It shows its own success in the status. */
type Work<TSettings> = (job: Job, settings: TSettings) => Promise<Outputs | InTurn>;

interface Served<TSettings> {
  /** The operation in the API's words, for errors that belong to no single call. */
  readonly operation: string;
  readonly acts: boolean;
  readonly config: {
    /** Returns at the deploy why every message would fail; undefined if none is known. */
    problem(): StatusKey | undefined;
    surface(): Surface;
  };
  readonly properties: Versioned;
  /** Reads at the deploy what does not depend on the message. Throws ERR_CONFIG if it is not valid. */
  settings(reader: SettingsReader): TSettings;
  /** How many messages may be processed at the same time; further ones end in ERR_QUEUE_FULL. */
  readonly most?: number;
  /** Whether a message is about something that was accepted before: it is not refused, because it would not come again. */
  readonly wasAccepted?: (msg: Message) => boolean;
  /** The commands of all nodes of the type; only of one that acts. */
  readonly journal?: CommandJournal;
  /** The status of the node, where something other than messages is shown in it too. */
  readonly status?: NodeStatus;
  /** Called at a reset, for nodes in which something other than messages waits. */
  readonly onReset?: () => void;
}

/** Each takes some kilobytes: the message and, while it waits, a timer or a place in a queue. */
const mostAtWork = 1_000;

/**
 * Serves the input of a node by the rules that all action nodes share: each message ends exactly once, with one `send`
 * and `done()`, or with `done(error)`; msg.reset cancels what waits; closing the node aborts what runs, waits for its
 * cleanup, and nothing is sent afterwards.
 */
export function serve<TSettings>(
  RED: NodeAPI,
  node: Node,
  served: Served<TSettings>,
  work: Work<TSettings>,
): void {
  const { operation, acts, config, properties, settings, onReset, most = mostAtWork } = served;
  const { status = new NodeStatus(RED, node) } = served;
  // Node-RED keeps the status of a node over a deploy, which may have corrected what the status complains about.
  node.status({});
  const closing = new AbortController();
  const running = new Set<Promise<void>>();
  let resetting = new AbortController();
  /** The errors of messages that the next start sends out, if the node is there then. */
  const comingBack = new WeakSet<Error>();

  const cutMessages = CutMessages.of(RED);
  const leaveJournal = served.journal?.enter(node);
  if (leaveJournal !== undefined) {
    node.on("close", (done: () => void) => void allEnded(running).then(leaveJournal).finally(done));
  }
  // What a Catch node could not get from the node before is reported by this one.
  node.on(
    "close",
    cutMessages.enter(RED, node, (error) => showCut(error)),
  );

  const call: Operation = { operation, acts, surface: "config" };
  const memory = new MessageMemory(call);

  const isNewer = !isKnown(node.type, properties);
  const read = openOrExplain(() => {
    const reader = new SettingsReader("node", call);
    reader.refuseUnset(properties);
    reader.refuseUnset(credentialsOf(node));
    return { settings: settings(reader) };
  });
  const readsVariables = Object.values(properties).includes("env");
  /** Throws ERR_CONFIG for a typed input: its variable is read with each message, and may be set until then. */
  const refuseUnset = (): void => {
    if (readsVariables) {
      const isSet = (name: string): boolean => RED.util.getSetting(node, name) !== undefined;
      new SettingsReader("node", call).refuseUnset(properties, isSet);
    }
  };
  const isWrong = "problem" in read || "problem" in openOrExplain(() => ({ unset: refuseUnset() }));
  const problem = isNewer ? "configNewer" : isWrong ? "failed.ERR_CONFIG" : config.problem();
  if (problem !== undefined) {
    status.say("failed", problem);
  }

  /** Throws ERR_QUEUE_FULL or ERR_INPUT before anything acts: afterwards it would be too late to report that the result cannot be sent. */
  const admit = (job: Job): void => {
    if (running.size >= most) {
      throw errorBeforeSending(call, "messagesFull", { most });
    }
    memory.hold(job);
    if (hasSeveralWires(node)) {
      refuseTooDeep(job.msg, call);
    }
  };

  const cancelled = (sentence: "cancelledClose" | "cancelledEnd"): DimensionerError =>
    new DimensionerError(sentence, {
      operation,
      outcome: acts ? "unknown" : null,
      surface: config.surface(),
    });

  /** Throws ERR_CANCELLED if the node was closed: nothing is sent then. */
  const refuseClosed = (): void => {
    if (closing.signal.aborted) {
      throw cancelled("cancelledClose");
    }
  };

  /** Never rejects: a rejection here would end the process. */
  const run = async (
    msg: Message,
    send: (outputs: unknown[]) => void,
    done: (error?: Error) => void,
    command?: JournaledCommand,
  ): Promise<void> => {
    const job: Job = { msg, signal: closing.signal, waitSignal: resetting.signal, status, memory, command };
    let failed: Error | undefined;
    try {
      if (served.wasAccepted?.(msg) !== true) {
        admit(job);
      }
      if (isNewer) {
        throw errorBeforeSending(call, "configNewer");
      }
      if ("problem" in read) {
        throw errorBeforeSending(call, read.problem.sentence, read.problem.values);
      }
      refuseUnset();
      const result = await work(job, read.settings);
      for await (const outputs of "turns" in result ? result.turns : [result]) {
        refuseClosed();
        if (outputs.some((output) => output !== null && (!isList(output) || output.length > 0))) {
          // If a node sends several messages in a row, Node-RED copies them in any case.
          outputs.forEach(
            (output) =>
              isList(output) && output.length > 1 && output.forEach((one) => refuseTooDeep(one, call)),
          );
          send([...outputs]);
        }
      }
    } catch (error) {
      const isGone = closing.signal.aborted && isDimensionerError(error) && error.code === "ERR_CONFIG";
      // A deploy has removed the config node while the message waited for something: the settings are not wrong.
      failed = explain(isGone ? errorBeforeSending(call, "cancelledClose") : error, job);
    }
    memory.delete(job);
    end(msg, done, failed);
    job.onSent?.();
  };

  /**
   * Calls `done(error)`. Node-RED throws at a message that it cannot copy for a Catch or Complete node, such as one with
   * a property `hasOwnProperty`. A Catch node then gets the error with the message's id only.
   */
  const end = ({ _msgid }: Message, done: (error?: Error) => void, error?: Error): void => {
    try {
      done(error);
    } catch (thrown) {
      if (error === undefined) {
        node.warn(thrown);
      } else {
        raiseError(node, error, { _msgid });
      }
    }
  };

  const explain = (error: unknown, { msg, device }: Job): Error => {
    if (error instanceof DimensionerError) {
      if (error.rawResponse !== undefined) {
        msg["rawResponse"] = error.rawResponse;
      }
      status.say("failed", failedKeyOf(error));
      const translated = translateError(RED, error, device);
      if (error.sentence === "cancelledKept") {
        comingBack.add(translated);
      }
      return translated;
    }
    const unforeseen = unforeseenError(error);
    status.show("failed", () => unforeseen.message);
    return unforeseen;
  };

  const showCut = (error: Error): void => {
    if (error instanceof NodeError) {
      status.say("failed", `failed.${error.code}`);
    } else {
      status.show("failed", () => error.message);
    }
  };

  node.on("input", (given: Message, send, done) => {
    const msg = writableMessage(given);
    if (msg["reset"]) {
      resetting.abort("reset");
      onReset?.();
      resetting = new AbortController();
      end(msg, done);
      return;
    }
    const command = served.journal?.commandOf(node, msg);
    const finish = (error?: Error): void => {
      writeBack(msg, given);
      if (error !== undefined && closing.signal.aborted && !comingBack.has(error)) {
        const onTold = (): void => command?.settle();
        cutMessages.end({ RED, node, msg, error, onTold }, () => done(error));
      } else {
        try {
          done(error);
        } finally {
          command?.settle();
          if (error !== undefined && comingBack.has(error)) {
            cutMessages.leave(RED, node, msg);
          }
        }
      }
    };
    const ended = run(msg, (outputs) => send(outputs as Message[]), finish, command);
    running.add(ended);
    const error = (): Error => translateError(RED, cancelled(acts ? "cancelledEnd" : "cancelledClose"));
    // What was accepted before goes on after the next start.
    const leave = served.wasAccepted === undefined ? cutMessages.begin({ node, msg, error }) : undefined;
    void ended.then(() => running.delete(ended)).then(leave);
  });

  node.on("close", (done: () => void) => {
    closing.abort("close");
    status.close();
    void allEnded(running).then(() => done());
  });
}

/**
 * Resolves when all messages of a node that is closed have ended, with those that were on their way to it. Node-RED hands these over in
 * the next turn of the event loop, and forgets them without a word if the node has done with its close by then.
 */
async function allEnded(running: ReadonlySet<Promise<void>>): Promise<void> {
  await nextTurn();
  await Promise.all(running);
}

/** Those of the node's type, in which Node-RED has replaced the variables that are set. */
function credentialsOf(node: Node): object {
  return "credentials" in node && typeof node.credentials === "object" && node.credentials !== null
    ? node.credentials
    : {};
}

function isList(value: unknown): value is readonly object[] {
  return Array.isArray(value);
}
