import type { ErrorCode, Outcome } from "../../src/errors/dimensioner-error.ts";
import type { Fault, Mode, StartOptions, SurfaceName } from "../../src/simulator/index.ts";
import type { Step } from "./scripted-server.ts";

/** How one operation ends under a fault. Without a code it ends well. */
export interface Ending {
  readonly code?: ErrorCode;
  /** Of a command; reads and downloads have none. */
  readonly outcome?: Outcome;
  readonly retryable?: boolean;
  readonly statusCode?: number;
  /** Requests that reach the HTTP server; where it is a matter of time, the fewest and the most. 1. */
  readonly requests?: number | readonly [fewest: number, most: number];
  /** How often the machine acts; what the row says where it is left out. */
  readonly acts?: number;
  /**
   * What becomes of a job of the archive whose downloads it strikes: it goes on by itself (that is usual), ends with the
   * code, or ends for want of the medium.
   */
  readonly archive?: "goes on" | "ends" | "is incomplete";
}

/** The same for all, or by operation ("video stop"), else by surface; what is left out cannot have the fault. */
type Endings = Ending | Readonly<Record<string, Ending>>;

/** What happens before the operation begins. */
export type Given =
  | { readonly mode: Mode }
  | { readonly parcel: string | null }
  | { readonly localApi: boolean }
  | { readonly power: boolean }
  | { readonly video: "start" | "stop" | "cancel" }
  /** Somebody scans at the device, and the operation does not wait for what comes of it. */
  | { readonly scan: string };

/** Where the client looks for its peer, if not where it is. */
export type ClientTarget =
  | "nobody has the name"
  | "nobody takes the connection"
  | "a device of the other generation"
  | { readonly certificate: string; readonly authority: "known" | "unknown" };

/** One fault, whom it strikes, and how each of them ends. */
export interface Row {
  /** Each one once, in turn; the last one for ever, unless it `passes`. `{other}` in a header is another origin. */
  readonly faults?: readonly Fault[];
  readonly passes?: true;
  /** The same operation has just gone well on the connection that the fault strikes. */
  readonly warm?: true;
  readonly target?: ClientTarget;
  readonly simulator?: StartOptions;
  readonly given?: readonly Given[];
  /** What the peer answers, byte by byte, instead of what the simulator would; downloads only. */
  readonly script?: readonly Step[];
  /** It needs what one flow cannot have for each of its nodes. */
  readonly sourcesOnly?: true;
  /** How long to wait for a video that is not there yet. */
  readonly waitMs?: number;
  /** Short only where it is to pass, so that a busy machine fails no other row. */
  readonly timeoutMs?: number;
  /** Shortest and longest duration, in the sources alone. */
  readonly takesMs?: readonly [number, number];
  /** How often the machine acts for a command. */
  readonly acts?: number;
  readonly measure?: Endings;
  readonly video?: Endings;
  readonly read?: Endings;
  readonly download?: Endings;
}

export type Kind = "measure" | "video" | "read" | "download";

/** Rows by what happens, in the words of the documentation. */
export type Rows = Readonly<Record<string, Row>>;

export interface OperationInfo {
  readonly kind: Kind;
  readonly operation: string;
  readonly surface: SurfaceName;
}

/** How the operation ends under the row, or undefined where the fault cannot happen to it. */
export function endingOf(row: Row, { kind, operation, surface }: OperationInfo): Required<Plain> | undefined {
  const endings = row[kind];
  const ending = endings === undefined || isOne(endings) ? endings : (endings[operation] ?? endings[surface]);
  if (ending === undefined) {
    return undefined;
  }
  const isCommand = kind === "measure" || kind === "video";
  const { requests = 1, code, outcome = null, retryable = false, statusCode, archive = "goes on" } = ending;
  const [fewest, most] = typeof requests === "number" ? [requests, requests] : requests;
  const acts = ending.acts ?? (isCommand ? (row.acts ?? 0) : 0);
  return { code, outcome, retryable, statusCode, fewest, most, acts, archive };
}

interface Plain {
  readonly code: ErrorCode | undefined;
  readonly outcome: Outcome | null;
  readonly retryable: boolean;
  readonly statusCode: number | undefined;
  readonly fewest: number;
  readonly most: number;
  readonly acts: number;
  readonly archive: "goes on" | "ends" | "is incomplete";
}

export type PlainEnding = Required<Plain>;

/** Names of operations and surfaces are none of an ending's fields. */
function isOne(endings: Endings): endings is Ending {
  const fields = ["code", "outcome", "retryable", "statusCode", "requests", "acts", "archive"];
  return Object.keys(endings).every((name) => fields.includes(name));
}
