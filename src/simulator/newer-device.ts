import {
  contentResponse,
  emptyResponse,
  jsonResponse,
  jsonTextResponse,
  type SimResponse,
  type SimRequest,
} from "./responses.ts";
import type { Machine, VideoReply } from "./machine-types.ts";
import { newerResult, type Measurement, type References } from "./measurement.ts";
import { isVideoMode, type SimulatorOptions } from "./options.ts";
import type { ImageKind } from "./parcels.ts";

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
