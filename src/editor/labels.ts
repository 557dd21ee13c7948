import { shared } from "./texts.ts";

/** The device or cloud in a node's label: a config node's name, or the message property that names one. */
export function targetOf(configId: string, from: string): string {
  if (from !== "") {
    return `msg.${from}`;
  }
  const chosen = RED.nodes.node(configId);
  return chosen === null || chosen === undefined ? "" : configLabel(chosen);
}

/** A typed value in a label: the value itself, or where it comes from. */
export function shownValue(value: string, type: string): string {
  if (value === "") {
    return "";
  }
  return type === "str"
    ? value
    : type === "msg" || type === "flow" || type === "global"
      ? `${type}.${value}`
      : "";
}

/** "measure: Dock 3"; without a target only the action. */
export function actAt(act: string, target: string): string {
  return target === "" ? act : shared("labelled", { act, target });
}

/** A node that has a name of its own shows it in italics, as the core nodes do. */
export function labelStyle(name: string): string {
  return name === "" ? "" : "node_label_italic";
}

function configLabel(node: object): string {
  const name: unknown =
    Reflect.get(node, "name") || Reflect.get(node, "address") || Reflect.get(node, "baseUrl");
  return typeof name === "string" ? name : "";
}

/** The label of an output port: what it sends. */
export function outputLabel(output: string): string {
  return shared(output === "file" ? "port.file" : "port.buffer");
}

/** The labels of a node's ports when it measures. */
export function measureOutputLabel(index: number): string {
  return shared(index === 0 ? "port.measurement" : "port.failed");
}
