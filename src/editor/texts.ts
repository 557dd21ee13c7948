import { formatBytes } from "../rules/bytes.ts";
import { fillIn } from "../rules/fill-in.ts";
import { instantOf } from "../rules/instants.ts";
import type { Problem } from "../rules/problem.ts";

const units = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;

/** "3 minutes ago", in the editor's language; undefined for an invalid time. */
export function ago(time: string): string | undefined {
  const seconds = (instantOf(time) - Date.now()) / 1000;
  if (Number.isNaN(seconds)) {
    return undefined;
  }
  // If the other clock is ahead, the time must not appear to be in the future.
  const past = Math.min(0, seconds);
  const [unit, length] = units.find(([, one]) => -past >= one) ?? ["second", 1];
  return new Intl.RelativeTimeFormat(RED.i18n.lang(), { numeric: "auto" }).format(
    Math.round(past / length),
    unit,
  );
}

const packageName = "@dimflow/node-red-dimensioner";
const sharedCatalog = "dimensioner-device";

export type Texts = (key: string, values?: Record<string, string | number>) => string;

/**
 * The texts of one node type's catalog; a key with the prefix `shared:` is looked up in the catalog that all types
 * share.
 */
export function textsOf(type: string): Texts {
  return (key, values = {}) => {
    const [catalog, name] = key.startsWith("shared:") ? [sharedCatalog, key.slice(7)] : [type, key];
    // Filled here: the library of the editor would look in the values for references to other texts.
    return fillIn(RED._(`${packageName}/${catalog}:${name}`), values, String);
  };
}

const deviceTexts = textsOf(sharedCatalog);

/** The catalog that all types share is that of the device config node. */
export const shared: Texts = (key, values) => deviceTexts(`common.${key}`, values);

/** The problem that a rule has found, as a sentence of its own; the runtime puts the same text behind a colon. */
export function sayProblem(problem: Problem): string {
  const said = sayValue(problem);
  return said.charAt(0).toLocaleUpperCase() + said.slice(1);
}

/**
 * The values for the placeholders of a sentence: phrases by their keys, plain text, sizes and times; see
 * src/errors/interpolation.ts.
 */
export function sayValue(value: unknown): string {
  if (Array.isArray(value)) {
    return value.map(sayValue).join(", ");
  }
  if (typeof value !== "object" || value === null) {
    return String(value);
  }
  const { phrase, values, verbatim, bytes, time } = value as Readonly<Record<string, unknown>>;
  if (typeof bytes === "number") {
    return formatBytes(bytes, RED.i18n.lang());
  }
  if (typeof time === "string") {
    return ago(time) ?? time;
  }
  if (typeof phrase !== "string") {
    return String(verbatim);
  }
  return deviceTexts(phrase, sayEach(typeof values === "object" && values !== null ? values : {}));
}

function sayEach(values: object): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, sayValue(value)]));
}

/** A sentence that the runtime names by its key: an error of a flow, or a result of a test. */
export function sharedSentence(
  from: "errors" | "test",
  key: string,
  values: Readonly<Record<string, unknown>>,
): string {
  const said = sayEach(values);
  return from === "errors" ? deviceTexts(`errors.${key}`, said) : shared(`test.${key}`, said);
}

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
