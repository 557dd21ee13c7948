import type { NodeAPI } from "node-red";
import { phrase, verbatim, type Phrase } from "../../errors/interpolation.ts";
import { commaSeparated } from "../../rules/names.ts";
import { isTooDeepToCopy } from "../action/message-depth.ts";
import { checkNamedProperty } from "../config/property-setting.ts";
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

/**
 * Reads the message properties that are to survive a restart: an object with the parts of the message that the names lead to. What the
 * message does not have is missing in it. Throws ERR_CONFIG if no property can have a name, ERR_INPUT if one cannot be kept.
 */
export function readKept({ RED, msg, operation, keep }: KeptReader): Record<string, unknown> {
  const refuse = (name: string, problem: Phrase) =>
    errorBeforeSending(operation, "inputValue", { field: verbatim(`msg.${name}`), value: "…", problem });
  const kept: Record<string, unknown> = {};
  for (const name of [...alwaysKept, ...commaSeparated(keep)]) {
    checkNamedProperty(RED, { field: "keep", name }, operation);
    keepPart(kept, msg, pathOf(RED, name, msg));
    let length: number;
    try {
      ({ length } = JSON.stringify(kept));
    } catch {
      throw refuse(name, phrase("notPlain"));
    }
    if (length > longestKept) {
      throw refuse(name, phrase("keptTooLarge"));
    }
  }
  // After a restart the message of the job has them, and there may be more wires by then.
  if (isTooDeepToCopy(kept)) {
    throw errorBeforeSending(operation, "messageTooDeep");
  }
  return kept;
}

/** The keys that lead to a property; none if its name refers to another one that the message does not have, as in items[msg.index]. */
function pathOf(RED: NodeAPI, name: string, msg: Message): readonly (string | number)[] {
  try {
    return RED.util.normalisePropertyExpression(name.replace(/^msg\./, ""), msg);
  } catch {
    return [];
  }
}

/** Adds to `kept` what the keys lead to in a message, inside of objects and lists like those of the message. */
function keepPart(kept: object, msg: object, [key, ...rest]: readonly (string | number)[]): void {
  // A key __proto__ would not become a property.
  if (key === undefined || key === "__proto__") {
    return;
  }
  const value: unknown = Reflect.get(msg, key);
  const before: unknown = Object.hasOwn(kept, key) ? Reflect.get(kept, key) : undefined;
  if (rest.length === 0 && value !== undefined) {
    Reflect.set(kept, key, value);
  } else if (isContainer(value) && before !== value) {
    const inside = isContainer(before) ? before : Array.isArray(value) ? [] : {};
    keepPart(inside, value, rest);
    if (Object.keys(inside).length > 0) {
      Reflect.set(kept, key, inside);
    }
  }
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
