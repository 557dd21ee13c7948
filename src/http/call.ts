import type { Surface } from "../errors/dimensioner-error.ts";
import type { Values } from "../errors/interpolation.ts";
import type { SentenceKey } from "../errors/sentences.ts";

interface CallFacts {
  /** In the API's words: "measure", "video start", "media list". */
  readonly operation: string;
  /** Absolute path with every part encoded, without the query. */
  readonly path: string;
  /** Without the question mark; "" for none. */
  readonly query: string;
  /** What a status means on this call where it differs from the general table. */
  readonly statuses?: Readonly<Record<number, SentenceKey>>;
  /** Values for the sentences above. */
  readonly values?: Values;
}

/**
 * A call that acts on a physical machine. It goes out at most once, so nothing that repeats takes one: `acts` keeps the
 * two kinds apart in the types, although both devices' measures are GETs.
 */
export interface Command extends CallFacts {
  readonly acts: true;
  readonly method: "GET" | "POST";
}

/** A call that changes nothing and may be repeated within its deadline. */
export interface Read extends CallFacts {
  readonly acts: false;
  readonly method: "GET";
}

export type Call = Command | Read;

/** The peer of a transport: what every failure of its calls tells. */
export interface Peer {
  readonly surface: Surface;
  /** Scheme, host and port, as the URL standard writes them. */
  readonly origin: string;
  /** Host and port as people write them. */
  readonly host: string;
}

/** By what the commands to one machine are known: a device's address; through the cloud, also its registration code. */
export function machineOf({ origin }: Peer, deviceReference?: string): string {
  return deviceReference === undefined ? origin : `${origin} ${deviceReference.toUpperCase()}`;
}

/** Writes a query of the values that are given, with %20 for a space, which every server reads alike. */
export function writeQuery(values: Readonly<Record<string, string | undefined>>): string {
  let query = "";
  for (const name of Object.keys(values)) {
    const value = values[name];
    if (value !== undefined) {
      query += `${query === "" ? "" : "&"}${name}=${encodeURIComponent(value.toWellFormed())}`;
    }
  }
  return query;
}
