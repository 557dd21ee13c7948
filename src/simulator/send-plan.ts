import { STATUS_CODES, type ServerResponse } from "node:http";
import type { Socket } from "node:net";

import type { Body } from "./content.ts";

/** So many bytes at a time, with a pause in between. */
interface Pace {
  readonly bytes: number;
  readonly everyMs: number;
}

/** What is sent to the client, with the faults. */
export interface Plan {
  /** Null: the body is sent without any HTTP around it; with no body, nothing is sent. */
  readonly head: { readonly status: number; readonly headers: readonly (readonly [string, string])[] } | null;
  readonly body: Body | null;
  readonly framing: "length" | "chunked" | "close";
  /** A wrong value for Content-Length. */
  readonly declaredLength?: number;
  /** The number of bytes of the body after which `end` happens. */
  readonly cutAt?: number;
  readonly pace?: Pace;
  readonly headPace?: Pace;
  /** Responses with status 103 before the head. */
  readonly provisional?: { readonly count: number; readonly everyMs: number };
  /** `keep` is the normal end; the others act on the socket itself. `hold` leaves the connection open and silent. */
  readonly end: "keep" | "close" | "reset" | "hold";
}

interface Sink {
  write(bytes: Uint8Array | string): boolean;
  once(event: "drain" | "close", listener: () => void): unknown;
  off(event: "drain" | "close", listener: () => void): unknown;
  readonly destroyed: boolean;
}

const resetAfterMs = 20;

type Sleep = (ms: number) => Promise<void>;

function drained(sink: Sink): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      sink.off("drain", done);
      sink.off("close", done);
      resolve();
    };
    sink.once("drain", done);
    sink.once("close", done);
  });
}

async function send(
  sink: Sink,
  chunks: Iterable<Uint8Array>,
  pace: Pace | undefined,
  sleep: Sleep,
): Promise<void> {
  for (const chunk of chunks) {
    const step = pace?.bytes ?? chunk.length;
    for (let at = 0; at < chunk.length; at += step) {
      if (sink.destroyed) {
        return;
      }
      if (!sink.write(chunk.subarray(at, at + step))) {
        await drained(sink);
      }
      if (pace !== undefined) {
        await sleep(pace.everyMs);
      }
    }
  }
}

function* inChunks(chunks: Iterable<Uint8Array>): Iterable<Uint8Array> {
  for (const chunk of chunks) {
    yield Buffer.from(`${chunk.length.toString(16)}\r\n`);
    yield chunk;
    yield Buffer.from("\r\n");
  }
}

/** The headers of the framing: a length, chunks, or neither. */
function framingHeaders(plan: Plan): readonly (readonly [string, string])[] {
  const { body, framing, declaredLength, head } = plan;
  if (head?.status === 204 || framing === "close") {
    return [];
  }
  if (framing === "chunked" && body !== null) {
    return [["transfer-encoding", "chunked"]];
  }
  return [["content-length", String(declaredLength ?? body?.size ?? 0)]];
}

async function sendByResponse(response: ServerResponse, plan: Plan, sleep: Sleep): Promise<void> {
  const { head, body } = plan;
  if (head === null) {
    return;
  }
  response.writeHead(head.status, [...head.headers, ...framingHeaders(plan)].flat());
  if (body !== null) {
    // A small body is sent together with its head.
    if (plan.pace === undefined && body.size <= 64 * 1024) {
      response.end(Buffer.concat([...body.read(0, body.size)]));
      return;
    }
    await send(response, body.read(0, body.size), plan.pace, sleep);
  }
  response.end();
}

function headBytes(plan: Plan): Buffer {
  const { head } = plan;
  if (head === null) {
    return Buffer.alloc(0);
  }
  const lines = [
    `HTTP/1.1 ${head.status} ${STATUS_CODES[head.status] ?? "Unknown"}`,
    ...[...head.headers, ...framingHeaders(plan)].map(([name, value]) => `${name}: ${value}`),
    `date: ${new Date().toUTCString()}`,
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
}

/** Resolves when all bytes are sent, or the client has closed the connection. */
async function sendProvisional(socket: Socket, plan: Plan, sleep: Sleep): Promise<void> {
  const { count, everyMs } = plan.provisional ?? { count: 0, everyMs: 0 };
  for (let sent = 0; sent < count && !socket.destroyed; sent++) {
    socket.write("HTTP/1.1 103 Early Hints\r\nlink: </later>\r\n\r\n");
    await sleep(everyMs);
  }
}

async function sendBySocket(socket: Socket, plan: Plan, sleep: Sleep, reset: () => void): Promise<void> {
  const { body, cutAt } = plan;
  await sendProvisional(socket, plan, sleep);
  await send(socket, [headBytes(plan)], plan.headPace, sleep);
  if (body !== null) {
    const stop = Math.min(body.size, cutAt ?? body.size);
    const chunked = plan.framing === "chunked" && plan.head !== null;
    const chunks = body.read(0, stop);
    await send(socket, chunked ? inChunks(chunks) : chunks, plan.pace, sleep);
    if (chunked && stop === body.size && cutAt === undefined) {
      socket.write("0\r\n\r\n");
    }
  }
  if (plan.end === "reset") {
    // A reset that overtakes the last bytes looks like an ordinary end to some clients.
    if (plan.head !== null || body !== null) {
      await sleep(resetAfterMs);
    }
    reset();
  } else if (plan.end !== "hold") {
    socket.destroySoon();
  }
}

/** Sends a plan. Resolves when the last byte was written to the socket, or the client has closed the connection. */
export async function sendPlan(
  response: ServerResponse,
  socket: Socket,
  plan: Plan,
  tools: { readonly sleep: Sleep; readonly reset: () => void },
): Promise<void> {
  const wellFormed =
    plan.head !== null &&
    plan.declaredLength === undefined &&
    plan.cutAt === undefined &&
    plan.headPace === undefined &&
    plan.provisional === undefined;
  if (wellFormed && plan.end === "keep" && plan.framing !== "close") {
    await sendByResponse(response, plan, tools.sleep);
  } else {
    await sendBySocket(socket, plan, tools.sleep, tools.reset);
  }
}
