import type { NodeAPI } from "node-red";
import type { DimensionerError } from "../../errors/dimensioner-error.ts";
import {
  type FieldName,
  type Phrase,
  type Problem,
  field,
  isField,
  phrase,
  verbatim,
} from "../../errors/interpolation.ts";
import type { TlsOptions } from "../../http/connections.ts";
import type {
  ChoiceProperty,
  NumberProperty,
  PropertyTable,
  Saved,
} from "../../properties/property-table.ts";
import { flagTexts, readFlag } from "../../rules/flags.ts";
import { type NumberKind, readNumber } from "../../rules/numbers.ts";
import {
  type Operation,
  errorBeforeSending,
  show,
  type Message,
  expressionProblem,
  readMessageProperty,
} from "../messages.ts";

const ofConfigNode: Operation = { operation: "settings", surface: "config", acts: false };

type Duration = "timeout" | "wait" | "milliseconds" | "hours";
type Plain = Exclude<NumberKind, Duration>;

/**
 * The settings of a table of properties, with durations in milliseconds. Values that a message may give are read
 * elsewhere.
 */
export type Settings<T extends PropertyTable> = {
  readonly [
    K in keyof T & string as T[K] extends { kind: "number"; of: Duration } ? `${K}Ms` : never
  ]: number;
} & {
  readonly [K in keyof T as T[K] extends { kind: "number"; of: Plain } ? K : never]: number;
} & {
  readonly [K in keyof T as T[K] extends { kind: "flag" } ? K : never]: boolean;
} & {
  readonly [
    K in keyof T & keyof Saved<T> as T[K] extends { kind: "text" | "choice" | "config" } ? K : never
  ]: Saved<T>[K];
};

const msOf: Readonly<Record<Duration, number>> = {
  timeout: 1000,
  wait: 1000,
  milliseconds: 1,
  hours: 3_600_000,
};

/**
 * Reads the saved properties of a node by their table. Flows are written by hand too, and values can come from
 * environment variables. A blank value becomes the table's default; an invalid one ends in ERR_CONFIG.
 */
export class SettingsReader {
  readonly #what: Phrase;
  readonly #operation: Operation;

  constructor(what: "cloud" | "device" | "node" | "store" | "webhook", operation: Operation = ofConfigNode) {
    this.#what = phrase(what);
    this.#operation = operation;
  }

  read<const T extends PropertyTable>(table: T, saved: Saved<T>): Settings<T> {
    this.refuseUnset(saved);
    const given: Readonly<Record<string, unknown>> = saved;
    const settings: Record<string, unknown> = {};
    for (const [name, property] of Object.entries(table)) {
      switch (property.kind) {
        case "number":
          settings[isDuration(property.of) ? `${name}Ms` : name] = this.number(name, property, given[name]);
          break;
        case "choice":
          settings[name] = this.#choice(name, property, given[name]);
          break;
        case "flag":
          settings[name] = this.flag(name, property.default, given[name]);
          break;
        case "text":
        case "config":
          settings[name] = textOf(given[name]);
          break;
        case "typed":
        case "nameFrom":
        case "credential":
        case "outputs":
      }
    }
    return settings as Settings<T>;
  }

  /**
   * Throws ERR_CONFIG for a property or a credential that names an environment variable that is not set: Node-RED leaves `${NAME}` as it is, and
   * it would go out as an address, a token or a name. `isSet` says it of a variable in a typed input, of which nothing would be left.
   */
  refuseUnset(given: object, isSet: (variable: string) => boolean = () => true): void {
    const values = new Map<string, unknown>(Object.entries(given));
    for (const [name, value] of values) {
      const text = typeof value === "string" ? value : "";
      const variable =
        values.get(`${name}Type`) === "env"
          ? variablesIn(text).find((one) => !isSet(one))
          : environmentName(text);
      if (variable !== undefined) {
        throw this.invalid(name, phrase("environmentUnset", { name: variable }));
      }
    }
  }

