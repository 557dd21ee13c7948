import {
  connectionLost,
  timeout,
  shortMs,
  failsThreeTimes,
  outcomeUnknown,
  unreachable,
  notSent,
  succeeds,
} from "../endings.ts";
import type { ClientTarget, Rows } from "../row.ts";

const untrusted = (certificate: string, authority: "known" | "unknown"): Rows[string] => {
  const target: ClientTarget = { certificate, authority };
  const notTrusted = { ...notSent("ERR_UNREACHABLE", false) };
  const cloud = { cloud: notTrusted };
  const reading = { cloud: { code: "ERR_UNREACHABLE", retryable: false, requests: 0 } } as const;
  return { target, measure: cloud, video: cloud, read: reading, download: reading };
};

/** Making a connection, and losing it. */
export const connection: Rows = {
  "nothing listens at the address": { faults: [{ kind: "refuse" }], ...unreachable },
  "the host name does not exist": { target: "nobody has the name", timeoutMs: 8_000, ...unreachable },
  "the connection is never established": {
    target: "nobody takes the connection",
    timeoutMs: shortMs,
    ...unreachable,
  },
  // What was written into a connection that nobody reads may have been read.
  "the connection is made, but the request is never read": {
    faults: [{ kind: "connect-silence" }],
    timeoutMs: shortMs,
    measure: { ...timeout.measure, requests: 0 },
    video: { ...timeout.video, requests: 0 },
    read: { ...timeout.read, requests: 0 },
    download: { ...timeout.download, requests: 0 },
  },
  "a self-signed certificate": untrusted("self-signed", "known"),
  "a certificate of an unknown authority": untrusted("good", "unknown"),
  "a certificate of another host": untrusted("wrong-host", "known"),
  "a certificate that has expired": untrusted("expired", "known"),
  "a certificate of a private authority that is in the TLS settings": {
    target: { certificate: "good", authority: "known" },
    sourcesOnly: true,
    acts: 1,
    measure: { cloud: succeeds },
    video: { cloud: succeeds },
    read: { cloud: succeeds },
    download: { cloud: succeeds },
  },
  "reset before the device acts": { faults: [{ kind: "reset", acts: false }], ...connectionLost },
  "reset after the device has acted": { faults: [{ kind: "reset" }], acts: 1, ...connectionLost },
  "closed without a response, before the device acts": {
    faults: [{ kind: "close", acts: false }],
    ...connectionLost,
  },
  "closed without a response, after the device has acted": {
    faults: [{ kind: "close" }],
    acts: 1,
    ...connectionLost,
  },
  "a reused connection is reset during the next request, and the device does not act": {
    warm: true,
    faults: [{ kind: "keep-alive-dies", acts: false }],
    passes: true,
    measure: outcomeUnknown("ERR_CONNECTION_LOST"),
    video: outcomeUnknown("ERR_CONNECTION_LOST"),
    read: { requests: 2 },
    download: { requests: 2 },
  },
  "a reused connection is reset during the next request, and the device acts": {
    warm: true,
    faults: [{ kind: "keep-alive-dies", acts: true }],
    passes: true,
    acts: 1,
    measure: outcomeUnknown("ERR_CONNECTION_LOST"),
    video: outcomeUnknown("ERR_CONNECTION_LOST"),
  },
  "reset once, then correct": {
    faults: [{ kind: "reset" }],
    passes: true,
    read: { requests: 2 },
    download: { requests: 2 },
  },
  "closed twice without a response, then correct": {
    faults: [{ kind: "close" }, { kind: "close" }],
    passes: true,
    read: { requests: 3 },
    download: { requests: 3 },
  },
  "no response, and the device does not act": {
    faults: [{ kind: "silence", acts: false }],
    timeoutMs: shortMs,
    ...timeout,
  },
  "no response after the device has acted": {
    faults: [{ kind: "silence" }],
    acts: 1,
    timeoutMs: shortMs,
    ...timeout,
  },
  "the headers of a response, then nothing": {
    faults: [{ kind: "headers-then-silence" }],
    acts: 1,
    timeoutMs: shortMs,
    ...timeout,
    // A response without a body is complete with its head.
    video: succeeds,
  },
  "the headers arrive one byte at a time": {
    faults: [{ kind: "slow-headers", everyMs: 20 }],
    acts: 1,
    timeoutMs: shortMs,
    ...timeout,
  },
  "the body arrives one byte at a time": {
    faults: [{ kind: "drip", everyMs: 200 }],
    acts: 1,
    timeoutMs: shortMs,
    measure: timeout.measure,
    read: timeout.read,
  },
  "the response arrives after the deadline": {
    // Much later: in a process that stands still, both would come in one turn, and what has come counts.
    faults: [{ kind: "delay", ms: 600_000 }],
    acts: 1,
    timeoutMs: shortMs,
    ...timeout,
  },
  "interim responses without end": {
    faults: [{ kind: "provisional", everyMs: 20 }],
    acts: 1,
    timeoutMs: shortMs,
    ...timeout,
  },
  "an interim response before the final one": {
    faults: [{ kind: "provisional", count: 2 }],
    acts: 1,
    measure: succeeds,
    video: succeeds,
    read: succeeds,
    download: succeeds,
  },
  "cut before the first byte": {
    faults: [{ kind: "cut", atByte: 0 }],
    acts: 1,
    measure: connectionLost.measure,
    read: connectionLost.read,
    download: connectionLost.download,
  },
  "cut after one byte": {
    faults: [{ kind: "cut", atByte: 1 }],
    acts: 1,
    measure: connectionLost.measure,
    read: connectionLost.read,
  },
  "cut in the middle": {
    faults: [{ kind: "cut" }],
    acts: 1,
    measure: connectionLost.measure,
    read: connectionLost.read,
  },
  "cut before the last byte": {
    faults: [{ kind: "cut", atByte: -1 }],
    acts: 1,
    measure: connectionLost.measure,
    read: connectionLost.read,
    // The first try brings all but one byte, the three that follow nothing.
    download: { ...failsThreeTimes("ERR_CONNECTION_LOST"), requests: 4 },
  },
  "cut by a reset": {
    faults: [{ kind: "cut", end: "reset" }],
    acts: 1,
    measure: connectionLost.measure,
    read: connectionLost.read,
  },
  "cut in the middle of chunks": {
    faults: [{ kind: "cut", framing: "chunked" }],
    acts: 1,
    measure: connectionLost.measure,
    read: connectionLost.read,
  },
  "cut once, then correct": {
    faults: [{ kind: "cut" }],
    passes: true,
    read: { requests: 2 },
    download: { requests: 2 },
  },
};
