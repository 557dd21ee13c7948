import { isDimensionerError } from "../errors/dimensioner-error.ts";
import { follow } from "../http/retry.ts";
import type { CallOptions } from "../http/transport.ts";
import type { CloudDevice, FleetDevice, Terminal } from "../model/shapes.ts";
import { checkCall } from "./arguments.ts";
import type { CloudClient } from "./client.ts";

/** Lists the devices with their terminals, within the one deadline of both calls. */
export async function listFleet(client: CloudClient, options: CallOptions = {}): Promise<FleetDevice[]> {
  checkCall("device list", null, { client, options });
  const failed = new AbortController();
  const { signal } = failed;
  const release = follow(options.signal === undefined ? [] : [options.signal], failed);
  try {
    const [devices, terminals] = await Promise.all([
      client.devices({ signal }),
      client.terminals({ signal }).catch(noneWhereUnknown),
    ]);
    const byId = new Map(terminals.map((terminal) => [terminal.id, terminal]));
    const now = Date.now();
    return devices.map((device) => join(device, byId, now));
  } catch (error) {
    // One of the two has failed: the other is not waited for.
    failed.abort();
    throw error;
  } finally {
    release();
  }
}

/** Terminals may be unknown to a cloud; its devices are worth a list all the same. */
function noneWhereUnknown(error: unknown): Terminal[] {
  if (isDimensionerError(error) && error.code === "ERR_NOT_FOUND") {
    return [];
  }
  throw error;
}

function join(device: CloudDevice, terminals: ReadonlyMap<string, Terminal>, now: number): FleetDevice {
  const { id, name, registrationCode, appVersion, terminalId, lastHeartbeatUtc } = device;
  return {
    id,
    name,
    registrationCode,
    appVersion,
    terminal: terminals.get(terminalId ?? "") ?? null,
    lastHeartbeatUtc,
    silentFor: secondsSince(lastHeartbeatUtc, now),
  };
}

/** A time without a zone is UTC here, as the field's name says; never negative where the clocks disagree. */
function secondsSince(timeUtc: string | null, now: number): number | null {
  const text = timeUtc?.trim() ?? "";
  const at = Date.parse(/(?:z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`);
  return Number.isNaN(at) ? null : Math.max(0, Math.round((now - at) / 1000));
}

/** Tells what has changed in a fleet from one look at it to the next. */
export class FleetWatch {
  #seen: ReadonlyMap<string, string> | undefined;

  /**
   * The devices that are new or have changed since the last look; at the first look all. A heartbeat that moves on is no
   * change, but a device that falls silent for `silentAfterSeconds` or is heard again is one; 0: silence is none.
   */
  changes(devices: readonly FleetDevice[], silentAfterSeconds: number): FleetDevice[] {
    const before = this.#seen;
    const now = new Map(devices.map((device) => [device.id, stateOf(device, silentAfterSeconds)]));
    this.#seen = now;
    return devices.filter(({ id }) => before?.get(id) !== now.get(id));
  }
}

function stateOf(device: FleetDevice, silentAfterSeconds: number): string {
  const { name, registrationCode, appVersion, terminal, silentFor } = device;
  const isSilent = silentAfterSeconds > 0 && (silentFor === null || silentFor >= silentAfterSeconds);
  return JSON.stringify([name, registrationCode, appVersion, terminal, isSilent]);
}
