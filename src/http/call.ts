import { DimensionerError, type Surface } from "../errors/dimensioner-error.ts";
import { type FieldName, type Phrase, type Values, field, phrase } from "../errors/interpolation.ts";
import type { Hide } from "../errors/secrets.ts";
import type { SentenceKey } from "../errors/sentences.ts";

interface CallFacts {
  /** In the API's words: "measure", "video start", "media list". */
  readonly operation: string;
  /** Absolute path with every part encoded, without the query. */
  readonly path: string;
  /** Without the question mark; "" for none. */
  readonly query: string;
  /** Sentences of statuses that mean something special for this call. */
  readonly statuses?: Readonly<Record<number, SentenceKey>>;
  /** Values for the sentences above. */
  readonly values?: Values;
}

/**
 * A call that acts on a physical device. It is sent at most once, so no function that repeats accepts one: `acts`
 * separates the two types, although the measures of both generations are GETs.
 */
export interface Command extends CallFacts {
  readonly acts: true;
  readonly method: "GET" | "POST";
}

/** A call that changes nothing, so it may be repeated within its deadline. */
export interface Read extends CallFacts {
  readonly acts: false;
  readonly method: "GET" | "POST";
  /** What a POST sends. */
  readonly body?: Buffer;
}

export type Call = Command | Read;

/** The other end of a connection, as the errors of calls name it. */
export interface Peer {
  readonly surface: Surface;
  /** Scheme, host and port, as the URL standard writes them. */
  readonly origin: string;
  /** Host and port as people write them. */
  readonly host: string;
  /** Takes what is secret out of its answers, which could repeat what was sent to it; undefined if nothing secret is. */
  readonly hide?: Hide | undefined;
}

/** The key of a device's queue: its origin; behind the cloud, the cloud's origin and the registration code. */
export function deviceKeyOf({ origin }: Peer, deviceReference?: string): string {
  return deviceReference === undefined ? origin : `${origin} ${deviceReference.toUpperCase()}`;
}

/** Writes a query with all values that are given. A space becomes %20, which every server understands. */
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

const longestId = 200;

/**
 * Encodes a value as one part of a path. Ids are opaque, but one that a server could read as several parts, after
 * decoding it once or twice, is refused with ERR_INPUT: `../measure` would arrive as a measure.
 */
export function encodePart(surface: Surface, operation: string, name: FieldName, value: string): string {
  const fail = (problem: Phrase): DimensionerError =>
    new DimensionerError(
      "inputValue",
      { surface, operation },
      { field: field(name), value: shorten(value), problem },
    );
  // First, because a character can become 18 of them below: of a long text that would take seconds, and more memory than there is.
  if (value.length > longestId) {
    throw fail(phrase("tooLong", { most: longestId }));
  }
  const plain = value.normalize("NFKC");
  if (plain.trim() === "") {
    throw fail(phrase("empty"));
  }
  if (/[/\\%?#\p{Cc}]/u.test(plain) || plain.includes("..") || plain.trim() === ".") {
    throw fail(phrase("idCharacters"));
  }
  return encodeURIComponent(value.toWellFormed());
}

/** Shortens a value from a message for a sentence. */
export function shorten(value: string): string {
  return value.length > 60 ? `${value.slice(0, 60)}…` : value;
}
