import type { ErrorCode } from "../../errors/dimensioner-error.ts";

/**
 * What a node's status says, in English; under 32 characters when filled in. The catalogs translate each under
 * `status.<key>`, and a test holds them equal.
 */
export const statusTexts = {
  measuring: "measuring",
  sending: "sending",
  fetching: "fetching",
  waitingInQueue: "in queue: __count__",
  waitingForMedia: "waiting for media",
  waitingForVideo: "waiting for video",
  downloading: "__done__ of __total__",
  downloadingUnknown: "__done__",
  done: "done",
  started: "recording started",
  stopped: "recording stopped",
  cancelled: "recording cancelled",
  recordingEnded: "recording ended",
  repeatsIgnored: "repeats ignored: __count__",
  saved: "saved __size__",
  fetched: "received __size__",
  objects: "objects: __count__",
  items: "media: __count__",
  reset: "queue emptied",
  devices: "devices: __count__",
  changedDevices: "__count__ of __total__ changed",
  ready: "listening",
  received: "received: __count__",
  refusedSecret: "rejected: wrong secret",
  refusedRecord: "rejected: not a record",
  undelivered: "records not delivered: __count__",
  recordsResumed: "sent again: __count__",
  recordsDamaged: "damaged records: __count__",
  recordsTooOld: "unhandled for a week: __count__",
  handled: "records handled: __count__",
  pathTaken: "path is used by another node",
  noWebServer: "httpNodeRoot is disabled",
  receivingScan: "receiving a scan",
  duplicates: "duplicates dropped: __count__",
  reachable: "reachable",
  notChecked: "no check possible",
  configMissing: "config node missing",
  configInvalid: "config node invalid",
  configNewer: "saved by a newer version",
} as const;

/** The short cause under a red ring, by error code; catalog keys `status.failed.<code>`. */
export const failedTexts: Readonly<Record<ErrorCode, string>> = {
  ERR_CONFIG: "check the settings",
  ERR_INPUT: "check the message",
  ERR_UNREACHABLE: "no connection",
  ERR_TIMEOUT: "no response in time",
  ERR_CONNECTION_LOST: "connection lost",
  ERR_UNAUTHORIZED: "token rejected",
  ERR_WRONG_MODE: "wrong operating mode",
  ERR_BAD_DEVICE_REFERENCE: "rejected by the cloud",
  ERR_DEVICE_TIMEOUT: "no response from device",
  ERR_NO_VIDEO: "no saved video",
  ERR_NOT_FOUND: "not found",
  ERR_HTTP: "HTTP error",
  ERR_BAD_RESPONSE: "response not usable",
  ERR_TOO_LARGE: "response too large",
  ERR_MEASURE_FAILED: "measurement failed",
  ERR_MEDIA_INCOMPLETE: "media missing",
  ERR_QUEUE_FULL: "queue full",
  ERR_EXPIRED: "waited too long",
  ERR_CANCELLED: "cancelled",
  ERR_FILE: "file not saved",
  ERR_STORE: "database not available",
};

export type StatusKey = keyof typeof statusTexts | `failed.${ErrorCode}`;
