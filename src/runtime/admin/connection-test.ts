import type { NodeAPI } from "node-red";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { answerWith, sayError, type AdminRequest, type Said } from "./admin-route.ts";

/** One thing that Test connection has found out, as a line below the button. */
export interface TestLine extends Said {
  readonly state: "good" | "unsure" | "bad";
  /** Names that belong to it, as the other side says them. */
  readonly facts?: readonly string[];
}

/**
 * Serves Test connection of a config node. The test tries the values that stand in the dialog, saved or not, and what
 * it throws is its last line.
 */
export function serveConnectionTest(
  RED: NodeAPI,
  type: "dimensioner-cloud" | "dimensioner-device" | "dimensioner-store",
  test: (request: AdminRequest, signal: AbortSignal) => Promise<readonly TestLine[]>,
): void {
  const allowed = RED.auth.needsPermission(`${type}.write`);
  const route = answerWith(async (request, signal) => ({
    lines: await test(request, signal).catch((error: unknown) => [lineOfError(error)]),
  }));
  RED.httpAdmin.post(`/${type}/test`, allowed, route);
}

/** A line that says what failed and what to do; what is no error of this package's is thrown again. */
export function lineOfError(error: unknown): TestLine {
  if (error instanceof DimensionerError) {
    return { state: "bad", ...sayError(error) };
  }
  throw error;
}

export function line(state: TestLine["state"], key: string, values: Said["values"] = {}): TestLine {
  return { state, from: "test", key, values };
}

/** Waits for work until the signal aborts: a disk that hangs must not hold up the answer. The work itself goes on. */
export async function orLate<T>(work: Promise<T>, signal: AbortSignal): Promise<T | "late"> {
  const late = Promise.withResolvers<"late">();
  const stop = (): void => late.resolve("late");
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) {
    stop();
  }
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
