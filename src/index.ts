/**
 * The library without Node-RED: typed clients for both generations of the device and for the cloud, and the media
 * pipeline that brings what they download to disk, whole or not at all.
 */
export {
  CloudClient,
  type CloudClientOptions,
  type MediaWaitOptions,
  type MediaWaitResult,
} from "./cloud/client.ts";
export {
  DeviceClient,
  type DeviceClientOptions,
  type DownloadOptions,
  type VideoOptions,
} from "./device/client.ts";
export type { Generation, ImageKind, VideoAction, VideoMethod } from "./device/generations.ts";
export {
  DimensionerError,
  errorCodes,
  isDimensionerError,
  isRetryable,
  type ErrorCause,
  type ErrorCode,
  type Outcome,
  type Surface,
} from "./errors.ts";
export { CommandQueues } from "./http/command-queue.ts";
export type { CommandOptions, QueueRules } from "./http/command-sender.ts";
export type { TlsOptions } from "./http/dispatchers.ts";
export type { OnProgress } from "./http/download.ts";
export type { CallOptions } from "./http/transport.ts";
export type { CloudDevice, MediaItem, Terminal } from "./model/cloud-records.ts";
export type { ByteSink, Download, DownloadFacts, Framing } from "./model/download.ts";
export type { MeasuredObject, MeasureResult, MeasureSource } from "./model/measure-result.ts";
export type { Measurement, References } from "./model/measurement.ts";
