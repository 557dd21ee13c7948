import type { Node, NodeAPI } from "node-red";
import { CloudClient } from "../../cloud/client.ts";
import { DeviceClient } from "../../device/client.ts";
import { DimensionerError, type Surface } from "../../errors/dimensioner-error.ts";
import { phrase } from "../../errors/interpolation.ts";
import type { Peer } from "../../http/call.ts";
import { errorBeforeSending, type Operation } from "../failure.ts";
import type { Message } from "../messages.ts";
import { ChoiceByName } from "./choice-by-name.ts";
import type { NamedNodes } from "./named-nodes.ts";
import { Recordings } from "./recordings.ts";

/** What a config node hands out: behaviour, never its address or its token; or why it cannot. */
export type Access<TClient> =
  | {
      readonly client: TClient;
      /** Shared by all of its type. */
      readonly recordings: Recordings;
    }
  | { readonly problem: DimensionerError };

export interface ConfigNode<TClient, TCredentials extends object = object> extends Node<TCredentials> {
  access: Access<TClient>;
  /** Shared by all of its type. */
  named: NamedNodes;
}

/** Opens what a config node hands out; settings that cannot be used become the problem that it has instead. */
export function openOrExplain<TOpened>(
  open: () => TOpened,
): TOpened | { readonly problem: DimensionerError } {
  try {
    return open();
  } catch (error) {
    if (error instanceof DimensionerError) {
      return { problem: error };
    }
    throw error;
  }
}

interface Client {
  readonly peer: Peer;
}

/** Whose message asks for a client. */
interface Asking {
  readonly msg: Message;
  /** Is set to how people call what was chosen. */
  device?: string;
}

/** The client for one message, and the operation as its errors name it. */
export interface Chosen<TClient> {
  readonly client: TClient;
  readonly operation: Operation;
  /** The config node by its id, and as people call it: by its name, or its address where it has none. */
  readonly id: string;
  readonly name: string;
  readonly recordings: Recordings;
}

export function deviceChoice(
  RED: NodeAPI,
  { device, deviceFrom }: { device: string; deviceFrom: string },
): ConfigChoice<DeviceClient> {
  return new ConfigChoice(RED, "device", device, deviceFrom, (client) => client instanceof DeviceClient);
}

export function cloudChoice(
  RED: NodeAPI,
  { cloud, cloudFrom }: { cloud: string; cloudFrom: string },
): ConfigChoice<CloudClient> {
  return new ConfigChoice(RED, "cloud", cloud, cloudFrom, (client) => client instanceof CloudClient);
}

/** The config node that an action node uses, and how a message may choose another one that is deployed. */
export class ConfigChoice<TClient extends Client> {
  readonly #RED: NodeAPI;
  readonly #what: "device" | "cloud";
  readonly #type: string;
  readonly #id: string;
  /** Undefined where every message uses the node's own choice. */
  readonly #byName: ChoiceByName | undefined;
  readonly #isClient: (client: unknown) => client is TClient;

  constructor(
    RED: NodeAPI,
    what: "device" | "cloud",
    id: string,
    from: string,
    isClient: (client: unknown) => client is TClient,
  ) {
    this.#RED = RED;
    this.#what = what;
    this.#type = `dimensioner-${what}`;
    this.#id = id;
    this.#byName = from.trim() === "" ? undefined : new ChoiceByName(RED, what, from.trim());
    this.#isClient = isClient;
  }

  /** Why every message would fail, known at deploy; undefined when a message could succeed. */
  problem(): "configMissing" | "configInvalid" | undefined {
    if (this.#byName !== undefined && this.#id === "") {
      return undefined;
    }
    const access = this.#access(this.#RED.nodes.getNode(this.#id));
    if (access === undefined) {
      return "configMissing";
    }
    return "problem" in access ? "configInvalid" : undefined;
  }

  /** The same where none is needed: null where neither the node nor the message chooses one. */
  chooseIfAny(asking: Asking, operation: string, acts: boolean): Chosen<TClient> | null {
    const unknown: Operation = { operation, acts, surface: "config" };
    const isNone = this.#id === "" && this.#byName?.find(asking.msg, unknown) === undefined;
    return isNone ? null : this.choose(asking, operation, acts);
  }

  /** The surface of the node's own choice, for errors that belong to no other. */
  surface(): Surface {
    const access = this.#access(this.#RED.nodes.getNode(this.#id));
    return access !== undefined && "client" in access ? access.client.peer.surface : "config";
  }

  /** Throws ERR_CONFIG, or ERR_INPUT where what the message chooses is none. */
  choose(asking: Asking, operation: string, acts: boolean): Chosen<TClient> {
    const unknown: Operation = { operation, acts, surface: "config" };
    const node = this.#byName?.find(asking.msg, unknown) ?? this.#RED.nodes.getNode(this.#id);
    const access = this.#access(node);
    if (node === null || access === undefined) {
      throw errorBeforeSending(unknown, "configMissing", { what: phrase(this.#what) });
    }
    const { id, name: given = "" } = node;
    if ("problem" in access) {
      asking.device = given || id;
      throw errorBeforeSending(unknown, access.problem.sentence, access.problem.values);
    }
    const { client, recordings } = access;
    const name = given || client.peer.host;
    asking.device = name;
    return { client, recordings, id, name, operation: { operation, acts, surface: client.peer.surface } };
  }

  #access(node: Node | null): Access<TClient> | undefined {
    if (node?.type !== this.#type || !("access" in node)) {
      return undefined;
    }
    const { access } = node;
    if (typeof access !== "object" || access === null) {
      return undefined;
    }
    if ("problem" in access && access.problem instanceof DimensionerError) {
      return { problem: access.problem };
    }
    return "client" in access &&
      this.#isClient(access.client) &&
      "recordings" in access &&
      access.recordings instanceof Recordings
      ? { client: access.client, recordings: access.recordings }
      : undefined;
  }
}