  /** Reads a number; a duration in milliseconds. */
  number(name: string, property: NumberProperty, given: unknown): number {
    const read = readNumber(property.of, given);
    if ("problem" in read) {
      throw this.invalid(name, read.problem);
    }
    const value = read.value ?? property.ifBlank ?? property.default;
    return isDuration(property.of) ? value * msOf[property.of] : value;
  }

  /** Reads a check box. */
  flag(name: string, ifBlank: boolean, given: unknown): boolean {
    const read = readFlag(given);
    if (read === undefined) {
      throw this.invalid(name, phrase("noneOf", { value: show(given), choices: flagTexts }));
    }
    return read ?? ifBlank;
  }

  #choice(name: string, { of: choices }: ChoiceProperty, given: unknown): string {
    const found = choices.find((choice) => choice === given);
    if (found === undefined) {
      throw this.invalid(name, phrase("noneOf", { value: show(given), choices }));
    }
    return found;
  }

  invalid(name: string, problem: Problem): DimensionerError {
    return errorBeforeSending(this.#operation, "configInvalid", {
      what: this.#what,
      field: isField(name) ? field(name) : verbatim(name),
      problem,
    });
  }
}

/** Reads the settings of a node. */
export function settingsOf<const T extends PropertyTable>(
  table: T,
  saved: Saved<T>,
): (reader: SettingsReader) => Settings<T> {
  return (reader) => reader.read(table, saved);
}

/** The name of the variable in a value that Node-RED replaces: `${NAME}`, or in older flows `$(NAME)`. */
export function environmentName(value: string): string | undefined {
  const [, braces, round] = /^\$(?:\{(\S+)\}|\((\S+)\))$/.exec(value) ?? [];
  return braces ?? round;
}

/** The names of the variables in a typed input of type env: one name, or a text with `${NAME}` in it. */
function variablesIn(text: string): string[] {
  const marked = [...text.matchAll(/\$\{([^}]+)\}/g)].flatMap(([, name = ""]) => name);
  return marked.length > 0 || text.trim() === "" ? marked : [text.trim()];
}

