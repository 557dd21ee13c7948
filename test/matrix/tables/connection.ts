import { lost, late, shortMs, thrice, unclear, unreached, unsent, well } from "../endings.ts";
import type { Elsewhere, Rows } from "../row.ts";

const untrusted = (certificate: string, authority: "known" | "unknown"): Rows[string] => {
  const elsewhere: Elsewhere = { certificate, authority };
  const notTrusted = { ...unsent("ERR_UNREACHABLE", false) };
  const cloud = { cloud: notTrusted };
  const reading = { cloud: { code: "ERR_UNREACHABLE", retryable: false, requests: 0 } } as const;
  return { elsewhere, measure: cloud, video: cloud, read: reading, download: reading };
};

/** Making a connection, and losing it. */
export const connection: Rows = {
  "nothing listens at the address": { faults: [{ kind: "refuse" }], ...unreached },
  "the host name does not exist": { elsewhere: "nobody has the name", timeoutMs: 8_000, ...unreached },
  "the connection is never established": {
    elsewhere: "nobody takes the connection",
    timeoutMs: shortMs,
    ...unreached,
  },
  // What was written into a connection that nobody reads may have been read.
  "the connection is made, but the request is never read": {
    faults: [{ kind: "connect-silence" }],
    timeoutMs: shortMs,
    measure: { ...late.measure, requests: 0 },
    video: { ...late.video, requests: 0 },
    read: { ...late.read, requests: 0 },
    download: { ...late.download, requests: 0 },
  },
  "a self-signed certificate": untrusted("self-signed", "known"),
  "a certificate of an unknown authority": untrusted("good", "unknown"),
  "a certificate of another host": untrusted("wrong-host", "known"),
  "a certificate that has expired": untrusted("expired", "known"),
  "a certificate of a private authority that is in the TLS settings": {
    elsewhere: { certificate: "good", authority: "known" },
    sourcesOnly: true,
    acts: 1,
    measure: { cloud: well },
    video: { cloud: well },
    read: { cloud: well },
    download: { cloud: well },
  },
  "reset before the device acts": { faults: [{ kind: "reset", acts: false }], ...lost },
  "reset after the device has acted": { faults: [{ kind: "reset" }], acts: 1, ...lost },
  "closed without an answer, before the device acts": {
    faults: [{ kind: "close", acts: false }],
    ...lost,
  },
  "closed without an answer, after the device has acted": {
    faults: [{ kind: "close" }],
    acts: 1,
    ...lost,
  },
  "a reused connection is reset during the next request, and the device does not act": {
    warm: true,
    faults: [{ kind: "keep-alive-dies", acts: false }],
    passes: true,
    measure: unclear("ERR_CONNECTION_LOST"),
    video: unclear("ERR_CONNECTION_LOST"),
    read: { requests: 2 },
    download: { requests: 2 },
  },
  "a reused connection is reset during the next request, and the device acts": {
    warm: true,
    faults: [{ kind: "keep-alive-dies", acts: true }],
    passes: true,
    acts: 1,
    measure: unclear("ERR_CONNECTION_LOST"),
    video: unclear("ERR_CONNECTION_LOST"),
  },
  "reset once, then correct": {
    faults: [{ kind: "reset" }],
    passes: true,
    read: { requests: 2 },
    download: { requests: 2 },
  },
  "closed twice without an answer, then correct": {
    faults: [{ kind: "close" }, { kind: "close" }],
    passes: true,
    read: { requests: 3 },
    download: { requests: 3 },
  },
  "no answer, and the device does not act": {
    faults: [{ kind: "silence", acts: false }],
    timeoutMs: shortMs,
    ...late,
  },
  "no answer after the device has acted": {
    faults: [{ kind: "silence" }],
    acts: 1,
    timeoutMs: shortMs,
    ...late,
  },
  "the headers of an answer, then nothing": {
    faults: [{ kind: "headers-then-silence" }],
    acts: 1,
    timeoutMs: shortMs,
    ...late,
    // An answer without a body is whole with its head.
    video: well,
  },
  "the headers arrive one byte at a time": {
    faults: [{ kind: "slow-headers", everyMs: 20 }],
    acts: 1,
    timeoutMs: shortMs,
    ...late,
  },
  "the body arrives one byte at a time": {
    faults: [{ kind: "drip", everyMs: 200 }],
    acts: 1,
    timeoutMs: shortMs,
    measure: late.measure,
    read: late.read,
  },
  "the answer arrives after the deadline": {
    faults: [{ kind: "delay", ms: 3 * shortMs }],
    acts: 1,
    timeoutMs: shortMs,
    ...late,
  },
  "provisional answers without end": {
    faults: [{ kind: "provisional", everyMs: 20 }],
    acts: 1,
    timeoutMs: shortMs,
    ...late,
  },
  "a provisional answer before the final one": {
    faults: [{ kind: "provisional", count: 2 }],
    acts: 1,
    measure: well,
    video: well,
    read: well,
    download: well,
  },
  "cut before the first byte": {
    faults: [{ kind: "cut", atByte: 0 }],
    acts: 1,
    measure: lost.measure,
    read: lost.read,
    download: lost.download,
  },
  "cut after one byte": {
    faults: [{ kind: "cut", atByte: 1 }],
    acts: 1,
    measure: lost.measure,
    read: lost.read,
  },
  "cut in the middle": {
    faults: [{ kind: "cut" }],
    acts: 1,
    measure: lost.measure,
    read: lost.read,
  },
  "cut before the last byte": {
    faults: [{ kind: "cut", atByte: -1 }],
    acts: 1,
    measure: lost.measure,
    read: lost.read,
    // The first try brings all but one byte, the three that follow nothing.
    download: { ...thrice("ERR_CONNECTION_LOST"), requests: 4 },
  },
  "cut by a reset": {
    faults: [{ kind: "cut", end: "reset" }],
    acts: 1,
    measure: lost.measure,
    read: lost.read,
  },
  "cut in the middle of chunks": {
    faults: [{ kind: "cut", framing: "chunked" }],
    acts: 1,
    measure: lost.measure,
    read: lost.read,
  },
  "cut once, then correct": {
    faults: [{ kind: "cut" }],
    passes: true,
    read: { requests: 2 },
    download: { requests: 2 },
  },
};
