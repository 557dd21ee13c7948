import type { NodeAPI } from "node-red";
import { phrase, verbatim, type Phrase } from "../../errors/interpolation.ts";
import { commaSeparated } from "../../rules/names.ts";
import { isJsonLonger } from "../../model/json-length.ts";
import { refuseTooDeep } from "../action/message-depth.ts";
import { checkNamedProperty } from "../config/property-setting.ts";
import { errorBeforeSending, type Operation } from "../failure.ts";
import type { Message } from "../messages.ts";
import { isWithin, pathOf, putAt, valueAt, type Path } from "./message-paths.ts";

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
  const wanted = [...alwaysKept, ...commaSeparated(keep)].map((name) => {
    checkNamedProperty(RED, { field: "keep", name }, operation);
    return { name, path: pathOf(RED, msg, name) };
  });
  // What is kept as a whole is the message's own, and nothing is written into that.
  wanted.sort((one, other) => one.path.length - other.path.length);
  const kept: Record<string, unknown> = {};
  const paths: Path[] = [];
  let length = 0;
  for (const { name, path } of wanted) {
    if (paths.some((outer) => isWithin(outer, path))) {
      continue;
    }
    try {
      const value = valueAt(msg, path);
      if (value !== undefined && putAt(kept, path, value)) {
        paths.push(path);
        const entry = [path, value];
        length += isJsonLonger(entry, longestKept - length) ? Infinity : JSON.stringify(entry).length;
      }
    } catch {
      throw refuse(name, phrase("notPlain"));
    }
    if (length > longestKept) {
      throw refuse(name, phrase("keptTooLarge"));
    }
  }
  // After a restart the message of the job has them, and there may be more wires by then.
  refuseTooDeep(kept, operation);
  return kept;
}
