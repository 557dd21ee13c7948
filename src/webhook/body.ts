import type { IncomingMessage } from "node:http";
import { ByteCollector } from "../model/byte-collector.ts";
import { afterLimit } from "../time/after-limit.ts";
import type { BodyBudget } from "./body-budget.ts";

/** The HTTP status for a body that was not read. */
export type BodyProblem = 400 | 408 | 413 | 503;

/**
 * Reads a whole body, up to `limitBytes` and within `deadlineMs`, as long as `budget` has room; null if the sender has
 * closed the connection. A body that a middleware of the site has read before is taken from it.
 */
export function readBody(
  request: IncomingMessage,
  limitBytes: number,
  deadlineMs: number,
  budget: BodyBudget,
): Promise<Buffer | BodyProblem | null> {
  const readBefore = bodyOf(request);
  if (readBefore !== undefined) {
    return Promise.resolve(readBefore !== 400 && readBefore.length > limitBytes ? 413 : readBefore);
  }
  if (Number(request.headers["content-length"] ?? 0) > limitBytes) {
    return Promise.resolve(413);
  }
  const room = budget.open();
  if (room === undefined) {
    return Promise.resolve(503);
  }
  return new Promise((resolve) => {
    // Removed at the end, because the listeners live as long as the request, which may be refused and still be sent.
    let body: ByteCollector | null = new ByteCollector(limitBytes);
    const settle = (result: Buffer | BodyProblem | null): void => {
      if (body !== null) {
        body = null;
        stopTimer();
        request.off("data", take);
        room.close();
        resolve(result);
      }
    };
    const take = (chunk: Buffer): void => {
      if (!room.take(chunk.length)) {
        settle(503);
      } else if (body?.add(chunk) === false) {
        settle(413);
      }
    };
    const stopTimer = afterLimit(deadlineMs, () => settle(408));
    request.on("data", take);
    request.once("end", () => settle(body?.bytes() ?? null));
    request.once("error", () => settle(null));
    request.once("close", () => settle(null));
  });
}

/**
 * Discards the rest of a body before an error response, which the sender would not receive if the connection ended in
 * the middle; stops after `limitBytes` or `deadlineMs` in any case.
 */
export function discardBody(request: IncomingMessage, limitBytes: number, deadlineMs: number): Promise<void> {
  if (request.readableEnded || request.destroyed) {
    return Promise.resolve();
  }
  return new Promise((resolve) => {
    let bytes = 0;
    const settle = (): void => {
      stopTimer();
      request.off("data", count);
      resolve();
    };
    const count = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > limitBytes) {
        settle();
      }
    };
    const stopTimer = afterLimit(deadlineMs, settle);
    request.once("end", settle);
    request.once("error", settle);
    request.once("close", settle);
    request.on("data", count);
  });
}

/** Converts the result of a body parser back to the bytes that it may have come from; 400 if it is nested too deeply for that. */
function bodyOf(request: IncomingMessage): Buffer | 400 | undefined {
  const body: unknown = "body" in request ? request.body : undefined;
  if (!request.readableEnded || body === undefined) {
    return undefined;
  }
  if (Buffer.isBuffer(body)) {
    return body;
  }
  try {
    return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  } catch {
    return 400;
  }
}
