import { type PeerClock, isWorthSaying } from "../../time/clocks.ts";
import type { Node, NodeAPI } from "node-red";
import * as v from "valibot";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { type FieldName, type Value, phrase } from "../../errors/interpolation.ts";
import { deployed } from "../config/config-choice.ts";
import { environmentName, type SettingsReader } from "../config/settings.ts";

/**
 * A sentence that the editor shows in its own language: a key of the catalog that all types share, under `errors` or
 * `common.test`, and the values of its placeholders. The editor inserts it as text, whatever it contains.
 */
export interface EditorSentence {
  readonly from: "errors" | "test";
  readonly key: string;
  readonly values: Readonly<Record<string, Value | Amount | undefined>>;
}

/** A value that the editor formats in its language: a size in bytes, or a time (ISO 8601) as the time since then. */
type Amount = { readonly bytes: number } | { readonly time: string };

type Route = ReturnType<NodeAPI["auth"]["needsPermission"]>;
export type AdminRequest = Parameters<Route>[0];

/** Handles a request of the editor. The signal aborts when the browser no longer waits for the response. */
type Work = (request: AdminRequest, signal: AbortSignal) => Promise<object>;

/** One field of a dialog; a long token has a few thousand characters. */
export const fieldText = v.pipe(v.string(), v.maxLength(16_384));

/** What the password field of a dialog contains until somebody types into it. */
export const untouched = "__PWRD__";

/** A field that is a number in flows and text in dialogs. */
export const fieldNumber = v.union([fieldText, v.number()]);

/** A check box; text if its value comes from an environment variable. */
export const fieldFlag = v.union([v.boolean(), fieldText]);

/** Serves the requests of one route. It never rejects, which would end the process. */
export function answerWith(work: Work): Route {
  return (request, response) => {
    const left = new AbortController();
    response.on("close", () => left.abort());
    response.set("Cache-Control", "no-store");
    work(request, left.signal).then(
      (answer) => response.json(answer),
      (error: unknown) => {
        if (error instanceof DimensionerError) {
          response.json({ state: "bad", ...sayError(error) });
        } else {
          response.sendStatus(error instanceof v.ValiError ? 400 : 500);
        }
      },
    );
  };
}

/**
 * Reads the body of a request from a dialog. It has to be JSON, because a form on any web page could send other types.
 * Throws a ValiError.
 */
export function readBody<const TSchema extends v.GenericSchema>(
  schema: TSchema,
  request: AdminRequest,
): v.InferOutput<TSchema> {
  const body: unknown = request.is("json") === false ? undefined : request.body;
  return v.parse(schema, body);
}

export function sayError(error: DimensionerError): EditorSentence {
  return { from: "errors", key: error.textKey, values: error.values };
}

/**
 * Replaces a value that names an environment variable, by Node-RED's own rules, as far as they apply to a node that is
 * not deployed yet: it has the variables of the other nodes of its flow. Throws ERR_CONFIG if there is no such
 * variable.
 */
export function readEnvironment(
  RED: NodeAPI,
  place: { readonly id: string; readonly z: string },
  settings: SettingsReader,
): (field: FieldName, value: string) => string {
  return (field, value) => {
    const name = environmentName(value);
    if (name === undefined) {
      return value;
    }
    const found = readVariable(RED, neighbour(RED, place), name);
    if (found === undefined) {
      throw settings.invalid(field, phrase("environmentUnset", { name }));
    }
    return String(found);
  };
}

/** The value of a variable. A variable of a flow may be other than text. */
function readVariable(RED: NodeAPI, node: Node | null, name: string): string | number | boolean | undefined {
  return node === null ? process.env[name] : (RED.util.getSetting(node, name) ?? undefined);
}

/** The node itself if it is deployed, else any node of the same flow: all of them have the same variables. */
export function neighbour(RED: NodeAPI, { id, z }: { readonly id: string; readonly z: string }): Node | null {
  const itself = deployed(RED, id);
  if (itself !== null) {
    return itself;
  }
  let found: Node | null = null;
  RED.nodes.eachNode((definition) => {
    if (found === null && (definition.z ?? "") === z) {
      found = deployed(RED, definition.id);
    }
  });
  return found;
}

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

/** A warning if the clocks of a peer, as it has told it, and of this computer are apart; otherwise nothing. */
export function clockLines(host: string, clock: PeerClock): readonly TestLine[] {
  const aheadMs = clock.aheadMs();
  if (!isWorthSaying(aheadMs)) {
    return [];
  }
  return [
    line("warning", aheadMs > 0 ? "clockAhead" : "clockBehind", {
      host,
      time: durationText(Math.abs(aheadMs)),
    }),
  ];
}

/** In the two largest units, by the symbols that are the same in most languages: `1 h 5 min`. */
function durationText(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  const [days, hours, rest] = [Math.floor(minutes / 1_440), Math.floor(minutes / 60) % 24, minutes % 60];
  const parts =
    days > 0 ? [`${days} d`, `${hours} h`] : hours > 0 ? [`${hours} h`, `${rest} min`] : [`${rest} min`];
  return parts.filter((part, index) => index === 0 || !part.startsWith("0 ")).join(" ");
}
