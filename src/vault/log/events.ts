/**
 * What a store's log says, one line for each event. A line is canonical JSON (RFC 8785): the same event always has the same bytes, and
 * so the same hash. Its number is its place in the log and stands before it in the files.
 */
import * as v from "valibot";
import type { FoundLine, NewLine } from "../../database/log-table.ts";
import { parseJson, recordLimits } from "../../model/parse-json.ts";
import type { Manifest } from "../packages/manifest.ts";

const text = v.string();
const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const size = v.pipe(v.number(), v.integer(), v.minValue(0));
/** When it was written, by the clock of the computer that wrote it: ISO 8601, UTC. */
const at = v.pipe(v.string(), v.isoTimestamp());

/** A package: the ID of its job, its folder below the folder of packages (with slashes), and the SHA-256 of its manifest. */
const ofPackage = { package: text, path: text, sha256 };
/** Who has asked for it and why, as far as it is known. */
const byPerson = { person: v.nullable(text), reason: text };

const logEvent = v.variant("what", [
  /** The first line. `store`: the ID of the database. */
  v.strictObject({ what: v.literal("begun"), at, store: text }),
  /** What happened before is not known: the log was lost. `packages`: how many were found, which lines behind this one name. */
  v.strictObject({ what: v.literal("lost"), at, packages: size, reason: text }),
  /** A worker has opened the store to archive. */
  v.strictObject({ what: v.literal("opened"), at, worker: text, software: text }),
  /** The packages are somewhere else now. Both are a folder's path, or the key of a bucket. */
  v.strictObject({ what: v.literal("moved"), at, from: text, to: text }),
  /** The first `size` lines, and all packages that they name and that were there, are in a copy. `to`: a folder's path, or the address of a bucket. */
  v.strictObject({ what: v.literal("copied"), at, to: text, size }),
  /** `archived`: the time in its manifest. `supplements`: the SHA-256 of the manifest of the package that it adds to. */
  v.strictObject({
    what: v.literal("archived"),
    at,
    ...ofPackage,
    archived: text,
    supplements: v.nullable(sha256),
  }),
  v.strictObject({ what: v.literal("held"), at, ...ofPackage, ...byPerson }),
  v.strictObject({ what: v.literal("released"), at, ...ofPackage, ...byPerson }),
  /** A number that was not known yet when the package was archived, such as that of a label that was bought later. */
  v.strictObject({
    what: v.literal("named"),
    at,
    ...ofPackage,
    number: text,
    person: v.nullable(text),
    reason: v.nullable(text),
  }),
  /** `before`: what was archived before this time was to be deleted; with a `reason`, as far as space was needed. */
  v.strictObject({
    what: v.literal("pruned"),
    at,
    ...ofPackage,
    transactionId: v.nullable(text),
    before: at,
    reason: v.exactOptional(text),
  }),
  /** A package that a line says was pruned has stayed. */
  v.strictObject({
    what: v.literal("kept"),
    at,
    ...ofPackage,
    transactionId: v.nullable(text),
    reason: text,
  }),
  /** The first `size` lines have this root, and a time stamp in the folder of this name says so; `response`: the SHA-256 of its response. */
  v.strictObject({
    what: v.literal("stamped"),
    at,
    size,
    root: text,
    timestamp: text,
    response: sha256,
    server: text,
  }),
]);

/** An event of a log. */
export type LogEvent = v.InferOutput<typeof logEvent>;
/** An event of one kind. */
export type EventOf<What extends LogEvent["what"]> = LogEvent & { readonly what: What };

/** A package with its manifest, as far as its line in the log says it. */
interface Sealed {
  readonly path: string;
  readonly sha256: string;
  readonly manifest: Pick<Manifest, "job" | "supplements" | "times">;
}

/** The line that says that a package was archived. */
export function archivedEntry({ path, sha256: hash, manifest }: Sealed): NewLine {
  return entryOf({
    what: "archived",
    at: new Date().toISOString(),
    package: manifest.job,
    path,
    sha256: hash,
    archived: manifest.times.archived,
    supplements: manifest.supplements?.sha256 ?? null,
  });
}

/** Writes an event as a line. */
export function entryOf(event: LogEvent): NewLine {
  return { ...columnsOf(event), line: canonicalJson(event) };
}

/** What the database has in columns of a line; of one that cannot be read, nothing. */
export function columnsOf(event: LogEvent | undefined): Omit<NewLine, "line"> {
  const isEnd = event?.what === "pruned" || event?.what === "kept";
  return {
    what: event?.what ?? "",
    packageId: event !== undefined && "package" in event ? event.package : null,
    sha256: isEnd ? event.sha256 : null,
    transactionId: isEnd ? (event.transactionId?.toLowerCase() ?? null) : null,
  };
}

/** Whether holds and deletions would be looked up by other columns than a line has: what is signed is the line. */
export function isFoundOtherwise({ line, columns }: FoundLine): boolean {
  const event = readEvent(line);
  return (
    event !== undefined && Object.entries(columnsOf(event)).some(([name, value]) => columns[name] !== value)
  );
}

/** Reads a line; undefined if it is none, or not as this package writes it, or of a later version. */
export function readEvent(line: string): LogEvent | undefined {
  try {
    const read = v.safeParse(logEvent, parseJson(line, recordLimits), { abortEarly: true });
    return read.success && canonicalJson(read.output) === line ? read.output : undefined;
  } catch {
    return undefined;
  }
}

/** A flat object as RFC 8785 writes it: its fields in the order of their names, nothing between them. */
function canonicalJson(event: Readonly<Record<string, string | number | null>>): string {
  const sorted: Record<string, string | number | null | undefined> = {};
  for (const name of Object.keys(event).sort()) {
    const value = event[name];
    // Half of a surrogate pair has no place in JSON.
    sorted[name] = typeof value === "string" ? value.toWellFormed() : value;
  }
  return JSON.stringify(sorted);
}

/** How all checkpoints begin, before the ID of the store. */
const originStart = "dimensioner-archive/";

/** The state of a log: how many lines it has, and the root of their tree. */
export interface Checkpoint {
  /** Which log it is: the ID of the store. */
  readonly store: string;
  readonly size: number;
  readonly root: Buffer;
}

/** Three lines of text, as C2SP's tlog-checkpoint has them: whose log, how many lines, and their root in base64. */
export function writeCheckpoint({ store, size: lines, root }: Checkpoint): string {
  return `${originStart}${store}\n${lines}\n${root.toString("base64")}\n`;
}

/** Reads the text of a checkpoint, with signatures behind it or without; undefined if it is none. */
export function readCheckpoint(content: string): Checkpoint | undefined {
  const [origin = "", lines = "", root = ""] = content.replaceAll("\r\n", "\n").trim().split("\n");
  const hash = Buffer.from(root, "base64");
  const isValid =
    origin.startsWith(originStart) && /^(?:0|[1-9]\d{0,14})$/.test(lines) && hash.toString("base64") === root;
  return isValid && hash.length === 32
    ? { store: origin.slice(originStart.length), size: Number(lines), root: hash }
    : undefined;
}

/** The checkpoints in a text, between others, indented or quoted as in an e-mail; undefined for one that was damaged. */
export function findCheckpoints(content: string): (Checkpoint | undefined)[] {
  const lines = content.split(/\r\n?|\n/).map((line) => line.replace(/^[\s>]+/, "").trimEnd());
  return lines.flatMap((line, at) =>
    line.startsWith(originStart) ? [readCheckpoint(lines.slice(at, at + 3).join("\n"))] : [],
  );
}
