import type { NodeAPI } from "node-red";
import type { RegisteredDevices } from "../../cloud/fleet.ts";
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

/** What the deployed config nodes know of devices behind clouds. */
interface Deployed {
  readonly byCloudId: ReadonlyMap<string, KnownDevice>;
  readonly clouds: readonly RegisteredDevices[];
}

/**
 * Finds the name and the instrument of a device behind the cloud: a deployed device config node can name the registration code and
 * the ID that the device has in the cloud; without one, the name is that with which it is registered there. All config nodes are read at
 * the first look-up after each start of the flows, because Node-RED can only list all nodes at once, and the records of a webhook arrive in
 * bursts.
 */
export class CloudDevices {
  readonly #RED: NodeAPI;
  readonly #started: FlowsEvent;
  #deployed: Deployed | undefined;

  constructor(RED: NodeAPI) {
    this.#RED = RED;
    this.#started = new FlowsEvent(RED, "flows:started");
  }

  /** Returns what is known of the device without asking a cloud; not that in which several config nodes differ. */
  known(cloudId: string | null, cloud?: RegisteredDevices): KnownDevice {
    const known = this.#ofNode(cloudId);
    return { ...known, name: known.name ?? cloud?.lastNameOf(cloudId ?? "") ?? null };
  }

  /** The same, but the lists of the deployed clouds are read if need be, or only that of the cloud to which the device belongs. Never rejects. */
  async find(cloudId: string | null, cloud?: RegisteredDevices): Promise<KnownDevice> {
    const known = this.#ofNode(cloudId);
    if (known.name !== null || cloudId === null) {
      return known;
    }
    const clouds = cloud === undefined ? this.#read().clouds : [cloud];
    const names = await Promise.all(clouds.map((one) => one.nameOf(cloudId)));
    const [name = null, ...others] = new Set(names.filter((one) => one !== null));
    return { ...known, name: others.length > 0 ? null : name };
  }

  #ofNode(cloudId: string | null): KnownDevice {
    return this.#read().byCloudId.get(cloudId?.toLowerCase() ?? "") ?? unknownDevice;
  }

  #read(): Deployed {
    if (this.#deployed === undefined) {
      this.#deployed = readDeployed(this.#RED);
      this.#started.next(() => {
        this.#deployed = undefined;
      });
    }
    return this.#deployed;
  }
}

function readDeployed(RED: NodeAPI): Deployed {
  const byCloudId = new Map<string, KnownDevice>();
  const clouds: RegisteredDevices[] = [];
  RED.nodes.eachNode(({ id, type }) => {
    const isOne = type === "dimensioner-device" || type === "dimensioner-cloud";
    const node = isOne ? deployed(RED, id) : null;
    if (node === null || !("access" in node)) {
      return;
    }
    const { access } = node as ConfigNode<unknown>;
    if ("problem" in access) {
      return;
    }
    const { instrument = unknownInstrument, cloudIds = [], registered } = access;
    clouds.push(...(registered === undefined ? [] : [registered]));
    const device = { name: node.name?.trim() || null, instrument };
    for (const cloudId of cloudIds) {
      const other = byCloudId.get(cloudId);
      byCloudId.set(cloudId, other === undefined ? device : common(other, device));
    }
  });
  return { byCloudId, clouds };
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
