import assert from "node:assert/strict";
import { connect } from "node:net";

import { startSimulator, type Simulator, type StartOptions } from "../../src/simulator/index.ts";

/** Starts simulators that are closed after each test of the suite it is called in. */
export function useSimulators(): (options?: StartOptions) => Promise<Simulator> {
  const open: Simulator[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((sim) => sim.close()));
  });
  return async (options) => {
    const sim = await startSimulator(options);
    open.push(sim);
    return sim;
  };
}

export type Json = Record<string, unknown>;

export function asObject(value: unknown): Json {
  assert.ok(typeof value === "object" && value !== null && !Array.isArray(value), "an object");
  return Object.fromEntries(Object.entries(value));
}

export function asList(value: unknown): Json[] {
  assert.ok(Array.isArray(value), "a list");
  return value.map(asObject);
}

export async function jsonOf(response: Response): Promise<unknown> {
  const value: unknown = await response.json();
  return value;
}

export async function bytesOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}

export function cloudGet(
  sim: Simulator,
  path: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(sim.cloud.origin + path, { headers: { authorization: "Bearer simulator", ...headers } });
}

/** Media of a transaction, as listed. */
export async function mediaOf(sim: Simulator, transactionId: string): Promise<Json[]> {
  return asList(await jsonOf(await cloudGet(sim, `/api/transactionmedia/${transactionId}`)));
}

export async function measure(sim: Simulator, query = ""): Promise<Json> {
  const response = await fetch(`${sim.newer.origin}/api/v1/measure${query}`);
  assert.equal(response.status, 200);
  return asObject(await jsonOf(response));
}

/** Posts a video command to the newer device and gives the status. */
export async function video(sim: Simulator, action: string, query = ""): Promise<number> {
  const response = await fetch(`${sim.newer.origin}/api/v1/video/${action}${query}`, { method: "POST" });
  assert.equal((await bytesOf(response)).length, 0);
  return response.status;
}

export interface Exchange {
  readonly bytes: Buffer;
  readonly text: string;
  /** `open`: nothing came for `quietMs`, and the connection still stood. */
  readonly end: "fin" | "reset" | "open";
}

/** More than a busy machine needs for the next byte of an answer, or for the end of a connection. */
const longestMs = 60_000;

/**
 * Sends bytes over a bare socket and gives all that comes back until the connection ends, or is quiet for so long after the
 * first byte. Where no byte is expected, the quiet counts from when `silentFrom` has resolved.
 */
export function exchange(
  port: number,
  request: string,
  quietMs = longestMs,
  silentFrom?: Promise<unknown>,
): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, "127.0.0.1");
    const done = (end: Exchange["end"]): void => {
      socket.destroy();
      const bytes = Buffer.concat(chunks);
      resolve({ bytes, text: bytes.toString("latin1"), end });
    };
    socket.setTimeout(longestMs, () => done("open"));
    silentFrom?.then(() => socket.setTimeout(quietMs), reject);
    socket.on("data", (chunk) => {
      socket.setTimeout(quietMs);
      chunks.push(chunk);
    });
    socket.on("error", () => done("reset"));
    socket.on("end", () => done("fin"));
    socket.write(request);
  });
}

/** A request as text, for the bare socket. */
export function requestText(path: string, method = "GET", headers = ""): string {
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n`;
}

export const measureRequest = requestText("/api/v1/measure");

/** A header of an answer that came as text. */
export function headerOf(text: string, name: string): string | undefined {
  return new RegExp(`^${name}: (.*)\r$`, "im").exec(text.split("\r\n\r\n")[0] + "\r\n")?.[1];
}
