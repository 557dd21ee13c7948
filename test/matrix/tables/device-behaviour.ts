import { failsAtOnce, refused, outcomeUnknown, unreachable, succeeds } from "../endings.ts";
import type { Ending, Rows } from "../row.ts";

const failed: Ending = { code: "ERR_MEASURE_FAILED", outcome: "failed", retryable: false };
const noVideo: Ending = { code: "ERR_NO_VIDEO", statusCode: 404, retryable: true };
const wrongMode = refused("ERR_WRONG_MODE", 401);
const notForDevice = refused("ERR_BAD_DEVICE_REFERENCE", 400);
const unknown = refused("ERR_NOT_FOUND", 404);
const unknownRead = failsAtOnce("ERR_NOT_FOUND", 404);
const tokenRefused = { cloud: refused("ERR_UNAUTHORIZED", 401) };
const tokenRefusedRead = { cloud: failsAtOnce("ERR_UNAUTHORIZED", 401) };
const timedOut = { cloud: outcomeUnknown("ERR_DEVICE_TIMEOUT", 504) };

/** What a device without a fault does that a flow may not expect. */
export const deviceBehaviour: Rows = {
  "measure in Video Only": {
    given: [{ mode: "video-only" }],
    measure: { newer: failed, cloud: failed },
  },
  "video in a mode without video": {
    given: [{ mode: "measurement-only" }],
    video: { newer: wrongMode, cloud: notForDevice },
    download: { video: failsAtOnce("ERR_WRONG_MODE", 401) },
  },
  "video in Legal for Trade": {
    given: [{ mode: "legal-for-trade" }],
    video: { newer: wrongMode, cloud: notForDevice },
    download: { video: failsAtOnce("ERR_WRONG_MODE", 401) },
  },
  "stop in Video with Measurement": {
    given: [{ mode: "video-with-measurement" }, { video: "start" }],
    video: { "video stop": wrongMode, "remote stop": notForDevice },
  },
  "the wrong generation is set": {
    target: "a device of the other generation",
    measure: { newer: unknown, earlier: unknown },
    video: { newer: unknown },
    read: { newer: unknownRead, earlier: unknownRead },
    download: { image: unknownRead, video: noVideo },
  },
  "Enable Local API is off": {
    given: [{ localApi: false }],
    measure: { newer: unknown },
    video: { newer: unknown },
    read: { newer: unknownRead },
    download: { image: unknownRead, video: noVideo },
  },
  "the device is switched off": {
    given: [{ power: false }],
    measure: { newer: unreachable.measure, ...timedOut },
    video: { newer: unreachable.video, ...timedOut },
    read: { newer: unreachable.read },
    download: { image: unreachable.download, video: unreachable.download },
  },
  "start during a recording": {
    given: [{ video: "start" }],
    acts: 1,
    video: { "video start": succeeds, "remote start": succeeds },
  },
  "stop and cancel while nothing is recorded": {
    given: [{ video: "cancel" }],
    video: {
      "video stop": succeeds,
      "remote stop": succeeds,
      "video cancel": { acts: 1 },
      "remote cancel": { acts: 1 },
    },
  },
  "an empty table": {
    given: [{ parcel: null }],
    acts: 1,
    measure: { newer: failed, cloud: failed },
  },
  "a scan at the device measures at the same moment": {
    simulator: { measureMs: 50 },
    given: [{ scan: "395212340000005323" }],
    // The flow's own measure and the operator's: both, once each.
    measure: { newer: { acts: 2 }, cloud: { acts: 2 } },
  },
  "no saved video": {
    given: [{ video: "cancel" }],
    download: { video: noVideo },
  },
  "waiting for a video that is still being encoded": {
    simulator: { encodingMs: 3_000 },
    // The first request may come after its end on a busy computer.
    faults: [{ kind: "status", status: 404 }],
    passes: true,
    given: [{ video: "start" }, { video: "stop" }],
    waitMs: 20_000,
    download: { video: { requests: [2, 12] } },
  },
  "a device code that the cloud does not know": {
    simulator: { deviceCode: "ZZZZ9999" },
    measure: { cloud: notForDevice },
    video: { cloud: notForDevice },
  },
  "a token that was withdrawn": {
    simulator: { token: "another" },
    measure: tokenRefused,
    video: tokenRefused,
    read: tokenRefusedRead,
    download: tokenRefusedRead,
  },
};
