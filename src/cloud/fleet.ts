import { type DimensionerError, isDimensionerError } from "../errors/dimensioner-error.ts";
import { abortWithAny } from "../http/retry.ts";
import type { CallOptions } from "../http/transport.ts";
import type { CloudDevice, FleetDevice, Terminal } from "../model/shapes.ts";
import { instantOf } from "../rules/instants.ts";
import { type CloudClient, checkCall } from "./client.ts";

export interface FleetOptions extends CallOptions {
  /** Called if the terminals cannot be listed. A cloud that has none (404) is no failure. */
  readonly onNoTerminals?: ((error: DimensionerError) => void) | undefined;
}

/**
 * Lists the devices with their terminals, with one deadline for both calls. Without the list of terminals, each terminal
 * is null.
 */
export async function listFleet(client: CloudClient, options: FleetOptions = {}): Promise<FleetDevice[]> {
  checkCall("device list", null, { client, options });
  const failed = new AbortController();
  const { signal } = failed;
  const release = abortWithAny(options.signal === undefined ? [] : [options.signal], failed);
  try {
    const [devices, terminals] = await Promise.all([
      client.devices({ signal }),
      client.terminals({ signal }).catch((error: unknown) => withoutTerminals(error, options.onNoTerminals)),
    ]);
    const byId = new Map(terminals.map((terminal) => [terminal.id, terminal]));
    const now = Date.now();
    return devices.map((device) => join(device, byId, now));
  } catch (error) {
    // One of the two calls has failed, so the other one is aborted.
    failed.abort();
    throw error;
  } finally {
    release();
  }
}

/** The list of the devices is useful without their terminals. A refused token or an aborted call is a failure of both. */
function withoutTerminals(error: unknown, onNoTerminals: FleetOptions["onNoTerminals"]): Terminal[] {
  if (!isDimensionerError(error) || ["ERR_UNAUTHORIZED", "ERR_CANCELLED"].includes(error.code)) {
    throw error;
  }
  if (error.code !== "ERR_NOT_FOUND") {
    onNoTerminals?.(error);
  }
  return [];
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

/** Never negative, also if the clocks disagree. */
function secondsSince(timeUtc: string | null, now: number): number | null {
  const at = instantOf(timeUtc ?? "");
  return Number.isNaN(at) ? null : Math.max(0, Math.round((now - at) / 1000));
}

/** Finds out what has changed in a fleet since it was last looked at. */
export class FleetWatch {
  #seen: ReadonlyMap<string, Seen> | undefined;

  /**
   * Returns the devices that are new or have changed since the last call, and those that are no longer there as
   * `removed`; at the first call all. A later heartbeat is no change, but a device that becomes silent for
   * `silentAfterSeconds`, or is heard again, has changed; 0: silence is ignored. Where the terminals could not be listed, each device counts as still belonging to the one that it had.
   */
  changes(devices: readonly FleetDevice[], silentAfterSeconds: number, hasTerminals = true): FleetDevice[] {
    const before = this.#seen;
    const now = new Map(
      devices.map((device) => {
        const terminal = hasTerminals ? device.terminal : (before?.get(device.id)?.device.terminal ?? null);
        const seen = { ...device, terminal };
        return [device.id, { state: stateOf(seen, silentAfterSeconds), device: seen }];
      }),
    );
    this.#seen = now;
    const removed = [...(before?.values() ?? [])]
      .filter(({ device }) => !now.has(device.id))
      .map(({ device }) => ({ ...device, removed: true as const }));
    return [...devices.filter(({ id }) => before?.get(id)?.state !== now.get(id)?.state), ...removed];
  }
}

interface Seen {
  readonly state: string;
  readonly device: FleetDevice;
}

function stateOf(device: FleetDevice, silentAfterSeconds: number): string {
  const { name, registrationCode, appVersion, terminal, silentFor } = device;
  const isSilent = silentAfterSeconds > 0 && (silentFor === null || silentFor >= silentAfterSeconds);
  return JSON.stringify([name, registrationCode, appVersion, terminal, isSilent]);
}
