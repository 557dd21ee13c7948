import type { Node, NodeAPI } from "node-red";
import type { DimensionerError, ErrorCode, ErrorDetails } from "../../errors/dimensioner-error.ts";
import {
  type Value,
  inEnglish,
  interpolate,
  onOneLine,
  render,
  textOfThrown,
} from "../../errors/interpolation.ts";
import { nodeWordings } from "../../errors/sentences.ts";
import type { MeasureResult } from "../../model/shapes.ts";
import { formatBytes } from "../../rules/bytes.ts";
import { fillIn } from "../../rules/fill-in.ts";

type StatusStyle = "working" | "waiting" | "done" | "incomplete" | "failed";

const styles = {
  working: { fill: "blue", shape: "dot" },
  waiting: { fill: "yellow", shape: "ring" },
  done: { fill: "green", shape: "dot" },
  /** It has ended, and something is to be looked at. */
  incomplete: { fill: "yellow", shape: "dot" },
  failed: { fill: "red", shape: "ring" },
} as const;

/** The longest text that the editor shows completely. */
export const longestText = 31;
/** How many updates a second are sent to the editor; of more updates only the last is sent. */
const updatesPerSecond = 4;
/** How many updates may be sent at once before the limit applies, so that all steps of a single message are seen. */
const burst = 8;

interface StatusUpdate {
  readonly style: StatusStyle;
  /** Called only if the update is sent: most updates of a busy node are not. */
  readonly text: () => string;
}

/** Identifies a status that was set. */
export type ShownStatus = object;

/** The status of a node, with a limit of updates a second. */
export class NodeStatus {
  readonly #RED: NodeAPI;
  readonly #node: Node;
  #budget = burst;
  #filledAt = performance.now();
  #next: StatusUpdate | undefined;
  #shown: ShownStatus | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** Whether a lasting problem is shown, and what would be shown without it. */
  #held: { behind: StatusUpdate | undefined } | undefined;

  constructor(RED: NodeAPI, node: Node) {
    this.#RED = RED;
    this.#node = node;
  }

  /** Sets the status to a text of the catalog, with the reference of the parcel behind it. Returns what `replace` needs. */
  say(style: StatusStyle, key: StatusKey, values: StatusValues = {}, reference?: string): ShownStatus {
    return this.#show({ style, text: () => ofParcel(translateStatus(this.#RED, key, values), reference) });
  }

  /** Sets the status to a text that is in no catalog. */
  show(style: StatusStyle, textIn: (language: string) => string): ShownStatus {
    return this.#show({ style, text: () => textIn(languageOf(this.#RED)) });
  }

  /** Replaces a status, unless another one was set meanwhile. */
  replace(shown: ShownStatus, style: StatusStyle, key: StatusKey): void {
    if (shown === this.#shown) {
      this.say(style, key);
    }
  }

  /** Shows a lasting problem, whatever else is said, until `release`. */
  hold(key: StatusKey, values: StatusValues): void {
    this.#held ??= { behind: undefined };
    this.#submit({ style: "failed", text: () => translateStatus(this.#RED, key, values) });
  }

  /** Shows what was said last while a problem was held. Returns false if there is nothing to show. */
  release(): boolean {
    const behind = this.#held?.behind;
    this.#held = undefined;
    if (behind !== undefined) {
      this.#submit(behind);
    }
    return behind !== undefined;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #show(update: StatusUpdate): ShownStatus {
    this.#shown = update;
    if (this.#held === undefined) {
      this.#submit(update);
    } else {
      this.#held.behind = update;
    }
    return update;
  }

  #submit(update: StatusUpdate): void {
    if (this.#isClosed) {
      return;
    }
    if (this.#timer !== undefined) {
      this.#next = update;
      return;
    }
    this.#refill();
    if (this.#budget >= 1) {
      this.#budget--;
      this.#publish(update);
      return;
    }
    this.#next = update;
    this.#timer = setTimeout(() => this.#publishNext(), 1000 / updatesPerSecond);
  }

  #refill(): void {
    const now = performance.now();
    this.#budget = Math.min(burst, this.#budget + ((now - this.#filledAt) / 1000) * updatesPerSecond);
    this.#filledAt = now;
  }

  #publishNext(): void {
    this.#timer = undefined;
    const next = this.#next;
    this.#next = undefined;
    if (next !== undefined) {
      this.#publish(next);
    }
  }

  #publish({ style, text }: StatusUpdate): void {
    this.#node.status({ ...styles[style], text: onOneLine(text()).slice(0, longestText).toWellFormed() });
  }
}