function isDuration(kind: NumberKind): kind is Duration {
  return kind in msOf;
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

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

/** Why there is no deployed config node with this id: nobody has selected one, or it, or its flow, is disabled. */
export function absence(RED: NodeAPI, id: string): "configMissing" | "configDisabled" {
  const disabled = new Set<string>();
  let flowId = "";
  RED.nodes.eachNode((definition: { id: string; z?: string; d?: boolean; disabled?: boolean }) => {
    if (definition.d === true || definition.disabled === true) {
      disabled.add(definition.id);
    }
    if (definition.id === id) {
      flowId = definition.z ?? "";
    }
  });
  return disabled.has(id) || disabled.has(flowId) ? "configDisabled" : "configMissing";
}

/** The core tls-config node, which adds its settings to a given object. */
interface TlsConfig {
  readonly valid: boolean;
  addTLSOptions(options: TlsOptions): TlsOptions;
}

/** Reads a core tls-config node; undefined if none is selected. Throws ERR_CONFIG if it is missing or invalid. */
export function readTls(RED: NodeAPI, id: string, settings: SettingsReader): TlsOptions | undefined {
  if (id === "") {
    return undefined;
  }
  const node: unknown = RED.nodes.getNode(id);
  if (!isTlsConfig(node)) {
    throw settings.invalid("tls", phrase(absence(RED, id) === "configDisabled" ? "tlsDisabled" : "tlsGone"));
  }
  if (!node.valid) {
    throw settings.invalid("tls", phrase("tlsInvalid"));
  }
  return node.addTLSOptions({});
}

function isTlsConfig(node: unknown): node is TlsConfig {
  return typeof node === "object" && node !== null && "valid" in node && "addTLSOptions" in node;
}

/**
 * Returns the proxy for requests to the cloud, by the rules of the core http request node: a selected http proxy node,
 * else the environment's proxy variables, npm's among them, unless no_proxy excludes the host. Undefined: none. Throws ERR_CONFIG.
 */
export function chooseProxy(
  RED: NodeAPI,
  id: string,
  origin: string,
  settings: SettingsReader,
  env: NodeJS.ProcessEnv = process.env,
): string | undefined {
  const { url, noProxy, variable } = id === "" ? fromEnvironment(origin, env) : fromNode(RED, id, settings);
  if (url === "" || isExcepted(new URL(origin), noProxy)) {
    return undefined;
  }
  const proxy = URL.canParse(url) ? new URL(url) : null;
  if (proxy === null || !/^https?:$/.test(proxy.protocol)) {
    const problem =
      variable === undefined ? phrase("proxyAddress") : phrase("proxyVariable", { name: variable });
    throw settings.invalid("proxy", problem);
  }
  return proxy.href;
}

interface ProxyRules {
  readonly url: string;
  /** The environment variable that names the proxy. */
  readonly variable?: string;
  readonly noProxy: readonly string[];
}

function fromEnvironment(origin: string, env: NodeJS.ProcessEnv): ProxyRules {
  const find = (...names: readonly string[]): string =>
    names.flatMap((name) => [name, name.toUpperCase()]).find((name) => env[name]) ?? "";
  const scheme = new URL(origin).protocol.slice(0, -1);
  const own = `${scheme}_proxy`;
  const variable = find(`npm_config_${own}`, own, "npm_config_proxy", "all_proxy");
  const url = env[variable] ?? "";
  return {
    variable,
    url: url === "" || url.includes("://") ? url : `${scheme}://${url}`,
    noProxy: (env[find("npm_config_no_proxy", "no_proxy")] ?? "").split(/[,\s]+/),
  };
}

function fromNode(RED: NodeAPI, id: string, settings: SettingsReader): ProxyRules {
  const node: unknown = RED.nodes.getNode(id);
  if (typeof node !== "object" || node === null || !("url" in node) || typeof node.url !== "string") {
    const isDisabled = absence(RED, id) === "configDisabled";
    throw settings.invalid("proxy", phrase(isDisabled ? "proxyDisabled" : "proxyGone"));
  }
  const { username, password } = readLogin("credentials" in node ? node.credentials : undefined);
  const name = [node.url, username, password].map(environmentName).find((one) => one !== undefined);
  if (name !== undefined) {
    throw settings.invalid("proxy", phrase("environmentUnset", { name }));
  }
  if (!URL.canParse(node.url)) {
    throw settings.invalid("proxy", phrase("proxyAddress"));
  }
  const url = new URL(node.url);
  if (username !== "" || password !== "") {
    url.username = encodeURIComponent(username);
    url.password = encodeURIComponent(password);
  }
  const noProxy = "noproxy" in node && Array.isArray(node.noproxy) ? node.noproxy.map(String) : [];
  return { url: url.href, noProxy };
}

function readLogin(credentials: unknown): { username: string; password: string } {
  const read = (name: string): string => {
    const value: unknown =
      typeof credentials === "object" && credentials !== null ? Reflect.get(credentials, name) : undefined;
    return typeof value === "string" ? value : "";
  };
  return { username: read("username"), password: read("password") };
}

/** The rules of no_proxy as Node-RED reads it: exact host, host:port, ".domain" or "*.domain" for an ending, "*" for all. */
function isExcepted(url: URL, noProxy: readonly string[]): boolean {
  const port = url.port === "" ? { "http:": "80", "https:": "443" }[url.protocol] : url.port;
  return noProxy.some((entry) => {
    const [, host = "", onlyPort] = /^(.+?)(?::(\d+))?$/.exec(entry.trim().toLowerCase()) ?? [];
    if (host === "" || (onlyPort !== undefined && onlyPort !== port)) {
      return false;
    }
    if (host === "*") {
      return true;
    }
    return /^[.*]/.test(host) ? url.hostname.endsWith(host.replace(/^\*/, "")) : url.hostname === host;
  });
}
