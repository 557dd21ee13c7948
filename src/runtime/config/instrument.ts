import type { NodeAPI } from "node-red";
import {
  type Instrument,
  type KnownDevice,
  unknownDevice,
  unknownInstrument,
} from "../../model/instrument.ts";
import { type ConfigNode, deployed } from "./config-choice.ts";
import { FlowsEvent } from "./flows-event.ts";

export function readInstrument(settings: {
  readonly serialNumber: string;
  readonly certificate: string;
}): Instrument {
  return {
    serialNumber: settings.serialNumber.trim() || null,
    certificate: settings.certificate.trim() || null,
  };
}

/** Reads the registration code and the ID by which the cloud knows a device; in lower case, to compare them. */
export function readCloudIds(list: string): readonly string[] {
  return list
    .toLowerCase()
    .split(/[,\s]+/)
    .filter((id) => id !== "");
}

/**
 * Finds the name and the instrument of a device behind the cloud: a deployed device config node can name the registration code and
 * the ID that the device has in the cloud. All config nodes are read at the first look-up after each start of the flows, because Node-RED can
 * only list all nodes at once, and the records of a webhook arrive in bursts.
 */
export class CloudDevices {
  readonly #RED: NodeAPI;
  readonly #started: FlowsEvent;
  #byCloudId: ReadonlyMap<string, KnownDevice> | undefined;

  constructor(RED: NodeAPI) {
    this.#RED = RED;
    this.#started = new FlowsEvent(RED, "flows:started");
  }

  /** Returns what is known of the device; nothing if no config node names it, and not that in which several differ. */
  find(cloudId: string | null): KnownDevice {
    if (this.#byCloudId === undefined) {
      this.#byCloudId = readDeployed(this.#RED);
      this.#started.next(() => {
        this.#byCloudId = undefined;
      });
    }
    return this.#byCloudId.get(cloudId?.toLowerCase() ?? "") ?? unknownDevice;
  }
}

function readDeployed(RED: NodeAPI): ReadonlyMap<string, KnownDevice> {
  const byCloudId = new Map<string, KnownDevice>();
  RED.nodes.eachNode(({ id, type }) => {
    const node = type === "dimensioner-device" ? deployed(RED, id) : null;
    if (node === null || !("access" in node)) {
      return;
    }
    const { access } = node as ConfigNode<unknown>;
    if ("problem" in access) {
      return;
    }
    const { instrument = unknownInstrument, cloudIds = [] } = access;
    const device = { name: node.name?.trim() || null, instrument };
    for (const cloudId of cloudIds) {
      const other = byCloudId.get(cloudId);
      byCloudId.set(cloudId, other === undefined ? device : common(other, device));
    }
  });
  return byCloudId;
}

/** What two config nodes that name the same device agree in. */
function common(one: KnownDevice, other: KnownDevice): KnownDevice {
  return {
    name: one.name === other.name ? one.name : null,
    instrument: isSame(one.instrument, other.instrument) ? one.instrument : unknownInstrument,
  };
}

function isSame(one: Instrument, other: Instrument): boolean {
  return one.serialNumber === other.serialNumber && one.certificate === other.certificate;
}