/**
 * The texts of statuses in English, under 32 characters when filled in. The catalogs translate each under
 * `status.<key>`, and a test holds them equal.
 */
export const statusTexts = {
  measuring: "measuring",
  sending: "sending",
  fetching: "fetching",
  waitingInQueue: "in queue: __count__",
  waitingForMedia: "waiting for media",
  waitingForVideo: "waiting for video",
  downloading: "__done__ of __total__",
  downloadingUnknown: "__done__",
  done: "done",
  started: "recording started",
  stopped: "recording stopped",
  cancelled: "recording cancelled",
  recordingEnded: "recording ended",
  repeatsIgnored: "repeats ignored: __count__",
  saved: "saved __size__",
  fetched: "received __size__",
  objects: "objects: __count__",
  items: "media: __count__",
  reset: "queue emptied",
  devices: "devices: __count__",
  changedDevices: "__count__ of __total__ changed",
  ready: "listening",
  received: "received: __count__",
  refusedSecret: "rejected: wrong secret",
  refusedSecretHelp:
    "A post was rejected because its secret is wrong. Enter the same secret in this node and in the webhook of the cloud portal.",
  refusedRecord: "rejected: not a record",
  undelivered: "records not delivered: __count__",
  recordsResumed: "sent again: __count__",
  recordsDamaged: "damaged records: __count__",
  recordsUnhandled: "unhandled for over a week, and sent again: __count__",
  handled: "records handled: __count__",
  cutNodeGone:
    "This node is no longer deployed: it was deleted or disabled. No Catch node gets this message.",
  jobNodeGone:
    "This node is no longer deployed: it was deleted or disabled. Its open jobs (__count__: __value__) go on once an archive node with the same store is deployed.",
  cutNotKept: "Too many messages were cancelled at once, or they are too large. No Catch node gets this one.",
  commandsNotNoted:
    "The store does not respond in time, so commands are sent without being kept there. What is running when Node-RED crashes is not reported then.",
  bucketAway: "bucket not available",
  loginRejected: "login rejected",
  pathTaken: "path used by another node",
  pathTakenBy: "path used by __name__",
  noWebServer: "httpNodeRoot is disabled",
  evidencePage: "The evidence page is served at __path__.",
  evidencePageOff: "The evidence page is not served: __problem__",
  checkingDatabase: "The database __path__ (__size__) is being checked while the flows run.",
  checkedDatabase: "The database __path__ was checked in __seconds__ s and is undamaged.",
  receivingScan: "receiving a scan",
  nothingRead: "nothing was read",
  duplicates: "duplicates dropped: __count__",
  scansDropped: "scans dropped: __count__",
  billedDimensional: "__count__ __unit__ (dimensional)",
  billedActual: "__count__ __unit__ (actual)",
  billedMinimum: "__count__ __unit__ (minimum)",
  billedOldTable: "__count__ __unit__, rules a year old",
  billedClocks: "__count__ __unit__, clocks differ",
  searching: "searching",
  packages: "packages: __count__",
  packagesOf: "packages: __count__ of __total__",
  missing: "missing: __count__",
  onHold: "on hold: __count__",
  released: "released: __count__",
  named: "numbers added: __count__",
  stamped: "time-stamped",
  alreadyStamped: "already time-stamped",
  checkpoint: "checkpoint, lines: __count__",
  verified: "as archived: __count__",
  findings: "findings: __count__",
  notAllChecked: "not all checked: __count__",
  deleted: "deleted: __count__",
  wouldDelete: "would be deleted: __count__",
  spaceSoon: "space for days: __count__",
  spaceMissing: "not enough space",
  openJobs: "open jobs: __count__",
  reachable: "reachable",
  notChecked: "no check possible",
  configMissing: "config node missing",
  configDisabled: "config node disabled",
  configInvalid: "config node invalid",
  configNewer: "saved by a newer version",
} as const;

