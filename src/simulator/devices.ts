import { createMachine, type Machine, type MachineParts, type VideoReply } from "./machine.ts";
import {
  earlierResult,
  measureParcel,
  newerResult,
  noReferences,
  type Measurement,
  type References,
} from "./measurement.ts";
import { isVideoMode, type SimulatorOptions } from "./options.ts";
import type { ImageKind, TableParcel } from "./parcels.ts";
import type { Random } from "./random.ts";
import type { RegisteredDevices, Registration } from "./registered-devices.ts";
import {
  contentResponse,
  emptyResponse,
  jsonResponse,
  jsonTextResponse,
  type SimRequest,
  type SimResponse,
} from "./responses.ts";
import type { Timers } from "./timers.ts";

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

const imagePaths: ReadonlyMap<string, ImageKind> = new Map([
  ["annotatedcolor", "annotated"],
  ["color", "color"],
  ["depth", "depth"],
]);

/** The result of a measurement in the mode Video Only. */
export function videoOnlyFailure(options: SimulatorOptions, references: References): Measurement {
  return {
    ...references,
    at: new Date(),
    elapsedMs: 0,
    errorCode: 2,
    errorMessage: "The device is in Video Only mode and does not measure",
    dimsUnit: options.dimsUnit,
    weightUnit: options.weightUnit,
    legalForTrade: false,
    weight: 0,
    object: null,
  };
}

/** The local API of the newer device, version 1. */
export function newerDevice(
  machine: Machine,
  options: SimulatorOptions,
  localApi: () => boolean,
): (request: SimRequest) => Promise<SimResponse> {
  const versions: Record<string, string> = options.versionHeader ? { "api-supported-versions": "1.0" } : {};

  function referencesOf({ query }: SimRequest): References {
    return {
      transactionReference: query.get("transactionreference") ?? null,
      customReference1: query.get("customreference1") ?? null,
      customReference2: query.get("customreference2") ?? null,
      customReference3: query.get("customreference3") ?? null,
    };
  }

  async function measure(request: SimRequest): Promise<SimResponse> {
    const references = referencesOf(request);
    const taken = await machine.measure(references, "local-api");
    if (taken === "switched-off") {
      return emptyResponse(503);
    }
    if (taken !== "never-measures") {
      return jsonTextResponse(newerResult(taken.measurement, taken.imageIdentifier), versions);
    }
    const refusal = options.measureInVideoOnly;
    if (typeof refusal === "number") {
      return emptyResponse(refusal, versions);
    }
    return jsonTextResponse(newerResult(videoOnlyFailure(options, references), ""), versions);
  }

  function image(request: SimRequest, segments: readonly string[]): SimResponse {
    const [first = "", second] = segments;
    const kind = second === undefined ? "annotated" : imagePaths.get(first.toLowerCase());
    const content = kind === undefined ? null : machine.image(kind, second ?? first);
    return content === null ? emptyResponse(404) : contentResponse(request, content);
  }

  function command(action: string, request: SimRequest): SimResponse {
    const replies: Readonly<Record<string, () => VideoReply>> = {
      start: () => machine.start(referencesOf(request)),
      stop: () => machine.stop(),
      cancel: () => machine.cancel(),
    };
    const reply = replies[action]?.() ?? 404;
    if (reply === "done") {
      return emptyResponse(200, versions);
    }
    return emptyResponse(reply === "wrong-mode" ? 401 : reply, versions);
  }

  function savedVideo(request: SimRequest, how: string): SimResponse {
    if (!isVideoMode(machine.state.mode)) {
      return emptyResponse(401, versions);
    }
    const content = machine.savedContent;
    if (content === null) {
      return emptyResponse(404, versions);
    }
    if (how === "download") {
      const name = { "content-disposition": 'attachment; filename="video.mp4"' };
      return contentResponse(request, content, { ...versions, ...name });
    }
    const answer = contentResponse(request, content, versions);
    if (answer.status !== 200 || !options.streamAnswers206) {
      return answer;
    }
    const whole = { "content-range": `bytes 0-${content.size - 1}/${content.size}` };
    return { ...answer, status: 206, headers: { ...answer.headers, ...whole } };
  }

  function video(request: SimRequest, action: string | undefined): SimResponse {
    const reads = action === undefined || action === "stream" || action === "download";
    const commands = action === "start" || action === "stop" || action === "cancel";
    if (!reads && !commands) {
      return emptyResponse(404);
    }
    if (request.method !== (reads ? "GET" : "POST")) {
      return emptyResponse(405);
    }
    return reads ? savedVideo(request, action ?? "stream") : command(action, request);
  }

  return async (request) => {
    const [api = "", version = "", resource = "", ...rest] = request.segments;
    const path = [api, version].join("/").toLowerCase();
    if (!localApi() || path !== "api/v1") {
      return emptyResponse(404);
    }
    const name = resource.toLowerCase();
    if (name === "video" && rest.length <= 1) {
      return video(request, rest[0]?.toLowerCase());
    }
    const isGet = request.method === "GET";
    if (name === "measure" && rest.length === 0) {
      return isGet ? measure(request) : emptyResponse(405);
    }
    if (name === "image" && (rest.length === 1 || rest.length === 2)) {
      return isGet ? image(request, rest) : emptyResponse(405);
    }
    if (name === "ping" && rest.length <= 1) {
      return isGet ? jsonResponse({ msg: rest[0] ?? "" }) : emptyResponse(405);
    }
    return emptyResponse(404);
  };
}

