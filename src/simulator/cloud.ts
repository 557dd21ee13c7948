import {
  contentResponse,
  emptyResponse,
  jsonResponse,
  jsonTextResponse,
  type SimRequest,
  type SimResponse,
} from "./responses.ts";
import type { Machine, VideoReply } from "./machine.ts";
import { cloudResult, measureParcel, noReferences } from "./measurement.ts";
import { videoOnlyFailure } from "./devices.ts";
import { isVideoMode } from "./options.ts";
import type { SimulatorCore } from "./core.ts";

const versions = { "api-supported-versions": "1.0" } as const;

/** The cloud service: media of transactions, remote triggers, devices and terminals. */
export function cloudService(core: SimulatorCore): (request: SimRequest) => Promise<SimResponse> {
  const { options, random, timers, parcels, registeredDevices, transactions, devices } = core;

  function media(request: SimRequest, id: string, contentId: string | undefined): SimResponse {
    const transaction = transactions.find(id);
    if (transaction === undefined) {
      const list = contentId === undefined && options.unknownTransaction === "empty-list";
      return list ? jsonResponse([]) : emptyResponse(404);
    }
    if (contentId !== undefined) {
      const item = transactions.media(transaction, contentId);
      return item === undefined ? emptyResponse(404) : contentResponse(request, item.load());
    }
    const type = request.query.get("contenttype")?.toLowerCase();
    const fits = transaction.media.filter((item) => type === undefined || item.contentType === type);
    return jsonResponse(fits);
  }

  /**
   * A result as the portal's simulation mode invents it: always a success, without a request to a device, and not
   * stored.
   */
  function simulated(transactionReference: string): SimResponse {
    const table = parcels.pick(random.next());
    const facts = { ...noReferences, transactionReference, trackId: 1, legalForTrade: false };
    const units = { ...options, measureMs: 0 };
    const id = random.integer(100_000, 999_999);
    const wireId =
      options.transactionIds === "guid"
        ? random.guid()
        : options.transactionIds === "integer"
          ? id
          : String(id);
    return jsonTextResponse(cloudResult(measureParcel(table, units, random, facts), wireId), versions);
  }

  async function measure(machine: Machine, transactionReference: string): Promise<SimResponse> {
    const references = { ...noReferences, transactionReference };
    const taken = await machine.measure(references, "cloud");
    if (taken === "switched-off") {
      return emptyResponse(504, versions);
    }
    if (taken !== "never-measures") {
      const id = transactions.idOnTheWire(taken.transaction);
      return jsonTextResponse(cloudResult(taken.measurement, id), versions);
    }
    const refusal = options.measureInVideoOnly;
    if (typeof refusal === "number") {
      return emptyResponse(refusal, versions);
    }
    return jsonTextResponse(cloudResult(videoOnlyFailure(options, references), ""), versions);
  }

  function video(machine: Machine, action: string, { query }: SimRequest): SimResponse {
    const references = {
      transactionReference: query.get("transactionreference") ?? null,
      customReference1: query.get("cref1") ?? null,
      customReference2: query.get("cref2") ?? null,
      customReference3: query.get("cref3") ?? null,
    };
    const stopsHere = action !== "stoprecording" || machine.state.mode === "video-only";
    const allowed = isVideoMode(machine.state.mode) && stopsHere;
    if (!allowed) {
      return emptyResponse(options.remoteVideoInWrongMode, versions);
    }
    const act: Readonly<Record<string, () => VideoReply>> = {
      startrecording: () => machine.start(references),
      stoprecording: () => machine.stop(),
      cancelrecording: () => machine.cancel(),
    };
    const reply = act[action]?.() ?? "done";
    return emptyResponse(typeof reply === "number" ? reply : 200, versions);
  }

  async function trigger(request: SimRequest, action: string): Promise<SimResponse> {
    const registration = registeredDevices.byCode(request.query.get("devicereference") ?? "");
    if (registration === undefined) {
      return emptyResponse(400, versions);
    }
    const reference = request.query.get("transactionreference") ?? "";
    const needsReference = action === "measure" || action === "startrecording";
    if (needsReference && reference === "") {
      return emptyResponse(400, versions);
    }
    if (action === "measure" && core.simulationMode) {
      return simulated(reference);
    }
    const machine = devices.machineOf(registration);
    if (machine === null) {
      await timers.sleep(options.triggerTimeoutMs);
      return emptyResponse(504, versions);
    }
    return action === "measure" ? measure(machine, reference) : video(machine, action, request);
  }

  function listDevices(id: string | undefined): SimResponse {
    const listed = registeredDevices.registrations
      .filter((one) => id === undefined || one.id === id.toLowerCase())
      .map((one) => registeredDevices.deviceClient(one, devices.heartbeatOf(one)));
    if (id === undefined) {
      return jsonResponse(listed);
    }
    return listed[0] === undefined ? emptyResponse(404) : jsonResponse(listed[0]);
  }

  function listTerminals(id: string | undefined): SimResponse {
    if (id === undefined) {
      return jsonResponse(registeredDevices.terminals);
    }
    const terminal = registeredDevices.terminals.find((one) => String(one.id) === id);
    return terminal === undefined ? emptyResponse(404) : jsonResponse(terminal);
  }

  return async (request) => {
    const [api = "", resource = "", first, second, ...rest] = request.segments;
    if (request.header("authorization") !== `Bearer ${options.token}`) {
      return emptyResponse(401, { "www-authenticate": "Bearer" });
    }
    if (api.toLowerCase() !== "api" || rest.length > 0) {
      return emptyResponse(404);
    }
    const routes: Readonly<Record<string, () => SimResponse | Promise<SimResponse>>> = {
      transactionmedia: () => (first === undefined ? emptyResponse(404) : media(request, first, second)),
      remotetrigger: () => {
        const action = (first ?? "").toLowerCase();
        const known = /^(startrecording|stoprecording|cancelrecording|measure)$/.test(action);
        return known && second === undefined ? trigger(request, action) : emptyResponse(404);
      },
      deviceclients: () => (second === undefined ? listDevices(first) : emptyResponse(404)),
      terminals: () => (second === undefined ? listTerminals(first) : emptyResponse(404)),
    };
    const name = resource.toLowerCase();
    if (!Object.hasOwn(routes, name)) {
      return emptyResponse(404);
    }
    return request.method === "GET" ? (routes[name]?.() ?? emptyResponse(404)) : emptyResponse(405);
  };
}
