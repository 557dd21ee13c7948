import type { SimulatorOptions } from "./options.ts";
import type { Random } from "./random.ts";

/** A device as the cloud lists it. */
interface DeviceClient {
  readonly id: string;
  readonly name: string;
  readonly appVersion: string;
  readonly terminalId: number | string;
  readonly lastHeartbeatUtc: string;
  readonly registrationCode: string;
}

interface Terminal {
  readonly id: number | string;
  readonly name: string;
  readonly reference: string | null;
  readonly addressLine1: string | null;
  readonly addressLine2: string | null;
  readonly city: string | null;
  readonly provinceState: string | null;
  readonly country: string | null;
  readonly zipPostalCode: string | null;
}

/** The properties of a registered device that never change. */
export interface Registration {
  readonly id: string;
  readonly code: string;
  readonly name: string;
  readonly terminalId: number | string;
}

export interface RegisteredDevices {
  readonly registrations: readonly Registration[];
  readonly terminals: readonly Terminal[];
  byCode(code: string): Registration | undefined;
  /** As /api/deviceclients lists it. */
  deviceClient(registration: Registration, lastHeartbeat: Date): DeviceClient;
}

const sites = [
  { name: "Outbound dock", city: "Rotterdam", country: "NL" },
  { name: "Returns", city: "Leipzig", country: "DE" },
  { name: "Packing hall", city: "Lyon", country: "FR" },
] as const;
const devicesPerTerminal = 20;

/** The devices and terminals that are registered with the cloud; the simulated newer device comes first. */
export function createRegisteredDevices(
  options: Pick<SimulatorOptions, "deviceCode" | "cloudDevices" | "terminalIds">,
  random: Random,
): RegisteredDevices {
  const count = options.cloudDevices + 1;
  const firstTerminal = random.integer(100, 899);
  const terminals = Array.from({ length: Math.ceil(count / devicesPerTerminal) }, (_, index): Terminal => {
    const site = sites[index % sites.length] ?? sites[0];
    const number = firstTerminal + index;
    return {
      id: options.terminalIds === "number" ? number : String(number),
      name: `${site.name} ${index + 1}`,
      reference: index % 2 === 0 ? `T-${number}` : null,
      addressLine1: `${10 + index} Harbour Road`,
      addressLine2: null,
      city: site.city,
      provinceState: null,
      country: site.country,
      zipPostalCode: index % 2 === 0 ? String(10_000 + number) : null,
    };
  });
  const codes = new Set([options.deviceCode.toUpperCase()]);
  while (codes.size < count) {
    codes.add(random.deviceCode());
  }
  const registrations = [...codes].map((code, index) => ({
    id: random.guid(),
    code: index === 0 ? options.deviceCode : code,
    name: index === 0 ? "Simulated device" : `Dock ${index}`,
    terminalId: terminals[Math.floor(index / devicesPerTerminal)]?.id ?? "",
  }));
  const byCode = new Map(registrations.map((one) => [one.code.toUpperCase(), one]));
  return {
    registrations,
    terminals,
    byCode: (code) => byCode.get(code.toUpperCase()),
    deviceClient: ({ id, code, name, terminalId }, lastHeartbeat) => ({
      id,
      name,
      appVersion: "4.2.0",
      terminalId,
      lastHeartbeatUtc: lastHeartbeat.toISOString(),
      registrationCode: code,
    }),
  };
}
