import type { Node, NodeAPI } from "node-red";
import type { CloudClient } from "../../cloud/client.ts";
import type { RegisteredDevices } from "../../cloud/fleet.ts";
import type { DeviceClient } from "../../device/client.ts";
import { DimensionerError, type Surface } from "../../errors/dimensioner-error.ts";
import { field, phrase, verbatim } from "../../errors/interpolation.ts";
import { type Peer, deviceKeyOf } from "../../http/call.ts";
import { type Instrument, unknownInstrument } from "../../model/instrument.ts";
import { type Operation, errorBeforeSending, show, type Message } from "../messages.ts";
import type { Recordings } from "./recordings.ts";
import { absence, readNamedProperty } from "./settings.ts";

/** The message for which a client is selected. */
interface Requester {
  readonly msg: Message;
  /** Set to the name of the selected device or cloud. */
  device?: string;
}

type Chosen<TClient> = ChosenNode & { readonly client: TClient };

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
  problem(): "configMissing" | "configDisabled" | "configInvalid" | undefined {
    if (this.#byName.isUsed && this.#id === "") {
      return undefined;
    }
    const access = this.#access(this.#RED.nodes.getNode(this.#id));
    if (access === undefined) {
      return absence(this.#RED, this.#id);
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
      throw errorBeforeSending(unknown, absence(this.#RED, this.#id), { what: phrase(this.#what) });
    }
    const { id, name: given = "" } = node;
    if ("problem" in access) {
      requester.device = given || id;
      throw errorBeforeSending(unknown, access.problem.sentence, access.problem.values);
    }
    const { client, recordings, registered, instrument = unknownInstrument } = access;
    const name = given || client.peer.host;
    requester.device = name;
    return {
      client,
      recordings,
      registered,
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

/**
 * The config nodes of one type by name. They are kept here because finding one through Node-RED means to walk through
 * every node of every flow, for each message. Each of them has this object as `named`.
 */
export class NamedNodes {
  readonly #nodes = new Map<string, readonly Node[]>();

  /** Adds a node that was just created, until it is closed. */
  add(node: Node): void {
    // A config node inside a subflow can only be used in that subflow.
    if ("_alias" in node) {
      return;
    }
    const { name = "" } = node;
    this.#nodes.set(name, [...this.find(name), node]);
    node.on("close", () => {
      const left = this.find(name).filter((other) => other !== node);
      if (left.length > 0) {
        this.#nodes.set(name, left);
      } else {
        this.#nodes.delete(name);
      }
    });
  }

  find(name: string): readonly Node[] {
    return this.#nodes.get(name) ?? [];
  }
}

/** Returns the object that the config nodes of this type share; undefined while none is deployed. */
function findNamed(RED: NodeAPI, type: string): NamedNodes | undefined {
  let found: NamedNodes | undefined;
  RED.nodes.eachNode(({ id, type: itsType }) => {
    if (found === undefined && itsType === type) {
      const node = deployed(RED, id);
      found = node !== null && "named" in node && node.named instanceof NamedNodes ? node.named : undefined;
    }
  });
  return found;
}

/** For a node that needs no config node. */
export const noConfig = { problem: () => undefined, surface: () => "config" as const };

/**
 * Returns the deployed node with this id; null if there is none. While a deploy replaces some nodes, Node-RED returns undefined for
 * those that are stopped.
 */
export function deployed(RED: NodeAPI, id: string): Node | null {
  const node: Node | null | undefined = RED.nodes.getNode(id);
  return node ?? null;
}

/** The device or cloud that a message is for. */
export interface ChosenNode {
  /** The operation, as errors name it. */
  readonly operation: Operation;
  /** The config node's id, and its name or, if it has none, its address. */
  readonly id: string;
  readonly name: string;
  /** The key of the device in the command queues and the recordings. */
  readonly deviceKey: string;
  /** The registration code of a device behind the cloud. */
  readonly deviceReference?: string;
  readonly recordings: Recordings;
  /** Of a cloud. */
  readonly registered: RegisteredDevices | undefined;
  /** Serial number and certificate of the device, as far as they are known. */
  readonly instrument: Instrument;
}

/** The target of a command to a device through the selected cloud. */
export function throughCloud(cloud: ChosenNode, peer: Peer, deviceReference: string): ChosenNode {
  return { ...cloud, deviceReference, deviceKey: deviceKeyOf(peer, deviceReference) };
}

/** What a config node provides to other nodes: a client, but never its address or token; or why it cannot. */
export type Access<TClient> =
  | {
      readonly client: TClient;
      /** Shared by all of its type. */
      readonly recordings: Recordings;
      /** Of a cloud. */
      readonly registered?: RegisteredDevices;
      /** Of a device. */
      readonly instrument?: Instrument;
      /** What the cloud calls the device: its registration code and its ID, in lower case. */
      readonly cloudIds?: readonly string[];
    }
  | { readonly problem: DimensionerError };

export interface ConfigNode<TClient, TCredentials extends object = object> extends Node<TCredentials> {
  access: Access<TClient>;
  /** Shared by all of its type. */
  named: NamedNodes;
}

/** Opens the client of a config node; invalid settings become its `problem`. */
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
