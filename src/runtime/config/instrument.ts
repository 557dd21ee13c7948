import type { NodeAPI } from "node-red";
import { unknownInstrument, type Instrument } from "../../model/instrument.ts";
import type { ConfigNode } from "./config-node.ts";
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
 * Finds the instrument of a device behind the cloud: a deployed device config node can name the registration code and the ID that
 * the device has in the cloud. All config nodes are read at the first look-up after each start of the flows, because Node-RED can
 * only list all nodes at once, and the records of a webhook arrive in bursts.
 */
export class CloudInstruments {
  readonly #RED: NodeAPI;
  readonly #started: FlowsEvent;
  #byCloudId: ReadonlyMap<string, Instrument> | undefined;

  constructor(RED: NodeAPI) {
    this.#RED = RED;
    this.#started = new FlowsEvent(RED, "flows:started");
  }

  /** Returns what is known of the device; nothing if no config node names it, or if several do and differ. */
  find(cloudId: string | null): Instrument {
    if (this.#byCloudId === undefined) {
      this.#byCloudId = readDeployed(this.#RED);
      this.#started.next(() => {
        this.#byCloudId = undefined;
      });
    }
    return this.#byCloudId.get(cloudId?.toLowerCase() ?? "") ?? unknownInstrument;
  }
}

function readDeployed(RED: NodeAPI): ReadonlyMap<string, Instrument> {
  const byCloudId = new Map<string, Instrument>();
  RED.nodes.eachNode(({ id, type }) => {
    const node = type === "dimensioner-device" ? RED.nodes.getNode(id) : null;
    if (node === null || !("access" in node)) {
      return;
    }
    const { access } = node as ConfigNode<unknown>;
    if ("problem" in access) {
      return;
    }
    const { instrument = unknownInstrument, cloudIds = [] } = access;
    for (const cloudId of cloudIds) {
      const other = byCloudId.get(cloudId);
      byCloudId.set(
        cloudId,
        other === undefined || isSame(other, instrument) ? instrument : unknownInstrument,
      );
    }
  });
  return byCloudId;
}

function isSame(one: Instrument, other: Instrument): boolean {
  return one.serialNumber === other.serialNumber && one.certificate === other.certificate;
}
