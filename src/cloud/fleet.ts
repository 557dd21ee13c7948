import { type DimensionerError, isDimensionerError } from "../errors/dimensioner-error.ts";
import { onOneLine } from "../errors/interpolation.ts";
import { abortWithAny } from "../http/retry.ts";
import type { CallOptions } from "../http/transport.ts";
import type { CloudDevice, FleetDevice, Terminal } from "../model/shapes.ts";
import { knownInstantOf } from "../rules/instants.ts";
import { settledWithin } from "../time/after-limit.ts";
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
    // The heartbeats are by the cloud's clock.
    const now = client.clock.now().getTime();
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

/** Never negative, also if the clocks disagree. Null for 0001-01-01 and other times that nobody has noted. */
function secondsSince(timeUtc: string | null, now: number): number | null {
  const at = knownInstantOf(timeUtc ?? "");
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

/** A list is good for so long … */
const goodForMs = 3_600_000;
/** … and is not read again sooner for a device that it does not have, or after a failure. */
const againAfterMs = 300_000;
/** A record or the result of a command waits no longer for a list. */
const longestWaitMs = 2_000;
const longestName = 200;

/** The names by which the devices are registered with one cloud, for people: records and commands have the ID or the code only. */
export class RegisteredDevices {
  readonly #client: Pick<CloudClient, "devices">;
  readonly #nowMs: () => number;
  /** By the ID and by the registration code, in lower case; null where two devices differ. */
  #names: ReadonlyMap<string, string | null> = new Map();
  #readMs = -Infinity;
  #triedMs = -Infinity;
  /** The list that is being read. */
  #reading: Promise<unknown> | undefined;
  #hasFailed = false;

  /** `nowMs` is a clock that nobody sets. */
  constructor(client: Pick<CloudClient, "devices">, nowMs = (): number => performance.now()) {
    this.#client = client;
    this.#nowMs = nowMs;
  }

  /** Reads the list, and keeps its names. Rejects as the client does; the names of the last list stay then. */
  async read(options: CallOptions = {}): Promise<void> {
    this.#triedMs = this.#nowMs();
    const devices = this.#client.devices(options);
    this.#reading = devices;
    try {
      this.#names = namesOf(await devices);
      this.#readMs = this.#nowMs();
      this.#hasFailed = false;
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    } finally {
      if (this.#reading === devices) {
        this.#reading = undefined;
      }
    }
  }

  /** The name that the last list has for an ID or a registration code; null if it has none. */
  lastNameOf(cloudId: string): string | null {
    return this.#names.get(cloudId.toLowerCase()) ?? null;
  }

  /**
   * The same of a list that is not old: one is read if need be, but never one for each device that is asked for. A cloud that is slow is
   * waited for a moment, and one that has failed not at all. Never rejects.
   */
  async nameOf(cloudId: string): Promise<string | null> {
    const nowMs = this.#nowMs();
    if (this.#names.has(cloudId.toLowerCase()) && nowMs - this.#readMs < goodForMs) {
      return this.lastNameOf(cloudId);
    }
    if (this.#reading === undefined && nowMs - this.#triedMs >= againAfterMs) {
      this.read().catch(() => undefined);
    }
    const leftMs = this.#triedMs + longestWaitMs - nowMs;
    if (this.#reading !== undefined && !this.#hasFailed && leftMs > 0) {
      await settledWithin(this.#reading, leftMs);
    }
    return this.lastNameOf(cloudId);
  }
}

function namesOf(devices: readonly CloudDevice[]): ReadonlyMap<string, string | null> {
  const names = new Map<string, string | null>();
  for (const { id, registrationCode, name } of devices) {
    const shown =
      onOneLine(name ?? "")
        .trim()
        .slice(0, longestName)
        .toWellFormed() || null;
    for (const key of new Set([id, registrationCode ?? ""].map((one) => one.toLowerCase()))) {
      names.set(key, names.get(key) === undefined || names.get(key) === shown ? shown : null);
    }
  }
  names.delete("");
  return names;
}