export interface EarlierState {
  readonly measuring: boolean;
  /** The latest measurement; null after the start. */
  readonly last: Measurement | null;
  readonly legalForTrade: boolean;
  readonly parcel: TableParcel | null;
}

export interface EarlierDevice {
  readonly state: EarlierState;
  readonly actions: { readonly measures: number };
  setParcel(parcel: TableParcel | null): void;
  setLegalForTrade(on: boolean): void;
  measure(): Promise<Measurement>;
  handle(request: SimRequest): Promise<SimResponse>;
  reset(): void;
}

/** The earlier device. It measures and answers pings; no way to its images is documented. */
export function createEarlierDevice(
  options: SimulatorOptions,
  random: Random,
  timers: Timers,
  firstParcel: TableParcel | null,
  changed: () => void,
): EarlierDevice {
  const versions: Record<string, string> = options.versionHeader ? { "api-supported-versions": "1.0" } : {};
  let table = firstParcel;
  let legalForTrade = options.mode === "legal-for-trade";
  let measures = 0;
  let measuring = false;
  let last: Measurement | null = null;
  let turn: Promise<unknown> = Promise.resolve();

  function measure(): Promise<Measurement> {
    const mine = turn.then(async () => {
      measures += 1;
      measuring = true;
      changed();
      await timers.sleep(options.measureMs).finally(() => {
        measuring = false;
      });
      const facts = { ...noReferences, trackId: measures, legalForTrade };
      last = measureParcel(table, options, random, facts);
      changed();
      return last;
    });
    turn = mine.catch(() => undefined);
    return mine;
  }

  async function respondToMeasure(): Promise<SimResponse> {
    const result = await measure();
    return jsonTextResponse(earlierResult(result, random.guid(), options.earlierImageFields), versions);
  }

  return {
    get state() {
      return { measuring, last, legalForTrade, parcel: table };
    },
    get actions() {
      return { measures };
    },
    setParcel(parcel) {
      table = parcel;
      changed();
    },
    setLegalForTrade(on) {
      legalForTrade = on;
      changed();
    },
    measure,
    async handle({ segments, method }) {
      const [api = "", resource = "", message, ...rest] = segments;
      const path = [api, resource].join("/").toLowerCase();
      const measures = path === "api/measure" && message === undefined;
      const pings = path === "api/ping" && rest.length === 0;
      if (!measures && !pings) {
        return emptyResponse(404);
      }
      if (method !== "GET") {
        return emptyResponse(405);
      }
      return measures ? respondToMeasure() : jsonResponse({ msg: message ?? "" });
    },
    reset() {
      table = firstParcel;
      legalForTrade = options.mode === "legal-for-trade";
      measures = 0;
      last = null;
      changed();
    },
  };
}
