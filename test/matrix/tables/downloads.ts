import { failsAtOnce, shortMs, failsThreeTimes, succeeds } from "../endings.ts";
import type { Ending, Row, Rows } from "../row.ts";
import { fileBytes as size, type Step } from "../scripted-server.ts";

const cut: Step = { bytes: 1_000, asks: "whole" };
const whole: Step = { asks: "whole" };
const rest: Step = { from: "asked", asks: "rest" };

const row = (script: readonly Step[], download: Ending = {}): Row => ({ script, download });

/** A download is cut at byte 1,000, and its rest comes with a wrong Content-Range: the download starts again. */
const wrongRange = (range: string): Row =>
  row([cut, { from: 1_000, range, asks: "rest" }, { version: 2, asks: "whole" }], { requests: 3 });

const connectionLost = failsThreeTimes("ERR_CONNECTION_LOST");
const badResponse = failsAtOnce("ERR_BAD_RESPONSE");
const stalled: Ending = { code: "ERR_TIMEOUT", retryable: true };
const silent = (step: Step): Row => ({ ...row([step], stalled), timeoutMs: shortMs });

/** Images and videos that come in pieces. The file is always one version, whole; or there is none. */
export const downloads: Rows = {
  "with a length": row([whole], succeeds),
  "in chunks": row([{ framing: "chunked" }], succeeds),
  "with neither length nor chunks, complete": row([{ framing: "none" }], succeeds),
  "with neither length nor chunks, cut": row([{ framing: "none", bytes: 20_000 }], {
    code: "ERR_BAD_RESPONSE",
    retryable: true,
  }),
  "no bytes": row([{ body: "" }], badResponse),
  "as a range that is the whole file": row([{ from: 0 }], succeeds),
  "as a range that is the whole file, in chunks": row([{ from: 0, framing: "chunked" }], succeeds),
  "with status 200 and the range of the whole": row([{ status: 200, from: 0 }], succeeds),
  "more bytes than announced": row([{ more: "<- and this is more" }], succeeds),
  "cut, then the rest of the same file": row([cut, rest], { requests: 2 }),
  "cut after one byte, then before the last": row(
    [{ bytes: 1, asks: "whole" }, { ...rest, bytes: size - 2 }, rest],
    { requests: 3 },
  ),
  "cut ten times, each time with new bytes": row(
    [cut, ...Array.from({ length: 9 }, (): Step => ({ ...rest, bytes: 1_000 })), rest],
    { requests: 11 },
  ),
  "cut, then another version with status 200": row(
    [cut, { version: 2, asks: "rest" }, { version: 2, asks: "whole" }],
    { requests: 3 },
  ),
  "cut, then the rest of another version": row(
    [cut, { ...rest, version: 2 }, { version: 2, asks: "whole" }],
    { requests: 3 },
  ),
  "cut, then a rest without an ETag": row(
    [cut, { ...rest, version: 2, etag: "none" }, { version: 2, asks: "whole" }],
    { requests: 3 },
  ),
  "cut, without an ETag": row(
    [
      { ...cut, etag: "none" },
      { version: 2, asks: "whole" },
    ],
    {
      requests: 2,
    },
  ),
  "cut, with a weak ETag": row(
    [
      { ...cut, etag: "weak" },
      { version: 2, asks: "whole" },
    ],
    {
      requests: 2,
    },
  ),
  "cut, then the whole again instead of the rest": row([cut, { asks: "rest" }], { requests: 2 }),
  "cut, then status 416": row(
    [
      cut,
      { status: 416, body: "", headers: { "content-range": "bytes */10" }, asks: "rest" },
      { version: 2, asks: "whole" },
    ],
    { requests: 3 },
  ),
  "cut, then a range with another start": wrongRange(`bytes 999-${size - 1}/${size}`),
  "cut, then a range with another end": wrongRange(`bytes 1000-${size - 2}/${size}`),
  "cut, then a range of another length": wrongRange(`bytes 1000-${size}/${size + 1}`),
  "cut, then a range of unknown length": wrongRange(`bytes 1000-${size - 1}/*`),
  "cut, then a range in another unit": wrongRange(`lines 1000-${size - 1}/${size}`),
  "cut, then a range that nobody can read": wrongRange("rubbish"),
  "reset in the middle of chunks, then the rest": row(
    [{ framing: "chunked", bytes: 2_000, end: "reset" }, rest],
    { requests: 2 },
  ),
  "a part instead of the whole file": row([{ from: 0, range: "bytes 0-9/100" }], badResponse),
  "the end instead of the whole file": row([{ from: 10 }], badResponse),
  "a part without its range": row([{ from: 0, range: null }], badResponse),
  "a part with status 200": row([{ status: 200, from: 0, range: "bytes 0-9/100" }], badResponse),
  "a part shorter than it says": row([{ from: 0, range: "bytes 0-9/10", body: "01234", etag: "none" }], {
    ...connectionLost,
    requests: 4,
  }),
  "a part longer than it says": row(
    [{ from: 0, range: "bytes 0-3/4", body: "01234", etag: "none" }],
    failsThreeTimes("ERR_BAD_RESPONSE"),
  ),
  "an error document in JSON instead of the file": row(
    [{ body: '{"errorCode":1203,"errorMessage":"image expired"}' }],
    failsThreeTimes("ERR_BAD_RESPONSE"),
  ),
  "an error document in XML, then the file": row(
    [{ body: "<Error><Message>busy</Message></Error>", asks: "whole" }, whole],
    { requests: 2 },
  ),
  "a text instead of the file": row([{ body: "not now" }], failsThreeTimes("ERR_BAD_RESPONSE")),
  "fewer bytes than announced, again and again": row([{ ...cut, etag: "none" }], {
    ...connectionLost,
    requests: 4,
  }),
  "cut at the same byte, again and again": row([cut, { ...rest, bytes: 0 }], {
    ...connectionLost,
    requests: 4,
  }),
  "a chunk with an invalid length": row(
    [{ raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" }],
    badResponse,
  ),
  "headers of 1 MB": row([{ raw: `HTTP/1.1 200 OK\r\nx: ${"x".repeat(1e6)}\r\n\r\n` }], badResponse),
  "nothing after half of the headers": silent({ raw: "HTTP/1.1 200 OK\r\nContent-Type: vi", end: "hold" }),
  "nothing after half of the body": silent({ bytes: 5_000, end: "hold" }),
  "status 416 to a request for the whole": row([{ status: 416, body: "" }], {
    ...failsAtOnce("ERR_HTTP", 416),
    archive: "is incomplete",
  }),
};
