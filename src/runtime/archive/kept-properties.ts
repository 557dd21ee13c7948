import type { NodeAPI } from "node-red";
import { phrase, verbatim, type Phrase } from "../../errors/interpolation.ts";
import { commaSeparated } from "../../rules/names.ts";
import { isTooDeepToCopy } from "../action/message-depth.ts";
import { checkNamedProperty, readNamedProperty } from "../config/property-setting.ts";
import { errorBeforeSending, type Operation } from "../failure.ts";
import type { Message } from "../messages.ts";

/** Properties that always survive a restart. */
const alwaysKept = ["transactionId", "transactionReference", "topic"];
const longestKept = 1_000_000;

interface KeptReader {
  readonly RED: NodeAPI;
  readonly msg: Message;
  readonly operation: Operation;
  /** The names that the node's setting lists. */
  readonly keep: string;
}

/** Throws ERR_CONFIG if no message property can have a name that is to be kept. */
export function checkKept(RED: NodeAPI, keep: string, operation: Operation): void {
  commaSeparated(keep).forEach((name) => checkNamedProperty(RED, { field: "keep", name }, operation));
}

/** Reads the message properties that are to survive a restart, by their place. Throws ERR_INPUT if one cannot be kept. */
export function readKept({ RED, msg, operation, keep }: KeptReader): Record<string, unknown> {
  const names = [...alwaysKept, ...commaSeparated(keep)];
  const refuse = (name: string, problem: Phrase) =>
    errorBeforeSending(operation, "inputValue", { field: verbatim(`msg.${name}`), value: "…", problem });
  const kept: Record<string, unknown> = {};
  const again: Message = { _msgid: "" };
  let length = 0;
  for (const name of names) {
    const value = readNamedProperty(RED, msg, { field: "keep", name }, operation);
    if (value === undefined) {
      continue;
    }
    let text: string | undefined;
    try {
      text = JSON.stringify(value);
    } catch {
      throw refuse(name, phrase("notPlain"));
    }
    length += text?.length ?? 0;
    if (length > longestKept) {
      throw refuse(name, phrase("keptTooLarge"));
    }
    const place = placeOf(RED, name, msg);
    kept[place] = value;
    try {
      restoreKept(RED, again, { [place]: value });
    } catch {
      // A part of its place is kept as a value that has no properties, or its name cannot be written.
      throw refuse(name, phrase("notPlain"));
    }
  }
  // After a restart the message of the job has them, and there may be more wires by then.
  if (isTooDeepToCopy(again)) {
    throw errorBeforeSending(operation, "messageTooDeep");
  }
  return kept;
}

/** The place of a property without the rest of its message: items[3] for items[msg.index]. */
function placeOf(RED: NodeAPI, name: string, msg: Message): string {
  return name.includes("[msg") ? RED.util.normalisePropertyExpression(name, msg, true) : name;
}

/** Puts the kept properties on a message. */
export function restoreKept(RED: NodeAPI, msg: Message, kept: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(kept)) {
    RED.util.setMessageProperty(msg, name, value, true);
  }
}
