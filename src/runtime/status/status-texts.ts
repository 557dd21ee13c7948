import type { DimensionerError, ErrorCode } from "../../errors/dimensioner-error.ts";

/**
 * The texts of statuses in English, under 32 characters when filled in. The catalogs translate each under
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
  refusedSecretHelp:
    "A post was rejected because its secret is wrong. Enter the same secret in this node and in the webhook of the cloud portal.",
  refusedRecord: "rejected: not a record",
  undelivered: "records not delivered: __count__",
  recordsResumed: "sent again: __count__",
  recordsDamaged: "damaged records: __count__",
  recordsTooOld: "unhandled for a week: __count__",
  handled: "records handled: __count__",
  bucketAway: "bucket not available",
  loginRejected: "login rejected",
  pathTaken: "path used by another node",
  noWebServer: "httpNodeRoot is disabled",
  evidencePage: "The evidence page is served at __path__.",
  evidencePageOff: "The evidence page is not served: __problem__",
  receivingScan: "receiving a scan",
  duplicates: "duplicates dropped: __count__",
  billedDimensional: "__count__ __unit__ (dimensional)",
  billedActual: "__count__ __unit__ (actual)",
  billedMinimum: "__count__ __unit__ (minimum)",
  searching: "searching",
  packages: "packages: __count__",
  packagesOf: "packages: __count__ of __total__",
  missing: "missing: __count__",
  onHold: "on hold: __count__",
  released: "released: __count__",
  stamped: "time-stamped",
  alreadyStamped: "already time-stamped",
  verified: "as archived: __count__",
  findings: "findings: __count__",
  notAllChecked: "not all checked: __count__",
  deleted: "deleted: __count__",
  wouldDelete: "would be deleted: __count__",
  openJobs: "open jobs: __count__",
  reachable: "reachable",
  notChecked: "no check possible",
  configMissing: "config node missing",
  configInvalid: "config node invalid",
  configNewer: "saved by a newer version",
} as const;

/** The short causes below a red ring, by error code; catalog keys `status.failed.<code>`. */
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
  ERR_NOT_BILLABLE: "not billable",
};

export type StatusKey = keyof typeof statusTexts | `failed.${ErrorCode}`;

/** The short cause of an error. ERR_STORE has one for each part of a store. */
export function failedKeyOf({ code, sentence }: Pick<DimensionerError, "code" | "sentence">): StatusKey {
  if (code === "ERR_STORE" && sentence.startsWith("bucket")) {
    return "bucketAway";
  }
  if (sentence === "timestampLogin") {
    return "loginRejected";
  }
  return sentence === "storeMoved" || sentence === "storeJobsOpen" ? "failed.ERR_CONFIG" : `failed.${code}`;
}
