import { phrase } from "../../errors/interpolation.ts";
import { applicationIdentifierProblem, patternProblem, readCodeKinds } from "../../rules/scans.ts";
import { noRead, readNoReads } from "../../scan/no-reads.ts";
import { type Frame, type Reading, allFrames, bytesOf, decodeText } from "../../scan/read-code.ts";
import { checkLength, scanError, textOf } from "../../scan/read-scans.ts";
import type { FindReference, ReferenceRule, ReferenceRules } from "../../scan/reference.ts";
import type { Job } from "../action/serve.ts";
import type { SettingsReader } from "../config/settings.ts";
import type { Message } from "../messages.ts";
import type { ScanSources } from "./scan-sources.ts";

/** The settings of a scan node that concern codes, as they are saved or as a dialog has them. */
export interface CodeSettings {
  readonly which: string;
  readonly ai: string;
  readonly pattern: string;
  readonly symbologies: string;
  readonly invalid: string;
  readonly controls: string;
  readonly noReads: string;
}

/** The part of these settings that reading one scan needs. A regular expression is compiled when it is first used. */
export interface CodeRules {
  readonly references: () => Promise<ReferenceRules>;
  /** The control code that a scan is, as the settings write it, or NO_READ; undefined for a parcel. */
  readonly controlOf: (reading: Reading) => string | undefined;
}

/** Throws ERR_CONFIG where a setting cannot be used. */
export function readCodeRules(settings: CodeSettings, reader: SettingsReader): CodeRules {
  const kinds = readCodeKinds(settings.symbologies);
  if ("problem" in kinds) {
    throw reader.invalid("symbologies", kinds.problem);
  }
  const ruleOf = readRule(settings, reader);
  const mayBeWrong = settings.invalid === "send";
  const controls = new Map(
    settings.controls
      .split(",")
      .map((code) => code.trim())
      .filter((code) => code !== "")
      .map((code) => [controlKey(code), code]),
  );
  const isNoRead = readNoReads(settings.noReads, settings.which === "ai" ? settings.ai.trim() : null);
  return {
    references: async () => ({ rule: await ruleOf(), kinds: kinds.kinds, mayBeWrong }),
    controlOf: (reading) =>
      controls.get(controlKey(reading.scan.text)) ?? (isNoRead(reading) ? noRead : undefined),
  };
}

/** Upper and lower case do not count. */
function controlKey(code: string): string {
  return code.trim().toUpperCase();
}

function readRule(
  { which, ai, pattern }: CodeSettings,
  reader: SettingsReader,
): () => Promise<ReferenceRule> {
  switch (which) {
    case "ai": {
      const problem = applicationIdentifierProblem(ai);
      if (problem !== null) {
        throw reader.invalid("ai", problem);
      }
      return async () => ({ which, ai: ai.trim() });
    }
    case "pattern": {
      const problem = pattern === "" ? phrase("empty") : patternProblem(pattern);
      if (problem !== null) {
        throw reader.invalid("pattern", problem);
      }
      let find: FindReference | undefined;
      return async () => ({ which, find: (find ??= await compile(pattern, reader)) });
    }
    case "text":
      return async () => ({ which });
    default:
      return async () => ({ which: "auto" });
  }
}

/** RE2 is loaded with the first expression: Node-RED loads every installed package when it starts, used or not. */
async function compile(pattern: string, reader: SettingsReader): Promise<FindReference> {
  const { compilePattern } = await import("../../scan/reference-pattern.ts");
  try {
    return compilePattern(pattern);
  } catch {
    throw reader.invalid("pattern", phrase("patternSyntax"));
  }
}

/**
 * How a node treats messages: each as complete, or as a part of a stream. The default `auto` takes texts as complete,
 * because earlier nodes have divided them, and bytes as parts, because a connection delivers them in any size.
 */
export type Framing = "auto" | "message" | "stream";

/** Reads the scans in a message; none if it is only a part of one. Throws ERR_INPUT. */
export async function framesIn(job: Job, framing: Framing, sources: ScanSources): Promise<readonly Frame[]> {
  const { payload } = job.msg;
  const text = textOf(payload);
  if (framing === "message" || (framing === "auto" && typeof payload === "string")) {
    return sources.pass(`whole ${sourceOf(job.msg)}`, framesOf(text), job);
  }
  if (text === "") {
    throw scanError("scanEmpty");
  }
  const source = sourceOf(job.msg);
  const bytes = bytesOf(payload);
  if (bytes === undefined) {
    return sources.collect(`text ${source}`, text, job);
  }
  // Decoded as Latin-1, in which each byte is a character, because a part may end within a character of UTF-8.
  const frames = await sources.collect(`bytes ${source}`, Buffer.from(bytes).toString("latin1"), job);
  return frames.map(({ raw, body }) => ({ raw: fromLatin1(raw), body: fromLatin1(body) }));
}

function framesOf(text: string): readonly Frame[] {
  const frames = allFrames(text);
  // A scanner without a message for it sends only what ends a scan, which the node before this one may have removed.
  return frames.length === 0 ? [{ raw: text, body: "" }] : frames.map(checkLength);
}

function fromLatin1(text: string): string {
  return /[\x80-\xff]/.test(text) ? decodeText(Buffer.from(text, "latin1")) : text;
}

/** Identifies the scanner by what the receiving nodes put on the message: connection, address, port, topic. */
export function sourceOf(msg: Message): string {
  const { topic, ip, port } = msg;
  return JSON.stringify(
    [sessionOf(msg).id, ip, port, topic].map((part) => (isPlain(part) ? String(part).slice(0, 200) : "")),
  );
}

function sessionOf(msg: Message): { readonly id?: unknown } {
  const session: unknown = Reflect.get(msg, "_session");
  return typeof session === "object" && session !== null ? session : {};
}

function isPlain(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}

/** How many texts are remembered; a real scanner cannot send more within the time. */
const mostRemembered = 10_000;

/** The recent scans, to drop those that come twice. */
export class RecentScans {
  readonly #windowMs: number;
  /** When each text last arrived, the oldest first. */
  readonly #seen = new Map<string, number>();

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /**
   * Whether the same text arrived within the window before. A dropped duplicate counts as well: a scanner that reads
   * one label all the time yields one scan.
   */
  isDuplicate(key: string, now: number): boolean {
    const before = this.#seen.get(key);
    this.#seen.delete(key);
    this.#forget(now);
    this.#seen.set(key, now);
    return before !== undefined && now - before < this.#windowMs;
  }

  #forget(now: number): void {
    for (const [key, at] of this.#seen) {
      if (now - at < this.#windowMs && this.#seen.size < mostRemembered) {
        return;
      }
      this.#seen.delete(key);
    }
  }
}
