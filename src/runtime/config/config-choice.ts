import type { Node, NodeAPI } from "node-red";
import type { CloudClient } from "../../cloud/client.ts";
import type { DeviceClient } from "../../device/client.ts";
import type { Surface } from "../../errors/dimensioner-error.ts";
import { field, phrase } from "../../errors/interpolation.ts";
import { deviceKeyOf, type Peer } from "../../http/call.ts";
import { unknownInstrument } from "../../model/instrument.ts";
import { errorBeforeSending, type Operation } from "../failure.ts";
import type { Message } from "../messages.ts";
import { ChoiceByName } from "./choice-by-name.ts";
import type { Access, ConfigNode } from "./config-node.ts";
import type { Target } from "./target.ts";

/** The message for which a client is selected. */
interface Requester {
  readonly msg: Message;
  /** Set to the name of the selected device or cloud. */
  device?: string;
}

type Chosen<TClient> = Target & { readonly client: TClient };

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

/** The config node that an action node uses, or another deployed one that a message selects. */
export class ConfigChoice<TClient extends { readonly peer: Peer }> {
  readonly #RED: NodeAPI;
  readonly #what: "device" | "cloud";
  readonly #id: string;
  readonly #byName: ChoiceByName;

  constructor(RED: NodeAPI, what: "device" | "cloud", id: string, from: string) {
    this.#RED = RED;
    this.#what = what;
    this.#id = id;
    this.#byName = new ChoiceByName(RED, what, from.trim());
  }

  /** Why every message would fail, as far as it is known at the deploy; undefined if a message may succeed. */
  problem(): "configMissing" | "configInvalid" | undefined {
    if (this.#byName.isUsed && this.#id === "") {
      return undefined;
    }
    const access = this.#access(this.#RED.nodes.getNode(this.#id));
    if (access === undefined) {
      return "configMissing";
    }
    return "problem" in access ? "configInvalid" : undefined;
  }

  /** The surface of the node's own config node, for errors that belong to no other one. */
  surface(): Surface {
    const access = this.#access(this.#RED.nodes.getNode(this.#id));
    return access !== undefined && "client" in access ? access.client.peer.surface : "config";
  }

  /** Selects the config node for a message. Throws ERR_CONFIG, or ERR_INPUT if the message names no deployed node. */
  choose(requester: Requester, operation: string, acts: boolean): Chosen<TClient> {
    const unknown: Operation = { operation, acts, surface: "config" };
    return this.#choose(this.#byName.find(requester.msg, unknown), unknown, requester);
  }

  /** The same for a name that an open job has kept. ERR_CONFIG, also while not exactly one node has this name: the job waits. */
  chooseNamed(name: string | null, operation: string, acts: boolean): Chosen<TClient> {
    const unknown: Operation = { operation, acts, surface: "config" };
    const node = name === null ? undefined : this.#byName.only(name);
    if (name !== null && node === undefined) {
      throw errorBeforeSending(unknown, "configInvalid", {
        what: phrase(this.#what),
        field: field(`${this.#what}From`),
        problem: phrase("jobWaitsFor", { origin: name }),
      });
    }
    return this.#choose(node, unknown);
  }

  #choose(named: Node | undefined, unknown: Operation, requester: { device?: string } = {}): Chosen<TClient> {
    const node = named ?? this.#RED.nodes.getNode(this.#id);
    const access = this.#access(node);
    if (node === null || access === undefined) {
      throw errorBeforeSending(unknown, "configMissing", { what: phrase(this.#what) });
    }
    const { id, name: given = "" } = node;
    if ("problem" in access) {
      requester.device = given || id;
      throw errorBeforeSending(unknown, access.problem.sentence, access.problem.values);
    }
    const { client, recordings, instrument = unknownInstrument } = access;
    const name = given || client.peer.host;
    requester.device = name;
    return {
      client,
      recordings,
      instrument,
      id,
      name,
      deviceKey: deviceKeyOf(client.peer),
      operation: { ...unknown, surface: client.peer.surface },
    };
  }

  /** The same if no config node is required: null if neither the node nor the message names one. */
  chooseIfAny(requester: Requester, operation: string, acts: boolean): Chosen<TClient> | null {
    const unknown: Operation = { operation, acts, surface: "config" };
    const isNone = this.#id === "" && this.#byName.find(requester.msg, unknown) === undefined;
    return isNone ? null : this.choose(requester, operation, acts);
  }

  /** What the config node provides; undefined for other types, which have no `access`. */
  #access(node: Node | null): Access<TClient> | undefined {
    return node?.type === `dimensioner-${this.#what}` && "access" in node
      ? (node as ConfigNode<TClient>).access
      : undefined;
  }
}