/** The short causes below a red ring, by error code; catalog keys `status.failed.<code>`. */
export const failedTexts: Readonly<Record<ErrorCode, string>> = {
  ERR_CONFIG: "check the settings",
  ERR_INPUT: "check the message",
  ERR_UNREACHABLE: "no connection",
  ERR_TIMEOUT: "no response in time",
  ERR_CONNECTION_LOST: "connection lost",
  ERR_UNAUTHORIZED: "token rejected",
  ERR_WRONG_MODE: "wrong operating mode",
  ERR_BAD_DEVICE_REFERENCE: "rejected by the cloud",
  ERR_DEVICE_TIMEOUT: "no response from device",
  ERR_NO_VIDEO: "no saved video",
  ERR_NOT_FOUND: "not found",
  ERR_HTTP: "HTTP error",
  ERR_BAD_RESPONSE: "response not usable",
  ERR_TOO_LARGE: "response too large",
  ERR_MEASURE_FAILED: "measurement failed",
  ERR_MEDIA_INCOMPLETE: "media missing",
  ERR_QUEUE_FULL: "queue full",
  ERR_EXPIRED: "waited too long",
  ERR_CANCELLED: "cancelled",
  ERR_FILE: "file not saved",
  ERR_STORE: "database not available",
  ERR_NOT_BILLABLE: "not billable",
};

export type StatusKey = keyof typeof statusTexts | `failed.${ErrorCode}`;

/** The short cause of an error. ERR_STORE has one for each part of a store. */
export function failedKeyOf({ code, sentence }: Pick<DimensionerError, "code" | "sentence">): StatusKey {
  if (code === "ERR_STORE" && sentence.startsWith("bucket")) {
    return "bucketAway";
  }
  if (sentence === "timestampLogin") {
    return "loginRejected";
  }
  return sentence === "storeMoved" || sentence === "storeJobsOpen" ? "failed.ERR_CONFIG" : `failed.${code}`;
}

type Values = Readonly<Record<string, Value | undefined>>;

/** The catalog that all nodes share is that of the device node. */
const catalog = "@dimflow/node-red-dimensioner/dimensioner-device";

/** A size in a status, shown in a suitable unit and in the format of the language. */
interface Size {
  readonly bytes: number;
}

export type StatusValues = Readonly<Record<string, string | number | Size>>;

export function translateStatus(RED: NodeAPI, key: StatusKey, given: StatusValues = {}): string {
  const values = formatSizes(RED, given);
  return translate(RED, `status.${key}`, values) ?? interpolate(englishStatus(key), values);
}

/** The same values, with sizes converted to text. */
export function formatSizes(RED: NodeAPI, given: StatusValues): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      typeof value === "object" ? formatBytes(value.bytes, languageOf(RED)) : value,
    ]),
  );
}

/** The language of the catalog in use, as `Intl` names it. */
export function languageOf(RED: NodeAPI): string {
  return lookUp(RED, `${catalog}:format.language`) ?? "en-US";
}

/** Converts an error to the one that flows get: in the runtime's language, with the name of the device or cloud. */
export function translateError(RED: NodeAPI, error: DimensionerError, device?: string): NodeError {
  const { textKey, values, details } = error;
  // If no catalog was loaded, the text is English.
  const { text = error.message, hint: englishHint = details.hint } = nodeWordings.get(textKey) ?? {};
  const message = translate(RED, `errors.${textKey}`, values) ?? interpolate(text, values);
  const hint = translate(RED, `hints.${textKey}`, values) ?? interpolate(englishHint, values);
  return new NodeError(error, message, { ...details, ...(device === undefined ? {} : { device }), hint });
}

