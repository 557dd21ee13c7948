import type { CheckOptions } from "@node-red/editor-client";
import { readLimits } from "../billing/tariffs/calculate.ts";
import { type Steps, isKnown, migrate } from "../properties/migrations.ts";
import {
  type ChoiceProperty,
  type ConfigProperty,
  type Property,
  type PropertyTable,
  type TextProperty,
  type TextRule,
  type TypedProperty,
  defaultsOf,
  valueTypes,
} from "../properties/property-table.ts";
import {
  readAddress,
  readBaseUrl,
  readDatabaseHost,
  readIpAddresses,
  readPageUrl,
  readTimestampServer,
} from "../rules/addresses.ts";
import { readBucketEndpoint, readBucketName, readPrefix } from "../rules/buckets.ts";
import { flagTexts, readFlag } from "../rules/flags.ts";
import {
  commaSeparated,
  fileNameProblem,
  headerNameProblem,
  layoutProblem,
  readPath,
  registrationCodeProblem,
} from "../rules/names.ts";
import { readNumber } from "../rules/numbers.ts";
import { type Problem, problem } from "../rules/problem.ts";
import { applicationIdentifierProblem, patternProblem, readCodeKinds } from "../rules/scans.ts";
import { sayProblem, shared, textsOf } from "./texts.ts";

/** Node-RED replaces `${NAME}` when it deploys, so the value is not known in the editor. */
function isEnvironment(value: string): boolean {
  return /^\$(?:\{[^}]+\}|\([^)]+\))$/.test(value);
}

/** Whether a check box is checked, or will be, if its value comes from an environment variable. */
export function mayBeTrue(value: string): boolean {
  return value === "true" || isEnvironment(value);
}

/** Migrates older nodes when the editor loads or imports them, before their dialogs are opened. */
export function migrateOnArrival(steps?: Steps): void {
  RED.events.on("nodes:add", (node: { type: string }) => {
    if (node.type.startsWith("dimensioner-")) {
      const saved = { ...node };
      const migrated = migrate(node.type, saved, steps);
      if (migrated !== saved) {
        Object.assign(node, migrated);
      }
    }
  });
}

/** The saved properties of one type, as its dialog knows them. */
export interface Fields {
  readonly type: string;
  readonly table: PropertyTable;
  label(property: string): string;
  /** The editor's `validate` of a property: true, or a sentence that says why the value is not valid. */
  check(
    node: object,
    property: string,
    value: SavedValue | null | undefined,
    options?: CheckOptions,
  ): true | string;
  /** What is wrong with the node as a whole, or with a field that the editor checks in an open dialog only. */
  checkNode(node: object, version: unknown): true | string;
}

type SavedValue = string | number | boolean;

/** Reads the present value of another property of the node. */
type Now = (property: string) => string;

/** `now` reads a value from the open dialog of the node if there is one, else the saved value. */
export function fieldsOf(
  type: string,
  table: PropertyTable,
  now: (node: object, property: string) => string,
): Fields {
  const texts = textsOf(type);
  const defaults: Readonly<Record<string, SavedValue>> = defaultsOf(table);
  const label = (property: string): string => texts(table[property]?.label ?? `label.${property}`);
  return {
    type,
    table,
    label,
    check(node, property, value, options) {
      const saved = table[property];
      const text = String(value ?? defaults[property] ?? "");
      if (saved === undefined || isEnvironment(text)) {
        return true;
      }
      const problem = problemOf(saved, property, text, (other) => now(node, other), texts);
      if (problem === null) {
        return true;
      }
      return options?.label === undefined
        ? problem
        : shared("problem.labelled", { label: options.label, problem });
    },
    checkNode(node, version) {
      if (!isKnown(type, { version })) {
        return texts("shared:errors.configNewer");
      }
      for (const [name, property] of Object.entries(table)) {
        if (property.kind !== "credential") {
          continue;
        }
        // Only whether there is a value is known here.
        const value = lacksCredential(node, name) ? "" : "given";
        const problem = problemOf(property, name, value, (other) => now(node, other), texts);
        if (problem !== null) {
          return shared("problem.labelled", { label: label(name), problem });
        }
      }
      return true;
    },
  };
}

/**
 * Whether a credential is certainly missing. The editor learns of stored credentials when the node's dialog is opened;
 * a node that was never deployed has none.
 */
function lacksCredential(node: object, name: string): boolean {
  const credentials: unknown = Reflect.get(node, "credentials");
  if (typeof credentials === "object" && credentials !== null) {
    const given: unknown = Reflect.get(credentials, name);
    const isStored = Reflect.get(credentials, `has_${name}`) === true;
    return !isStored && (typeof given !== "string" || given.trim() === "");
  }
  const id: unknown = Reflect.get(node, "id");
  // The flows as the editor last loaded or deployed them.
  const deployed: unknown = RED.nodes.originalFlow();
  return Array.isArray(deployed) && !deployed.some((known: { readonly id?: unknown }) => known.id === id);
}

