import { ControlError } from "./control-routes.ts";

/** Far more than any request of the control API has. */
const mostLevels = 64;
const mostValues = 100_000;

/**
 * Parses the body of a control request. The nesting and the number of values are counted in the text, before anything is
 * built from it: deep JSON would exhaust the stack of whatever walks through it later.
 */
export function parseControlJson(text: string): unknown {
  let [levels, values] = [0, 1];
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (isInString) {
      if (character === "\\") {
        at += 1;
      } else if (character === '"') {
        isInString = false;
      }
    } else if (character === '"') {
      isInString = true;
    } else if (character === "[" || character === "{") {
      levels += 1;
      values += 1;
    } else if (character === "]" || character === "}") {
      levels -= 1;
    } else if (character === ",") {
      values += 1;
    }
    if (levels > mostLevels) {
      throw new ControlError(400, `The body is nested deeper than ${mostLevels} levels`);
    }
    if (values > mostValues) {
      throw new ControlError(400, `The body has more than ${mostValues} values`);
    }
  }
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    throw new ControlError(400, "The body is not JSON");
  }
}
