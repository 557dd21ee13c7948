import type { ErrorCode } from "../../src/errors/dimensioner-error.ts";
import type { FaultRule, Simulator } from "../../src/simulator/index.ts";

/** One way to fail, through a flow in a real Node-RED. */
export interface FailingCase {
  readonly code: ErrorCode;
  readonly type: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly message?: Readonly<Record<string, unknown>>;
  readonly fault?: FaultRule["fault"];
}

export const deviceCode = "ABCD2345";
export const token = "t0ken-of-the-dock";

/** The config nodes that the cases use. */
export function configNodes(sim: Simulator, closedPort: number): object[] {
  const device = (id: string, more: object) => ({ id, type: "dimensioner-device", ...more });
  const cloud = (id: string, more: object) => ({
    id,
    type: "dimensioner-cloud",
    baseUrl: sim.cloud.origin,
    credentials: { token },
    ...more,
  });
  const { origin: address } = sim.newer;
  return [
    device("device", { address, timeout: 60 }),
    device("hasty", { address, timeout: 0.3 }),
    device("queue", { address, timeout: 60, queueLimit: 0 }),
    device("same-name-1", { address, name: "7" }),
    device("same-name-2", { address, name: "7" }),
    device("older", { address: sim.earlier.origin, generation: "earlier" }),
    device("closed", { address: `127.0.0.1:${closedPort}` }),
    device("bad-address", { address: "192.168.1" }),
    device("bad-path", { address: "10.0.0.1/8" }),
    device("bad-timeout", { address, timeout: "0" }),
    device("bad-queue", { address, queueLimit: "1.5" }),
    cloud("cloud", {}),
    cloud("no-token", { credentials: { token: "" } }),
    cloud("no-proxy", { proxy: "0" }),
    cloud("plain-http", { baseUrl: "http://10.0.0.1" }),
  ];
}

const measure = (device: string, more: object = {}) =>
  ({ type: "dimensioner-measure", properties: { device, ...more } }) as const;
const image = (properties: object = {}) =>
  ({ type: "dimensioner-fetch-image", properties: { device: "device", ...properties } }) as const;
const trigger = (properties: object = {}) =>
  ({
    type: "dimensioner-remote-trigger",
    properties: { cloud: "cloud", action: "measure", deviceReference: deviceCode, ...properties },
    message: { transactionReference: "1" },
  }) as const;
const list = (properties: object = {}) =>
  ({
    type: "dimensioner-media-list",
    properties: { cloud: "cloud", ...properties },
    message: { transactionId: "1" },
  }) as const;
const archive = (properties: Record<string, unknown>, message: object = {}) =>
  ({
    type: "dimensioner-archive",
    properties,
    message: { transactionId: "1", ...message },
  }) as const;
const bill = (properties: object = {}) =>
  ({ type: "dimensioner-billable-weight", properties: { preset: "usps", ...properties } }) as const;
const parcel = { length: 1, width: 1, height: 1, dimsUnitOfMeasure: "cm" };
const imageOf = (imageIdentifier: unknown) => ({ message: { imageIdentifier } }) as const;
const status = (code: number) => ({ fault: { kind: "status", status: code } }) as const;
const body = (text: string) => ({ fault: { kind: "body", text } }) as const;
const result = (fields: object) => body(JSON.stringify({ errorCode: 0, measuredObjects: [], ...fields }));

