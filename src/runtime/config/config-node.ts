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

/** What a config node hands out: behaviour, never its address or its token; or why it cannot. */
export type Access<TClient> = { readonly client: TClient } | { readonly problem: DimensionerError };

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

/** The client for one message, and the operation as its errors name it. */
interface Chosen<TClient> {
  readonly client: TClient;
  readonly operation: Operation;
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

  /** The surface of the node's own choice, for errors that belong to no other. */
  surface(): Surface {
    const access = this.#access(this.#RED.nodes.getNode(this.#id));
    return access !== undefined && "client" in access ? access.client.peer.surface : "config";
  }

  /** Throws ERR_CONFIG, or ERR_INPUT where what the message chooses is none. */
  choose(msg: Message, operation: string, acts: boolean): Chosen<TClient> {
    const unknown: Operation = { operation, acts, surface: "config" };
    const node = this.#byName?.find(msg, unknown) ?? this.#RED.nodes.getNode(this.#id);
    const access = this.#access(node);
    if (access === undefined) {
      throw errorBeforeSending(unknown, "configMissing", { what: phrase(this.#what) });
    }
    if ("problem" in access) {
      throw errorBeforeSending(unknown, access.problem.sentence, access.problem.values);
    }
    const { client } = access;
    return { client, operation: { operation, acts, surface: client.peer.surface } };
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
    return "client" in access && this.#isClient(access.client) ? { client: access.client } : undefined;
  }
}
