import { deviceKeyOf, type Peer } from "../../http/call.ts";
import type { Instrument } from "../../model/instrument.ts";
import type { Operation } from "../failure.ts";
import type { Recordings } from "./recordings.ts";

/** The device or cloud that a message is for. */
export interface Target {
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
  /** Serial number and certificate of the device, as far as they are known. */
  readonly instrument: Instrument;
}

/** The target of a command to a device through the selected cloud. */
export function throughCloud(cloud: Target, peer: Peer, deviceReference: string): Target {
  return { ...cloud, deviceReference, deviceKey: deviceKeyOf(peer, deviceReference) };
}