/** At least one for each error code; `folder` is one that exists, and `file` one that is no folder. */
export function failingCases(folder: string, file: string): FailingCase[] {
  return [
    { code: "ERR_CONFIG", ...measure("") },
    { code: "ERR_CONFIG", ...measure("bad-address") },
    { code: "ERR_CONFIG", ...measure("bad-path") },
    { code: "ERR_CONFIG", ...measure("bad-timeout") },
    { code: "ERR_CONFIG", ...measure("bad-queue") },
    { code: "ERR_CONFIG", ...measure("device", { tag: "customReference1", customReference1: "0" }) },
    { code: "ERR_CONFIG", ...list({ cloud: "no-token" }) },
    { code: "ERR_CONFIG", ...list({ cloud: "no-proxy" }) },
    { code: "ERR_CONFIG", ...list({ cloud: "plain-http" }) },
    { code: "ERR_CONFIG", ...image({ device: "older" }), ...imageOf("1") },
    { code: "ERR_CONFIG", ...image({ image: "0" }), ...imageOf("1") },
    { code: "ERR_CONFIG", ...image({ output: "file" }), ...imageOf("1") },
    { code: "ERR_CONFIG", ...archive({ store: "store", layout: "{0}" }) },
    { code: "ERR_CONFIG", ...archive({ cloud: "cloud", store: "store", wait: "-1" }) },
    { code: "ERR_INPUT", ...image() },
    { code: "ERR_INPUT", ...image(), ...imageOf("../1") },
    { code: "ERR_INPUT", ...image({ output: "file", folder, filename: "../1" }), ...imageOf("1") },
    { code: "ERR_INPUT", ...image({ image: "msg" }), message: { imageIdentifier: "1", image: "0" } },
    { code: "ERR_INPUT", ...measure("device", { deviceFrom: "dock" }), message: { dock: "" } },
    { code: "ERR_INPUT", ...measure("device", { deviceFrom: "dock" }), message: { dock: "0" } },
    { code: "ERR_INPUT", ...measure("device", { deviceFrom: "dock" }), message: { dock: "7" } },
    {
      code: "ERR_INPUT",
      ...measure("device", { transactionReference: "$error('0')", transactionReferenceType: "jsonata" }),
    },
    { code: "ERR_INPUT", ...measure("device", { ifBlank: "error" }) },
    { code: "ERR_INPUT", ...trigger({ deviceReference: "1" }) },
    { code: "ERR_INPUT", ...archive({ store: "store" }, { payload: 1 }) },
    { code: "ERR_INPUT", ...archive({ store: "store" }, { payload: { path: "/0", bytes: 1, sha256: "0" } }) },
    { code: "ERR_UNREACHABLE", ...measure("closed") },
    { code: "ERR_TIMEOUT", ...measure("hasty"), fault: { kind: "silence" } },
    { code: "ERR_CONNECTION_LOST", ...measure("device"), fault: { kind: "reset" } },
    { code: "ERR_UNAUTHORIZED", ...list(), ...status(401) },
    {
      code: "ERR_WRONG_MODE",
      type: "dimensioner-video-control",
      properties: { device: "device", action: "stop" },
      ...status(401),
    },
    { code: "ERR_BAD_DEVICE_REFERENCE", ...trigger(), ...status(400) },
    { code: "ERR_DEVICE_TIMEOUT", ...trigger(), ...status(504) },
    { code: "ERR_NO_VIDEO", type: "dimensioner-fetch-video", properties: { device: "device", wait: 0 } },
    { code: "ERR_NOT_FOUND", ...measure("device"), ...status(404) },
    { code: "ERR_NOT_FOUND", ...image(), ...imageOf("1") },
    { code: "ERR_HTTP", ...measure("device"), ...status(418) },
    { code: "ERR_HTTP", ...measure("device"), ...status(302) },
    { code: "ERR_HTTP", ...measure("device"), ...status(503) },
    { code: "ERR_BAD_RESPONSE", ...measure("device"), ...body("{") },
    { code: "ERR_BAD_RESPONSE", ...measure("device"), ...body("<html>") },
    { code: "ERR_BAD_RESPONSE", ...measure("device"), ...body("[]") },
    { code: "ERR_BAD_RESPONSE", ...measure("device"), ...body("{}") },
    { code: "ERR_BAD_RESPONSE", ...measure("device"), ...body('{"errorCode":"?"}') },
    { code: "ERR_BAD_RESPONSE", ...measure("device"), fault: { kind: "body", base64: "/w==" } },
    { code: "ERR_BAD_RESPONSE", ...measure("device"), fault: { kind: "not-http", text: "0" } },
    { code: "ERR_BAD_RESPONSE", ...measure("device"), fault: { kind: "partial" } },
    { code: "ERR_TOO_LARGE", ...measure("device"), fault: { kind: "body", jsonBytes: 6_000_000 } },
    { code: "ERR_TOO_LARGE", ...list(), fault: { kind: "body", jsonItems: 10_001 } },
    { code: "ERR_MEASURE_FAILED", ...measure("device"), ...result({}) },
    { code: "ERR_MEASURE_FAILED", ...measure("device"), ...result({ errorCode: 17, errorMessage: "-" }) },
    { code: "ERR_MEASURE_FAILED", ...measure("device"), ...result({ errorCode: 17, errorMessage: "0:0" }) },
    {
      code: "ERR_MEASURE_FAILED",
      ...measure("device"),
      ...result({ objectCount: 2, measuredObjects: [{ errorCode: 0 }] }),
    },
    { code: "ERR_MEDIA_INCOMPLETE", ...list({ expect: "0", wait: 0 }) },
    {
      code: "ERR_MEDIA_INCOMPLETE",
      ...archive({ cloud: "cloud", store: "store", wait: 0 }),
    },
    ...[
      { payload: { errorCode: 0, ok: false, length: 1 } },
      { payload: { length: 1 } },
      { payload: { length: 1, measuredObjects: [1, 2] } },
      { payload: parcel },
      { payload: { ...parcel, weight: 1, weightUnitOfMeasure: "kg" } },
      { payload: { ...parcel, legalForTrade: false, weight: 1, weightUnitOfMeasure: "kg" } },
      { payload: { ...parcel, isManualDimension: true } },
    ].map(
      (message) => ({ code: "ERR_NOT_BILLABLE", ...bill({ requireLegalForTrade: true }), message }) as const,
    ),
    { code: "ERR_NOT_BILLABLE", ...bill({ weight: "label" }), message: { payload: parcel } },
    { code: "ERR_INPUT", ...bill(), message: { payload: "0" } },
    { code: "ERR_INPUT", ...bill(), message: { payload: { ...parcel, dimsUnitOfMeasure: "0" } } },
    {
      code: "ERR_INPUT",
      ...bill(),
      message: { payload: { ...parcel, weight: 1, weightUnitOfMeasure: "0" } },
    },
    {
      code: "ERR_INPUT",
      ...bill(),
      message: { payload: { ...parcel, dateTimeUtc: "2000-01-01T00:00:00Z" } },
    },
    { code: "ERR_CONFIG", ...bill({ extras: "0" }) },
    { code: "ERR_CONFIG", ...bill({ divisor: "0" }) },
    { code: "ERR_CONFIG", ...bill({ minimum: "-1" }) },
    { code: "ERR_FILE", ...image({ output: "file", folder: `${folder}/0` }), ...imageOf("1") },
    { code: "ERR_FILE", ...image({ output: "file", folder: file }), ...imageOf("1") },
  ];
}