/** Whether a property is used with the present values of the others; one that is not is hidden and never invalid. */
export function matters({ when = {} }: Property, now: Now): boolean {
  return Object.entries(when).every(([other, values]) =>
    values === "given"
      ? now(other).trim() !== ""
      : values.some((one) => (one === true ? mayBeTrue(now(other)) : String(one) === now(other))),
  );
}

/** The field of a dialog that is not blank while something was entered that is not in a list yet; no node has it saved. */
export function unfinishedOf(list: string): string {
  return `${list}Unfinished`;
}

function problemOf(
  property: Property,
  name: string,
  value: string,
  now: Now,
  texts: (key: string) => string,
): string | null {
  if (!matters(property, now)) {
    return null;
  }
  if ("unfinished" in property && property.unfinished !== undefined && now(unfinishedOf(name)) !== "") {
    return texts(property.unfinished);
  }
  if ("required" in property && property.required !== undefined && value.trim() === "") {
    return texts(property.required);
  }
  switch (property.kind) {
    case "text":
      return textProblem(property, value, now);
    case "number":
      return say(problemIn(readNumber(property.of, value)));
    case "choice":
      return choiceProblem(property, value, now);
    case "typed":
      return typedProblem(property, value, now(`${name}Type`), now);
    case "config":
      return configProblem(property, name, value, now);
    case "nameFrom":
      return value === "" ? null : expressionProblem(value, "msg");
    case "flag":
      return readFlag(value) === undefined ? say(problem("noneOf", { value, choices: flagTexts })) : null;
    case "credential":
    case "outputs":
      return null;
  }
}

function textProblem({ rule }: TextProperty, value: string, now: Now): string | null {
  if (rule === "messageProperties") {
    const problems = commaSeparated(value).map((name) => expressionProblem(name, "msg"));
    return problems.find((one) => one !== null) ?? null;
  }
  return rule === undefined ? null : say(ruleProblem(rule, value, now));
}

function choiceProblem({ of, occupies }: ChoiceProperty, value: string, now: Now): string | null {
  if (!of.includes(value)) {
    return shared("problem.choice");
  }
  const isTaken = occupies === true && now(value) !== "";
  return isTaken ? shared("problem.referenceTaken") : null;
}

function typedProblem(
  { types = valueTypes, rule }: TypedProperty,
  value: string,
  type: string,
  now: Now,
): string | null {
  if (!types.some((one) => one === type)) {
    return shared("problem.choice");
  }
  if (value.trim() === "") {
    return null;
  }
  if (type !== "str") {
    return expressionProblem(value, type);
  }
  return rule === undefined ? null : say(ruleProblem(rule, value, now));
}

function expressionProblem(value: string, type: string): string | null {
  const verdict = RED.utils.validateTypedProperty(value, type, {});
  return verdict === true ? null : verdict;
}

function configProblem(
  { from, isOptional, generation }: ConfigProperty,
  name: string,
  value: string,
  now: Now,
): string | null {
  if (value === "" || value === "_ADD_") {
    const isNeeded = from !== undefined && isOptional !== true && now(from) === "";
    return isNeeded ? shared(`problem.${name}Missing`) : null;
  }
  const chosen = RED.nodes.node(value);
  if (chosen === null || chosen === undefined) {
    return shared("problem.configGone");
  }
  if (Reflect.get(chosen, "valid") === false) {
    return shared("problem.configInvalid");
  }
  return generation === undefined || (Reflect.get(chosen, "generation") ?? generation) === generation
    ? null
    : shared("problem.deviceMeasuresOnly");
}

function ruleProblem(rule: TextRule, value: string, now: Now): Problem | null {
  switch (rule) {
    case "applicationIdentifier":
      return applicationIdentifierProblem(value);
    case "baseUrl":
      return problemIn(readBaseUrl(value, mayBeTrue(now("allowHttp"))));
    case "bucketEndpoint":
      return value.trim() === "" ? null : problemIn(readBucketEndpoint(value));
    case "bucketName":
      return problemIn(readBucketName(value));
    case "bucketPrefix":
      return problemIn(readPrefix(value));
    case "codeKinds":
      return problemIn(readCodeKinds(value));
    case "databaseHost":
      return problemIn(readDatabaseHost(value));
    case "deviceAddress":
      return problemIn(readAddress(value));
    case "fileName":
      return fileNameProblem(value);
    case "headerName":
      return headerNameProblem(value);
    case "ipAddresses":
      return problemIn(readIpAddresses(value));
    case "layout":
      return layoutProblem(value);
    case "limits":
      return problemIn(readLimits(value));
    case "pagePath":
      return value.trim() === "" ? null : problemIn(readPath(value));
    case "pageUrl":
      return value.trim() === "" ? null : problemIn(readPageUrl(value));
    case "pattern":
      return patternProblem(value);
    case "timestampServer":
      return problemIn(readTimestampServer(value, false));
    case "registrationCode":
      return registrationCodeProblem(value);
    case "webhookPath":
      return problemIn(readPath(value));
  }
}

