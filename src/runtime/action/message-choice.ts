import { field, phrase, verbatim, type FieldName } from "../../errors/interpolation.ts";
import { errorBeforeSending, show, type Operation } from "../failure.ts";
import type { Message } from "../messages.ts";

/** Reads a setting that is not in a table of properties. Throws ERR_CONFIG if it is none of the choices. */
export function readSetting<const T extends string>(
  operation: Operation,
  name: FieldName,
  given: string,
  choices: readonly T[],
): T {
  const found = choices.find((one) => one === given);
  if (found === undefined) {
    const value = show(given);
    throw errorBeforeSending(operation, "configChoice", { field: field(name), value, choices });
  }
  return found;
}

/**
 * Reads a setting, or the message property of its name if the setting is "msg". Throws ERR_INPUT if that is none of the
 * choices.
 */
export function readChoice<const T extends string>(
  msg: Message,
  operation: Operation,
  name: "action" | "image" | "preset",
  setting: T,
  choices: readonly T[],
): Exclude<T, "msg"> {
  const fixed = choices.filter((one): one is Exclude<T, "msg"> => one !== "msg");
  const given = setting === "msg" ? msg[name] : setting;
  const found = fixed.find((one) => one === given);
  if (found !== undefined) {
    return found;
  }
  const property = verbatim(`msg.${name}`);
  throw given === undefined || given === ""
    ? errorBeforeSending(operation, "inputMissing", { field: property })
    : errorBeforeSending(operation, "inputValue", {
        field: property,
        value: show(given),
        problem: phrase("oneOf", { choices: fixed }),
      });
}
