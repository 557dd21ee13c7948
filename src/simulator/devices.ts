import type { Machine, MachineParts } from "./machine-types.ts";
import { createMachine } from "./machine.ts";
import type { Registration, RegisteredDevices } from "./registered-devices.ts";

/** The simulated machines of all registered devices. */
export interface Devices {
  /** The only device that also has a local API. */
  readonly newer: Machine;
  readonly powered: boolean;
  setPower(on: boolean): void;
  /** The simulated device of a registration; null if it is switched off. */
  machineOf(registration: Registration): Machine | null;
  heartbeatOf(registration: Registration): Date;
  reset(): void;
}

/** The other devices are created when the cloud first triggers them. */
export function createDevices(
  parts: Omit<MachineParts, "deviceClientId">,
  registeredDevices: RegisteredDevices,
): Devices {
  const { options, parcels, random, changed } = parts;
  const [first] = registeredDevices.registrations;
  if (first === undefined) {
    throw new Error("No device is registered.");
  }
  const newer = createMachine({ ...parts, deviceClientId: first.id }, parcels.find(options.parcel));
  const others = new Map<string, Machine>();
  let offSince: Date | null = null;

  function other(registration: Registration): Machine {
    const machine =
      others.get(registration.id) ??
      createMachine({ ...parts, deviceClientId: registration.id }, parcels.pick(random.next()));
    others.set(registration.id, machine);
    return machine;
  }

  function setPower(on: boolean): void {
    if (on === (offSince === null)) {
      return;
    }
    offSince = on ? null : new Date();
    if (!on) {
      newer.losePower();
    }
    changed();
  }

  return {
    newer,
    get powered() {
      return offSince === null;
    },
    setPower,
    machineOf(registration) {
      if (registration.id !== first.id) {
        return other(registration);
      }
      return offSince === null ? newer : null;
    },
    heartbeatOf: (registration) =>
      registration.id === first.id && offSince !== null ? offSince : new Date(),
    reset() {
      setPower(true);
      [newer, ...others.values()].forEach((machine) => machine.reset());
      others.clear();
    },
  };
}
