import type { Node, NodeAPI } from "node-red";
import type { CloudClient } from "../../cloud/client.ts";
import type { DeviceClient } from "../../device/client.ts";
import type { Surface } from "../../errors/dimensioner-error.ts";
import { phrase } from "../../errors/interpolation.ts";
import { machineOf, type Peer } from "../../http/call.ts";
import { errorBeforeSending, type Operation } from "../failure.ts";
import type { Message } from "../messages.ts";
import { ChoiceByName } from "./choice-by-name.ts";
import type { Access, ConfigNode } from "./config-node.ts";
import { unknownInstrument, type Instrument } from "./instrument.ts";
import type { Recordings } from "./recordings.ts";

/** Whose message asks for a client. */
interface Asking {
  readonly msg: Message;
  /** Is set to how people call what was chosen. */
  device?: string;
}

/** The machine that a message is for. */
export interface Target {
  /** What is done to it, as its errors name it. */
  readonly operation: Operation;
  /** The config node by its id, and as people call it: by its name, or its address where it has none. */
  readonly id: string;
  readonly name: string;
  /** As the command queues and the recordings know it. */
  readonly machine: string;
  /** Of a device behind the cloud. */
  readonly deviceReference?: string;
  readonly recordings: Recordings;
  /** What is known of the device as a measuring instrument; nothing of one behind the cloud. */
  readonly instrument: Instrument;
}

type Chosen<TClient> = Target & { readonly client: TClient };

/** The same for a device behind the cloud that was chosen. */
export function behind(cloud: Target, peer: Peer, deviceReference: string): Target {
  return { ...cloud, deviceReference, machine: machineOf(peer, deviceReference) };
}

export function deviceChoice(
  RED: NodeAPI,
  { device, deviceFrom }: { device: string; deviceFrom: string },
): ConfigChoice<DeviceClient> {
  return new ConfigChoice(RED, "device", device, deviceFrom);
}

export function cloudChoice(
  RED: NodeAPI,
  { cloud, cloudFrom }: { cloud: string; cloudFrom: string },
): ConfigChoice<CloudClient> {
  return new ConfigChoice(RED, "cloud", cloud, cloudFrom);
}

/** The config node that an action node uses, and how a message may choose another one that is deployed. */
export class ConfigChoice<TClient extends { readonly peer: Peer }> {
  readonly #RED: NodeAPI;
  readonly #what: "device" | "cloud";
  readonly #id: string;
  /** Undefined where every message uses the node's own choice. */
  readonly #byName: ChoiceByName | undefined;

  constructor(RED: NodeAPI, what: "device" | "cloud", id: string, from: string) {
    this.#RED = RED;
    this.#what = what;
    this.#id = id;
    this.#byName = from.trim() === "" ? undefined : new ChoiceByName(RED, what, from.trim());
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
    const { client, recordings, instrument = unknownInstrument } = access;
    const name = given || client.peer.host;
    asking.device = name;
    const { peer } = client;
    return {
      client,
      recordings,
      instrument,
      id,
      name,
      machine: machineOf(peer),
      operation: { operation, acts, surface: peer.surface },
    };
  }

  /** The same where none is needed: null where neither the node nor the message chooses one. */
  chooseIfAny(asking: Asking, operation: string, acts: boolean): Chosen<TClient> | null {
    const unknown: Operation = { operation, acts, surface: "config" };
    const isNone = this.#id === "" && this.#byName?.find(asking.msg, unknown) === undefined;
    return isNone ? null : this.choose(asking, operation, acts);
  }

  /** What the config node hands out; undefined where there is none of this type, which nobody else registers. */
  #access(node: Node | null): Access<TClient> | undefined {
    return node?.type === `dimensioner-${this.#what}` && "access" in node
      ? (node as ConfigNode<TClient>).access
      : undefined;
  }
}