function problemIn(read: object | { readonly problem: Problem }): Problem | null {
  return "problem" in read ? read.problem : null;
}

function say(problem: Problem | null): string | null {
  return problem === null ? null : sayProblem(problem);
}

/**
 * A new node uses the only device, cloud or store that it can use, or the first one that is added later. To be called in a type's
 * onadd.
 */
export function chooseOnly(node: object, { table }: Fields): void {
  const { id } = node as { readonly id: string };
  // The editor calls onadd before it adds a new node, but after it has imported one. An imported node keeps its blank field.
  if (onCanvas(id) !== null) {
    return;
  }
  choose(node, table);
  if (!isDecided(node, table)) {
    chooseLater(id, table);
  }
}

/** Looks again whenever a config node is added, until all are chosen or somebody has closed the node's dialog with "Done". */
function chooseLater(id: string, table: PropertyTable): void {
  const types = new Set(configsOf(table).map(([, { of }]) => of));
  const stop = (): void => {
    RED.events.off("nodes:add", look);
    RED.events.off("editor:save", stopIfSaved);
  };
  const look = ({ type }: { readonly type: string }): void => {
    if (types.has(type)) {
      // An import adds them one by one: the first of several is not the only one.
      setTimeout(update);
    }
  };
  const update = (): void => {
    const node = onCanvas(id);
    if (node === null) {
      stop();
      return;
    }
    if (choose(node, table)) {
      RED.nodes.updateConfigNodeUsers(node);
      RED.editor.validateNode(node);
      Object.assign(node, { changed: true, dirty: true });
      RED.view.redraw();
    }
    if (isDecided(node, table)) {
      stop();
    }
  };
  const stopIfSaved = (saved: { readonly id: string }): void => {
    if (saved.id === id) {
      stop();
    }
  };
  RED.events.on("nodes:add", look);
  RED.events.on("editor:save", stopIfSaved);
}

function onCanvas(id: string): object | null {
  return RED.nodes.node(id) ?? null;
}

/** Whether it has chosen any. */
function choose(node: object, table: PropertyTable): boolean {
  let hasChosen = false;
  for (const [name, property] of configsOf(table)) {
    const [only, second] = isBlank(node, name, property) ? usableBy(node, property) : [];
    if (only !== undefined && second === undefined) {
      Reflect.set(node, name, only);
      hasChosen = true;
    }
  }
  return hasChosen;
}

function isDecided(node: object, table: PropertyTable): boolean {
  return configsOf(table).every(([name, property]) => !isBlank(node, name, property));
}

/** Neither chosen nor left to the message. */
function isBlank(node: object, name: string, { from = name }: ConfigProperty): boolean {
  return [name, from].every((one) => (Reflect.get(node, one) ?? "") === "");
}

function configsOf(table: PropertyTable): (readonly [string, ConfigProperty])[] {
  return Object.entries(table).flatMap(([name, property]) =>
    property.kind === "config" && property.of.startsWith("dimensioner-") ? [[name, property] as const] : [],
  );
}

/** The ids of the enabled config nodes that nodes on this tab can use, and that have the required generation. */
export function usableBy(
  node: object,
  { of, generation }: Pick<ConfigProperty, "generation" | "of">,
): string[] {
  const found: string[] = [];
  RED.nodes.eachConfig((config) => {
    const { id, type, d: isDisabled = false, z = "", ...saved }: Partial<ConfigNode> = config;
    const isInReach = z === "" || z === Reflect.get(node, "z");
    const fits = generation === undefined || (saved.generation ?? generation) === generation;
    if (id !== undefined && type === of && !isDisabled && isInReach && fits) {
      found.push(id);
    }
    return true;
  });
  return found;
}

/** A config node as the editor holds it. */
interface ConfigNode {
  readonly id: string;
  readonly type: string;
  readonly d?: boolean;
  /** Id of the tab or subflow that it belongs to; blank for all. */
  readonly z?: string;
  readonly generation?: string;
}
