import type { Fault } from "../../../src/simulator/index.ts";
import {
  badResponse,
  failsAtOnce,
  failsThreeTimes,
  connectionLost,
  outcomeUnknown,
  succeeds,
} from "../endings.ts";
import type { Ending, Row, Rows } from "../row.ts";

const html = "<!DOCTYPE html><p>Sign in";
const gigabytes = 10e9;
const huge = { measure: outcomeUnknown("ERR_TOO_LARGE"), read: failsAtOnce("ERR_TOO_LARGE") } as const;

/** Another body in the right response. A video command promises no body, so that what there is may be anything. */
const body = (fault: Partial<Extract<Fault, { kind: "body" }>>): Row => ({
  faults: [{ kind: "body", ...fault }],
  acts: 1,
  measure: badResponse.measure,
  video: succeeds,
  read: badResponse.read,
});

const listsOnly = (ending: Ending): Record<string, Ending> => ({
  "media list": ending,
  "device list": ending,
  "terminal list": ending,
});

/** Responses whose content is not what the API promises. */
export const payload: Rows = {
  "a server that does not use HTTP": {
    faults: [{ kind: "not-http", text: "SSH-2.0-OpenSSH_9.2\r\n" }],
    ...badResponse,
  },
  "binary data": {
    faults: [{ kind: "not-http", base64: "AAECAwQF/w==" }],
    ...badResponse,
  },
  "the sign-in page of a network": {
    faults: [{ kind: "body", text: html, contentType: "text/html", acts: false }],
    ...badResponse,
    download: failsThreeTimes("ERR_BAD_RESPONSE"),
  },
  "a sign-in page with the requested content type": {
    faults: [{ kind: "body", text: "\r\n <html><body>Sign in</body></html>", acts: false }],
    ...badResponse,
    download: failsThreeTimes("ERR_BAD_RESPONSE"),
  },
  "invalid JSON": body({ text: "{'errorCode':0}" }),
  "incomplete JSON": body({ text: '{"errorCode":0,"measuredObj' }),
  "an empty body": { ...body({ text: "" }), download: badResponse.download },
  "null instead of an object": body({ text: "null" }),
  "a number": body({ text: "17" }),
  "a text": body({ text: '"[]"' }),
  "a list instead of an object, an object instead of a list": {
    ...body({ text: "[]" }),
    read: { device: badResponse.read, terminal: badResponse.read, ping: badResponse.read },
  },
  "an empty object": { ...body({ text: "{}" }), read: listsOnly(badResponse.read) },
  "bytes that are not UTF-8": body({ base64: "eyJlcnJvckNvZGUiOjAsIngiOiL/In0=" }),
  "10 GB of JSON with a length": {
    faults: [{ kind: "body", jsonBytes: gigabytes }],
    acts: 1,
    ...huge,
    video: huge.measure,
  },
  "10 GB of JSON in chunks": {
    faults: [{ kind: "body", jsonBytes: gigabytes, framing: "chunked" }],
    acts: 1,
    ...huge,
    video: huge.measure,
  },
  "10 GB of anything": {
    faults: [{ kind: "status", status: 200, bodyBytes: gigabytes }],
    ...huge,
    video: huge.measure,
  },
  "a list of a million items": {
    faults: [{ kind: "body", jsonItems: 1_000_000, framing: "chunked" }],
    read: listsOnly(failsAtOnce("ERR_TOO_LARGE")),
  },
  "a list of 20,000 small items": {
    faults: [{ kind: "body", jsonItems: 20_000, item: { id: "1", contentId: "1" } }],
    read: listsOnly(failsAtOnce("ERR_TOO_LARGE")),
  },
  "neither length nor chunks, complete": {
    faults: [{ kind: "no-framing" }],
    acts: 1,
    measure: succeeds,
    video: succeeds,
    read: succeeds,
    download: succeeds,
  },
  "neither length nor chunks, cut": {
    faults: [{ kind: "no-framing", atFraction: 0.5 }],
    acts: 1,
    measure: badResponse.measure,
    video: succeeds,
    read: badResponse.read,
    download: { code: "ERR_BAD_RESPONSE", retryable: true },
  },
  "fewer bytes than announced": {
    faults: [{ kind: "wrong-length", by: 5 }],
    acts: 1,
    measure: connectionLost.measure,
    video: connectionLost.video,
    read: connectionLost.read,
  },
  "more bytes than announced": {
    faults: [{ kind: "wrong-length", by: -5 }],
    acts: 1,
    measure: badResponse.measure,
    read: badResponse.read,
  },
  "status 204 where a body is expected": {
    faults: [{ kind: "status", status: 204, acts: true }],
    acts: 1,
    ...badResponse,
    video: succeeds,
  },
  "status 206 to a request for the whole body": {
    faults: [{ kind: "status", status: 206, body: "{}", acts: true }],
    acts: 1,
    ...badResponse,
  },
  "a part in a response with status 200": {
    faults: [{ kind: "headers", set: { "content-range": "bytes 0-99/100000" } }],
    acts: 1,
    ...badResponse,
  },
  "said to be compressed, and not": {
    faults: [{ kind: "headers", set: { "content-encoding": "gzip" } }],
    acts: 1,
    measure: succeeds,
    video: succeeds,
    read: succeeds,
    download: succeeds,
  },
  "a web page's type on the right content": {
    faults: [{ kind: "content-type", value: "text/html" }],
    acts: 1,
    measure: succeeds,
    video: succeeds,
    read: succeeds,
    download: succeeds,
  },
  XML: {
    faults: [{ kind: "body", text: "<?xml version='1.0'?><result/>", acts: false }],
    measure: badResponse.measure,
    video: badResponse.video,
    read: badResponse.read,
  },
  "a number that is none": body({ text: '{"errorCode":0,"objectCount":1,"id":1e999,"measuredObjects":[]}' }),
  "a body where none is expected": {
    faults: [{ kind: "body", text: "all right" }],
    acts: 1,
    video: succeeds,
  },
  "a content type that does not match the content": {
    faults: [{ kind: "content-type", value: "text/plain" }],
    acts: 1,
    measure: succeeds,
    video: succeeds,
    read: succeeds,
    download: succeeds,
  },
  "no content type at all": {
    faults: [{ kind: "content-type", value: null }],
    acts: 1,
    measure: succeeds,
    video: succeeds,
    read: succeeds,
    download: succeeds,
  },
};
