import type { ErrorCode, Outcome } from "../../src/errors/dimensioner-error.ts";
import type { Fault, Mode, StartOptions, SurfaceName } from "../../src/simulator/index.ts";
import type { Step } from "./scripted-server.ts";

/** How one operation ends under a fault. Without a code it succeeds. */
export interface Ending {
  readonly code?: ErrorCode;
  /** Of a command; reads and downloads have none. */
  readonly outcome?: Outcome;
  readonly retryable?: boolean;
  readonly statusCode?: number;
  /** How many requests reach the HTTP server; the fewest and the most if that depends on time. Default 1. */
  readonly requests?: number | readonly [fewest: number, most: number];
  /** How often the device acts; as the row says if it is left out. */
  readonly acts?: number;
  /**
   * What happens to an archive job if a download of it meets the fault: it goes on by itself (the usual case), or the medium counts as
   * missing.
   */
  readonly archive?: "goes on" | "is incomplete";
}

/**
 * One ending for all operations, or one by operation ("video stop") or surface; operations without an ending cannot
 * have the fault.
 */
type Endings = Ending | Readonly<Record<string, Ending>>;

/** What happens before the operation begins. */
export type Given =
  | { readonly mode: Mode }
  | { readonly parcel: string | null }
  | { readonly localApi: boolean }
  | { readonly power: boolean }
  | { readonly video: "start" | "stop" | "cancel" }
  /** A scan at the device, whose result is not awaited. */
  | { readonly scan: string };

/** Where the client looks for its peer, if that is not the peer's own address. */
export type ClientTarget =
  | "nobody has the name"
  | "nobody takes the connection"
  | "a device of the other generation"
  | { readonly certificate: string; readonly authority: "known" | "unknown" };

/** One fault, and how each operation ends under it. */
export interface Row {
  /**
   * The faults, each applied once, and the last one for ever, unless it `passes`. `{other}` in a header is another
   * origin.
   */
  readonly faults?: readonly Fault[];
  readonly passes?: true;
  /** The same operation has just succeeded on the connection that then fails. */
  readonly warm?: true;
  readonly target?: ClientTarget;
  readonly simulator?: StartOptions;
  readonly given?: readonly Given[];
  /** The peer's response byte by byte, instead of the simulator's; downloads only. */
  readonly script?: readonly Step[];
  /** The row needs something that one flow cannot have for each of its nodes. */
  readonly sourcesOnly?: true;
  /** How long to wait for a video that is not there yet. */
  readonly waitMs?: number;
  /** Short only if it is to pass, so that a busy computer fails no other row. */
  readonly timeoutMs?: number;
  /** The shortest and longest duration, in the sources only. */
  readonly takesMs?: readonly [number, number];
  /** How often the device acts for a command. */
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
  readonly archive: "goes on" | "is incomplete";
}

export type PlainEnding = Required<Plain>;

/** Names of operations and surfaces differ from the fields of an ending. */
function isOne(endings: Endings): endings is Ending {
  const fields = ["code", "outcome", "retryable", "statusCode", "requests", "acts", "archive"];
  return Object.keys(endings).every((name) => fields.includes(name));
}
