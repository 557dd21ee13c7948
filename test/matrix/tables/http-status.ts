import { failsAtOnce, refused, failsThreeTimes, outcomeUnknown } from "../endings.ts";
import type { Ending, Row, Rows } from "../row.ts";

const ofDeviceAndCloud = (device: Ending, cloud: Ending): Record<string, Ending> => ({
  newer: device,
  earlier: device,
  cloud,
});

function status(statusCode: number, row: Omit<Row, "faults">): Row {
  return { faults: [{ kind: "status", status: statusCode, body: "<html>nothing here" }], ...row };
}

const refusedByAll = (code: number): Row =>
  status(code, {
    measure: refused("ERR_HTTP", code),
    video: refused("ERR_HTTP", code),
    read: failsAtOnce("ERR_HTTP", code),
    download: { ...failsAtOnce("ERR_HTTP", code), archive: "is incomplete" },
  });

/** The peer may have acted before it said so. */
const outOfOrder = (code: number, cloud = outcomeUnknown("ERR_HTTP", code)): Row =>
  status(code, {
    measure: ofDeviceAndCloud(outcomeUnknown("ERR_HTTP", code), cloud),
    video: ofDeviceAndCloud(outcomeUnknown("ERR_HTTP", code), cloud),
    read: failsThreeTimes("ERR_HTTP", code),
    download: failsThreeTimes("ERR_HTTP", code),
  });

const redirected = (code: number, location: string): Row => {
  const row = refusedByAll(code);
  return {
    ...row,
    faults: [{ kind: "status", status: code, headers: { location } }],
    download: failsAtOnce("ERR_HTTP", code),
  };
};

/** The wait that the peer asks for, and the shortest and longest duration of the read. */
const retryAfter = (value: string, [shortest, longest]: readonly [number, number]): Row => ({
  faults: [{ kind: "status", status: 503, headers: { "retry-after": value } }],
  passes: true,
  read: { requests: 2 },
  takesMs: [shortest, longest],
});

/** Responses that refuse the request, or redirect it. */
export const httpStatus: Rows = {
  ...Object.fromEntries(
    [300, 301, 302, 303, 307, 308].map((code): [string, Row] => [
      `status ${code} to another origin`,
      redirected(code, "{other}"),
    ]),
  ),
  "a redirect to the same address, again and again": redirected(302, "?"),
  "status 304": { faults: [{ kind: "status", status: 304 }], ...refusedByAll304() },
  "status 400": {
    ...refusedByAll(400),
    measure: ofDeviceAndCloud(refused("ERR_HTTP", 400), refused("ERR_BAD_DEVICE_REFERENCE", 400)),
    video: ofDeviceAndCloud(refused("ERR_HTTP", 400), refused("ERR_BAD_DEVICE_REFERENCE", 400)),
  },
  "status 401": status(401, {
    measure: ofDeviceAndCloud(refused("ERR_HTTP", 401), refused("ERR_UNAUTHORIZED", 401)),
    video: ofDeviceAndCloud(refused("ERR_WRONG_MODE", 401), refused("ERR_UNAUTHORIZED", 401)),
    read: ofDeviceAndCloud(failsAtOnce("ERR_HTTP", 401), failsAtOnce("ERR_UNAUTHORIZED", 401)),
    download: {
      image: failsAtOnce("ERR_HTTP", 401),
      video: failsAtOnce("ERR_WRONG_MODE", 401),
      media: failsAtOnce("ERR_UNAUTHORIZED", 401),
    },
  }),
  "status 403": {
    ...refusedByAll(403),
    video: ofDeviceAndCloud(refused("ERR_WRONG_MODE", 403), refused("ERR_HTTP", 403)),
    download: {
      image: failsAtOnce("ERR_HTTP", 403),
      video: failsAtOnce("ERR_WRONG_MODE", 403),
      media: failsAtOnce("ERR_HTTP", 403),
    },
  },
  "status 404": status(404, {
    measure: refused("ERR_NOT_FOUND", 404),
    video: refused("ERR_NOT_FOUND", 404),
    read: failsAtOnce("ERR_NOT_FOUND", 404),
    download: {
      image: failsAtOnce("ERR_NOT_FOUND", 404),
      video: { code: "ERR_NO_VIDEO", retryable: true, statusCode: 404 },
      media: { ...failsAtOnce("ERR_NOT_FOUND", 404), archive: "is incomplete" },
    },
  }),
  ...Object.fromEntries(
    [405, 409, 410, 418, 451].map((code): [string, Row] => [`status ${code}`, refusedByAll(code)]),
  ),
  "status 408": outOfOrder(408),
  "status 429": {
    ...outOfOrder(429),
    measure: refused("ERR_HTTP", 429, true),
    video: refused("ERR_HTTP", 429, true),
  },
  "status 500": outOfOrder(500),
  "status 500 with a web page of 2 MB, after the device has acted": {
    ...outOfOrder(500),
    acts: 1,
    faults: [
      {
        kind: "status",
        status: 500,
        headers: { "content-type": "text/html" },
        body: "<html>",
        bodyBytes: 2e6,
        acts: true,
      },
    ],
  },
  "status 502": outOfOrder(502),
  "status 503": outOfOrder(503),
  "status 503 twice, then correct": {
    faults: [
      { kind: "status", status: 503 },
      { kind: "status", status: 503 },
    ],
    passes: true,
    read: { requests: 3 },
    download: { requests: 3 },
  },
  "status 504": outOfOrder(504, outcomeUnknown("ERR_DEVICE_TIMEOUT", 504)),
  "status 999": outOfOrder(999),
  "Retry-After: 0": retryAfter("0", [100, 25_000]),
  "Retry-After: 1": retryAfter("1", [990, 25_000]),
  "Retry-After below 0": retryAfter("-5", [100, 25_000]),
  "an invalid Retry-After": retryAfter("soon", [100, 25_000]),
  "Retry-After in the past": retryAfter("Sun, 06 Nov 1994 08:49:37 GMT", [100, 25_000]),
  "Retry-After as a date in two seconds": {
    faults: [{ kind: "status", status: 429, retryInMs: 2_000 }],
    passes: true,
    read: { requests: 2 },
    takesMs: [990, 25_000],
  },
  "Retry-After beyond the deadline": {
    faults: [{ kind: "status", status: 503, headers: { "retry-after": "99999999999999999999" } }],
    read: { code: "ERR_HTTP", statusCode: 503, retryable: true },
    takesMs: [0, 20_000],
  },
};

/** Status 304 is for conditional requests only, and no client here sends one. */
function refusedByAll304(): Omit<Row, "faults"> {
  const { faults: _, ...row } = refusedByAll(304);
  return { ...row, download: failsAtOnce("ERR_HTTP", 304) };
}