/** Converts a value for a sentence in the runtime's language. */
export function translateValue(RED: NodeAPI, value: Value): string {
  return render(value, {
    // Without grouping, because most numbers in sentences are codes and statuses.
    number: (number) => new Intl.NumberFormat(languageOf(RED), { useGrouping: false }).format(number),
    phrase: (phrase) => translate(RED, phrase.phrase, phrase.values ?? {}) ?? inEnglish(phrase),
  });
}

function translate(RED: NodeAPI, key: string, values: Values): string | undefined {
  const text = lookUp(RED, `${catalog}:${key}`);
  return text === undefined ? undefined : fillIn(text, values, (value) => translateValue(RED, value));
}

/**
 * Returns a text with its placeholders; undefined if the catalog has no such key: Node-RED returns the key itself then. Node-RED does not
 * get the values: its library would look in them for references to other texts, and search for hours behind an open "$t(".
 */
export function lookUp(RED: NodeAPI, key: string): string | undefined {
  const text: unknown = RED._(key);
  return typeof text === "string" && !text.endsWith(key.slice(key.indexOf(":") + 1)) ? text : undefined;
}

function englishStatus(key: StatusKey): string {
  return key.startsWith("failed.")
    ? failedTexts[key.slice("failed.".length) as ErrorCode]
    : statusTexts[key as keyof typeof statusTexts];
}

/** As many of its last characters tell a reference from others. */
const leastOfReference = 4;

/** Returns a text with the reference of the parcel that it is about; of a long one its end, where references differ. */
export function ofParcel(text: string, reference: string | undefined): string {
  if (reference === undefined) {
    return text;
  }
  const parcel = onOneLine(reference);
  const room = longestText - text.length - " · ".length;
  return `${text} · ${parcel.length <= room ? parcel : `…${parcel.slice(-Math.max(room - 1, leastOfReference))}`}`;
}

/**
 * Formats the size and weight of a parcel in a language: "10.3×12.1×14.5 cm, 2.5 kg"; without the weight if it would be
 * longer than `longest`. The values are read at once, since the flow may change the result before the status is shown.
 */
export function formatFigures(result: MeasureResult, longest: number): (language: string) => string {
  const { length, width, height, weight } = result;
  const dimsUnit = result.dimsUnitOfMeasure ?? "";
  const weightUnit = result.weightUnitOfMeasure ?? "";
  return (language) => {
    const format = new Intl.NumberFormat(language, { maximumFractionDigits: 2, useGrouping: false });
    const sides = [length, width, height].map((side) => (side === null ? "?" : format.format(side)));
    const dimensions = `${sides.join("×")} ${dimsUnit}`.trim();
    const whole =
      weight === null ? dimensions : `${dimensions}, ${format.format(weight)} ${weightUnit}`.trim();
    return whole.length > longest ? dimensions : whole;
  };
}

const pauseMs = 60_000;

/** Allows one line of each kind per minute, so that a lasting problem does not fill the log. */
export class LogThrottle {
  readonly #saidAt = new Map<string, number>();

  isDue(kind: string): boolean {
    const now = performance.now();
    const saidAt = this.#saidAt.get(kind);
    if (saidAt !== undefined && now - saidAt < pauseMs) {
      return false;
    }
    this.#saidAt.set(kind, now);
    return true;
  }
}

/**
 * An error for Node-RED, which copies the error's own properties `code`, `cause` and `stack` to the message, and shows
 * the result of `toString()`. So that result is the sentence alone, and `cause` is a plain object with the details.
 */
export class NodeError extends Error {
  readonly code: ErrorCode;
  declare readonly cause: ErrorDetails;

  constructor({ code, stack }: DimensionerError, message: string, cause: ErrorDetails) {
    super(message, { cause });
    this.code = code;
    // The stack of the failure, not that of its translation.
    this.stack = stack ?? message;
  }

  override toString(): string {
    return this.message;
  }
}

/** What was thrown and is no error of ours, such as by a getter of a message, as an error with a text: statuses and the log need one. */
export function unforeseenError(thrown: unknown): Error {
  const isReadable = thrown instanceof Error && typeof thrown.message === "string";
  return isReadable ? thrown : new Error(textOfThrown(thrown), { cause: thrown });
}
