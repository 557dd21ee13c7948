import type { Node, NodeAPI } from "node-red";
import { phrase, verbatim } from "../../errors/interpolation.ts";
import { errorBeforeSending, show, type Operation } from "../failure.ts";
import type { Message } from "../messages.ts";
import { findNamed, type NamedNodes } from "./named-nodes.ts";
import { readNamedProperty } from "./property-setting.ts";

const problems = {
  device: { none: "deviceName", unknown: "noDeviceNamed", twice: "twoDevicesNamed" },
  cloud: { none: "cloudName", unknown: "noCloudNamed", twice: "twoCloudsNamed" },
} as const;

/** Selects a deployed config node by its name, which a message property holds. */
export class ChoiceByName {
  readonly #RED: NodeAPI;
  readonly #what: "device" | "cloud";
  /** The expression of the message's property, without `msg.`; empty if no message selects one. */
  readonly #property: string;
  #named: NamedNodes | undefined;

  constructor(RED: NodeAPI, what: "device" | "cloud", property: string) {
    this.#RED = RED;
    this.#what = what;
    this.#property = property;
  }

  /** Whether messages may select a node. */
  get isUsed(): boolean {
    return this.#property !== "";
  }

  /**
   * Returns undefined if the message does not have the property; throws ERR_INPUT if it is not the name of exactly one
   * node.
   */
  find(msg: Message, operation: Operation): Node | undefined {
    if (!this.isUsed) {
      return undefined;
    }
    const name = readNamedProperty(
      this.#RED,
      msg,
      { field: `${this.#what}From`, name: this.#property },
      operation,
    );
    if (name === undefined) {
      return undefined;
    }
    if (typeof name !== "string" || name.trim() === "") {
      return this.#refuse(operation, name, "none");
    }
    const [node, second] = this.#deployed(name);
    if (node === undefined) {
      return this.#refuse(operation, name, "unknown");
    }
    if (second !== undefined) {
      return this.#refuse(operation, name, "twice");
    }
    return node;
  }

  /** Returns the only node with this name; undefined if there is none, or another one. */
  only(name: string): Node | undefined {
    const [node, second] = this.#deployed(name);
    return second === undefined ? node : undefined;
  }

  #deployed(name: string): readonly Node[] {
    const known = this.#named?.find(name) ?? [];
    if (known.length > 0) {
      return known;
    }
    // Needed for the first message, and after the type was loaded again.
    this.#named = findNamed(this.#RED, `dimensioner-${this.#what}`);
    return this.#named?.find(name) ?? [];
  }

  #refuse(operation: Operation, name: unknown, problem: "none" | "unknown" | "twice"): never {
    throw errorBeforeSending(operation, "inputValue", {
      field: verbatim(`msg.${this.#property}`),
      value: show(name),
      problem: phrase(problems[this.#what][problem]),
    });
  }
}
