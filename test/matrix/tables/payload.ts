import type { Fault } from "../../../src/simulator/index.ts";
import { bad, final, lost, unclear, well } from "../endings.ts";
import type { Ending, Row, Rows } from "../row.ts";

const html = "<!DOCTYPE html><p>Sign in";
const gigabytes = 10e9;
const huge = { measure: unclear("ERR_TOO_LARGE"), read: final("ERR_TOO_LARGE") } as const;

/** Another body in the right answer. A video command promises no body, so that what there is may be anything. */
const body = (fault: Partial<Extract<Fault, { kind: "body" }>>): Row => ({
  faults: [{ kind: "body", ...fault }],
  acts: 1,
  measure: bad.measure,
  video: well,
  read: bad.read,
});

const listsOnly = (ending: Ending): Record<string, Ending> => ({
  "media list": ending,
  "device list": ending,
  "terminal list": ending,
});

/** What comes is not what was promised. */
export const payload: Rows = {
  "a server that does not use HTTP": {
    faults: [{ kind: "not-http", text: "SSH-2.0-OpenSSH_9.2\r\n" }],
    ...bad,
  },
  "binary data": {
    faults: [{ kind: "not-http", base64: "AAECAwQF/w==" }],
    ...bad,
  },
  "the sign-in page of a network": {
    faults: [{ kind: "body", text: html, contentType: "text/html", acts: false }],
    ...bad,
  },
  "a sign-in page with the requested content type": {
    faults: [{ kind: "body", text: "\r\n <html><body>Sign in</body></html>", acts: false }],
    ...bad,
  },
  "invalid JSON": body({ text: "{'errorCode':0}" }),
  "incomplete JSON": body({ text: '{"errorCode":0,"measuredObj' }),
  "an empty body": { ...body({ text: "" }), download: bad.download },
  "null instead of an object": body({ text: "null" }),
  "a number": body({ text: "17" }),
  "a text": body({ text: '"[]"' }),
  "a list instead of an object, an object instead of a list": {
    ...body({ text: "[]" }),
    read: { device: bad.read, terminal: bad.read, ping: bad.read },
  },
  "an empty object": { ...body({ text: "{}" }), read: listsOnly(bad.read) },
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
    read: listsOnly(final("ERR_TOO_LARGE")),
  },
  "a list of 20,000 small items": {
    faults: [{ kind: "body", jsonItems: 20_000, item: { id: "1", contentId: "1" } }],
    read: listsOnly(final("ERR_TOO_LARGE")),
  },
  "neither length nor chunks, complete": {
    faults: [{ kind: "no-framing" }],
    acts: 1,
    measure: well,
    video: well,
    read: well,
    download: well,
  },
  "neither length nor chunks, cut": {
    faults: [{ kind: "no-framing", atFraction: 0.5 }],
    acts: 1,
    measure: bad.measure,
    video: well,
    read: bad.read,
    download: { code: "ERR_BAD_RESPONSE", retryable: true },
  },
  "fewer bytes than announced": {
    faults: [{ kind: "wrong-length", by: 5 }],
    acts: 1,
    measure: lost.measure,
    video: lost.video,
    read: lost.read,
  },
  "more bytes than announced": {
    faults: [{ kind: "wrong-length", by: -5 }],
    acts: 1,
    measure: bad.measure,
    read: bad.read,
  },
  "status 204 where a body is expected": {
    faults: [{ kind: "status", status: 204, acts: true }],
    acts: 1,
    ...bad,
    video: well,
  },
  "status 206 to a request for the whole body": {
    faults: [{ kind: "status", status: 206, body: "{}", acts: true }],
    acts: 1,
    ...bad,
  },
  "a part in an answer with status 200": {
    faults: [{ kind: "headers", set: { "content-range": "bytes 0-99/100000" } }],
    acts: 1,
    ...bad,
  },
  "compressed without being requested": {
    faults: [{ kind: "headers", set: { "content-encoding": "gzip" } }],
    acts: 1,
    ...bad,
  },
  "a body where none is expected": {
    faults: [{ kind: "body", text: "all right" }],
    acts: 1,
    video: well,
  },
  "a content type that does not match the content": {
    faults: [{ kind: "content-type", value: "text/plain" }],
    acts: 1,
    measure: well,
    video: well,
    read: well,
    download: well,
  },
  "no content type at all": {
    faults: [{ kind: "content-type", value: null }],
    acts: 1,
    measure: well,
    video: well,
    read: well,
    download: well,
  },
};
