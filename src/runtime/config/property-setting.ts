import type { NodeAPI } from "node-red";
import type { FieldName } from "../../errors/interpolation.ts";
import type { Operation } from "../failure.ts";
import { expressionProblem, readMessageProperty, type Message } from "../messages.ts";
import { SettingsReader } from "./settings.ts";

/** Reads the message property that a setting names. Throws ERR_CONFIG if no property can have this name. */
export function readNamedProperty(
  RED: NodeAPI,
  msg: Message,
  { field, name }: { readonly field: FieldName; readonly name: string },
  operation: Operation,
): unknown {
  try {
    return readMessageProperty(RED, msg, name);
  } catch (error) {
    throw new SettingsReader("node", operation).invalid(field, expressionProblem(error));
  }
}

/** Throws ERR_CONFIG if no message property can have this name. */
export function checkNamedProperty(
  RED: NodeAPI,
  { field, name }: { readonly field: FieldName; readonly name: string },
  operation: Operation,
): void {
  try {
    // Not read from an empty message: a name such as items[msg.index] can only be read from one with an index.
    RED.util.normalisePropertyExpression(name);
  } catch (error) {
    throw new SettingsReader("node", operation).invalid(field, expressionProblem(error));
  }
}
