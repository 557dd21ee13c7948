import type { NodeAPI } from "node-red";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { answerWith, sayError, type AdminRequest, type EditorSentence } from "./admin-route.ts";

/** One result of Test connection, a line below the button. */
export interface TestLine extends EditorSentence {
  readonly state: "good" | "warning" | "bad";
  /** Names that belong to it, in the words of the peer. */
  readonly facts?: readonly string[];
}

/**
 * Serves Test connection of a config node. It tests the dialog's present values, saved or not; an error becomes the
 * last line.
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

/** Converts an error of this package to a line; throws other errors again. */
export function lineOfError(error: unknown): TestLine {
  if (error instanceof DimensionerError) {
    return { state: "bad", ...sayError(error) };
  }
  throw error;
}

export function line(state: TestLine["state"], key: string, values: EditorSentence["values"] = {}): TestLine {
  return { state, from: "test", key, values };
}

/** Waits for work until the signal aborts: a hanging disk must not delay the response. The work itself goes on. */
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
