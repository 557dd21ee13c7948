import type { Node, NodeAPI } from "node-red";
import { field, verbatim, phrase, type FieldName } from "../../errors/interpolation.ts";
import type { SentenceKey } from "../../errors/sentences.ts";
import type { DimensionerError } from "../../errors/dimensioner-error.ts";
import { errorBeforeSending, show, type Operation } from "../failure.ts";
import { readMessageProperty, type Message } from "../messages.ts";
import type { NumberProperty } from "../../saved/properties.ts";
import { SettingsReader } from "../config/settings.ts";
import { evaluateProperty, expressionProblem } from "./evaluate.ts";

/** A value and where it comes from: the pair `x` + `xType` of a node's properties. */
export interface TypedValue {
  readonly field: FieldName;
  readonly value: string;
  readonly type: string;
}

/** Reads values that can come from the message, for one message. */
export class ValueReader {
  readonly #RED: NodeAPI;
  readonly #node: Node;
  readonly #msg: Message;
  readonly #operation: Operation;

  constructor(RED: NodeAPI, node: Node, msg: Message, operation: Operation) {
    this.#RED = RED;
    this.#node = node;
    this.#msg = msg;
    this.#operation = operation;
  }

  /**
   * The value as text; undefined when it is not given: missing, an object or "". Throws ERR_INPUT for a bad expression.
   * A promise only where Node-RED has to be asked: the two usual cases need neither its general way nor a turn of
   * their own.
   */
  optional({ field: name, value, type }: TypedValue): string | undefined | Promise<string | undefined> {
    if (type === "str") {
      return asText(value);
    }
    if (value === "") {
      return undefined;
    }
    if (type !== "msg") {
      return this.#evaluate(name, value, type);
    }
    try {
      return asText(readMessageProperty(this.#RED, this.#msg, value));
    } catch (error) {
      throw this.#badExpression(name, error);
    }
  }

  /** The same for a value that has to be there. */
  async required(given: TypedValue): Promise<string> {
    return this.present(given.field, await this.optional(given));
  }

  /** The same for a value that has been read already; `sentence` says that it is missing. */
  present(name: FieldName, text: string | undefined, sentence: SentenceKey = "inputMissing"): string {
    if (text === undefined) {
      throw errorBeforeSending(this.#operation, sentence, { field: field(name) });
    }
    return text;
  }

  /** A setting of the node that has to be one of these; throws ERR_CONFIG. */
  setting<const T extends string>(name: FieldName, given: string, choices: readonly T[]): T {
    const found = choices.find((one) => one === given);
    if (found === undefined) {
      const value = show(given);
      throw errorBeforeSending(this.#operation, "configChoice", { field: field(name), value, choices });
    }
    return found;
  }

  /** A number among the node's settings, a duration in milliseconds; throws ERR_CONFIG. */
  number(name: FieldName, property: NumberProperty, given: unknown): number {
    return new SettingsReader("node", this.#operation).number(name, property, given);
  }

  /** A setting that is fixed in the node, or taken from the message property of its name when it is "msg". */
  choice<const T extends string>(
    name: "action" | "image" | "preset",
    { of }: { readonly of: readonly T[] },
    fixed: string,
  ): Exclude<T, "msg"> {
    const choices = of.filter((one): one is Exclude<T, "msg"> => one !== "msg");
    if (fixed !== "msg") {
      return this.setting(name, fixed, choices);
    }
    const property = verbatim(`msg.${name}`);
    const given = this.#msg[name];
    const found = choices.find((one) => one === given);
    if (found !== undefined) {
      return found;
    }
    const problem = phrase("oneOf", { choices });
    throw given === undefined || given === ""
      ? errorBeforeSending(this.#operation, "inputMissing", { field: property })
      : errorBeforeSending(this.#operation, "inputValue", { field: property, value: show(given), problem });
  }

  async #evaluate(name: FieldName, value: string, type: string): Promise<string | undefined> {
    try {
      return asText(await evaluateProperty(this.#RED, this.#node, this.#msg, value, type));
    } catch (error) {
      throw this.#badExpression(name, error);
    }
  }

  #badExpression(name: FieldName, error: unknown): DimensionerError {
    return errorBeforeSending(this.#operation, "inputExpression", {
      field: field(name),
      problem: expressionProblem(error),
    });
  }
}

function asText(value: unknown): string | undefined {
  switch (typeof value) {
    case "string":
      return value === "" ? undefined : value;
    case "number":
      return Number.isFinite(value) ? String(value) : undefined;
    case "bigint":
    case "boolean":
      return String(value);
    default:
      return undefined;
  }
}
