import * as v from "valibot";
import { LimitError } from "./history.ts";
import { surfaces, type SurfaceName } from "./requests.ts";
import {
  bytesBody,
  filledBody,
  partOf,
  patchedJson,
  repeatedJson,
  type Body,
  type ContentFault,
  type Plan,
  type SimResponse,
} from "./responses.ts";

/** True: the device executes the request, and only the response is faulty. False: it never receives the request. */
interface Acts {
  acts?: boolean;
}

/** A place in the body: a number of bytes (negative: counted from its end) or a fraction of its length. */
interface Place {
  atByte?: number;
  atFraction?: number;
}

interface Framed {
  framing?: "length" | "chunked";
}

/** What happens to the connection after the last byte. */
interface Ending {
  end?: "close" | "reset" | "hold";
}

interface InSteps {
  bytes?: number;
  everyMs?: number;
}

/** Faults of the connection itself. No request is read, so they match by surface only. */
export type ConnectionFault =
  /** The port is closed, open connections end. Ends after `forMs` or when the fault is removed. */
  | { kind: "refuse"; forMs?: number }
  /** The connection is accepted, then nothing is sent: over TLS the handshake never ends. */
  | { kind: "connect-silence" }
  /** The connection is accepted and reset at once. */
  | { kind: "connect-reset" };

/** Faults that leave the client without a complete response. `acts` is true by default, where it can be chosen. */
type LostResponseFault =
  | ({ kind: "reset"; afterMs?: number } & Acts)
  | ({ kind: "close"; afterMs?: number } & Acts)
  | ({ kind: "silence" } & Acts)
  | ({ kind: "headers-then-silence" } & Acts)
  /**
   * This request gets a correct response. Then the connection is closed at once, or reset when the next request arrives
   * on it. `acts`: whether the device executes that next request; false by default.
   */
  | ({ kind: "keep-alive-dies"; when?: "next-request" | "after-answer" } & Acts)
  | ({ kind: "cut" } & Place & Framed & Ending)
  /** A body with neither length nor chunks, which the end of the connection ends; with a place, it ends too early. */
  | ({ kind: "no-framing" } & Place);

/** Faults that delay the response. */
type SlowFault =
  /** Ends after `ms` or when the fault is removed. */
  | { kind: "delay"; ms: number; before?: "action" | "answer" }
  /** When the fault is removed, the rest is sent without pauses. */
  | ({ kind: "drip" } & InSteps)
  | ({ kind: "slow-headers" } & InSteps)
  /** Sends responses with status 103 before the correct one, every `everyMs` (10); without `count`, they never end. */
  | { kind: "provisional"; count?: number; everyMs?: number };

/** Faults that replace the correct response. `acts` is false by default, and true for `body`. */
type ReplacedResponseFault =
  /** Bytes that are not HTTP. */
  | ({ kind: "not-http"; text?: string; base64?: string } & Acts & Ending)
  /** Any status, with `body` or `bodyBytes` of filling. Redirects: give a `location` header. */
  | ({
      kind: "status";
      status: number;
      headers?: Record<string, string | string[]>;
      body?: string;
      bodyBytes?: number;
      /** Retry-After as a date, at this distance from now. */
      retryInMs?: number;
    } & Acts)
  /** The correct status and headers with another body: a text, bytes, or JSON that is generated while it is sent. */
  | ({
      kind: "body";
      text?: string;
      base64?: string;
      jsonBytes?: number;
      jsonItems?: number;
      /** What `jsonItems` repeats; default a media item. */
      item?: unknown;
      contentType?: string;
    } & Acts &
      Framed)
  /** Changes fields of a JSON response. Names may be paths: `measuredObjects.0.errorCode`. */
  | { kind: "json-patch"; set?: Record<string, unknown>; remove?: string[] };

/** Faults of the headers of a correct body. */
type HeaderFault =
  /** Content-Length this many bytes too small or too large. */
  | ({ kind: "wrong-length"; by: number } & Ending)
  /** Content-Range as given, or shifted by a number of bytes (default 1) against what is sent. */
  | { kind: "wrong-range"; value?: string; shift?: number }
  /** 206 to a request without Range, with the bytes `from` up to, not including, `to` (default: the first half). */
  | { kind: "partial"; from?: number; to?: number }
  | { kind: "range-ignored" }
  /** Another ETag, or none. With `ignoreIfRange` the part is sent all the same, as a faulty server would. */
  | { kind: "etag"; value: string | null; ignoreIfRange?: boolean }
  | { kind: "content-type"; value: string | null }
  /** Adds or replaces headers. */
  | { kind: "headers"; set: Record<string, string> };

export type RequestFault = LostResponseFault | SlowFault | ReplacedResponseFault | HeaderFault;
export type Fault = ConnectionFault | RequestFault;

/** A fault and what it applies to. All conditions must hold; one that is left out always holds. */
export interface FaultRule {
  /** Shown in the outcome of the requests that it was applied to; default the fault's kind. */
  name?: string;
  surface?: SurfaceName;
  method?: string;
  /** Starting with a slash: what the path begins with. Otherwise a regular expression. Letter case is ignored. */
  path?: string;
  /** How often it is applied; 0: until it is removed. 1 if left out. */
  times?: number;
  /** How many matching requests or connections get a normal response first. 0 if left out. */
  after?: number;
  fault: Fault;
}

/** The schema of the types above, which explain each field. */
type SchemaOf<T> = v.GenericSchema<T>;

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const positive = v.pipe(v.number(), v.integer(), v.minValue(1));
const ms = v.pipe(v.number(), v.minValue(0));
const optional = v.exactOptional;

const acts = optional(v.boolean());

const end = v.picklist(["close", "reset", "hold"]);

const place = {
  atByte: optional(v.pipe(v.number(), v.integer())),
  atFraction: optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
};

const headers = optional(v.record(v.string(), v.union([v.string(), v.array(v.string())])));

const connectionFault = v.variant("kind", [
  v.strictObject({ kind: v.literal("refuse"), forMs: optional(ms) }),
  v.strictObject({ kind: v.literal("connect-silence") }),
  v.strictObject({ kind: v.literal("connect-reset") }),
]) satisfies SchemaOf<ConnectionFault>;

const lostResponseFault = v.variant("kind", [
  v.strictObject({ kind: v.literal("reset"), acts, afterMs: optional(ms) }),
  v.strictObject({ kind: v.literal("close"), acts, afterMs: optional(ms) }),
  v.strictObject({ kind: v.literal("silence"), acts }),
  v.strictObject({ kind: v.literal("headers-then-silence"), acts }),
  v.strictObject({
    kind: v.literal("keep-alive-dies"),
    acts,
    when: optional(v.picklist(["next-request", "after-answer"])),
  }),
  v.strictObject({
    kind: v.literal("cut"),
    ...place,
    framing: optional(v.picklist(["length", "chunked"])),
    end: optional(end),
  }),
  v.strictObject({ kind: v.literal("no-framing"), ...place }),
]) satisfies SchemaOf<LostResponseFault>;

const slowFault = v.variant("kind", [
  v.strictObject({ kind: v.literal("delay"), ms, before: optional(v.picklist(["action", "answer"])) }),
  v.strictObject({ kind: v.literal("drip"), bytes: optional(positive), everyMs: optional(ms) }),
  v.strictObject({ kind: v.literal("slow-headers"), bytes: optional(positive), everyMs: optional(ms) }),
  v.strictObject({ kind: v.literal("provisional"), count: optional(positive), everyMs: optional(ms) }),
]) satisfies SchemaOf<SlowFault>;

const replacedResponseFault = v.variant("kind", [
  v.strictObject({
    kind: v.literal("not-http"),
    acts,
    text: optional(v.string()),
    base64: optional(v.string()),
    end: optional(end),
  }),
  v.strictObject({
    kind: v.literal("status"),
    acts,
    status: v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(999)),
    headers,
    body: optional(v.string()),
    bodyBytes: optional(count),
    retryInMs: optional(v.number()),
  }),
  v.strictObject({
    kind: v.literal("body"),
    acts,
    text: optional(v.string()),
    base64: optional(v.string()),
    jsonBytes: optional(count),
    jsonItems: optional(count),
    item: optional(v.unknown()),
    contentType: optional(v.string()),
    framing: optional(v.picklist(["length", "chunked"])),
  }),
  v.strictObject({
    kind: v.literal("json-patch"),
    set: optional(v.record(v.string(), v.unknown())),
    remove: optional(v.array(v.string())),
  }),
]) satisfies SchemaOf<ReplacedResponseFault>;

const headerFault = v.variant("kind", [
  v.strictObject({
    kind: v.literal("wrong-length"),
    by: v.pipe(v.number(), v.integer()),
    end: optional(end),
  }),
  v.strictObject({
    kind: v.literal("wrong-range"),
    value: optional(v.string()),
    shift: optional(v.pipe(v.number(), v.integer())),
  }),
  v.strictObject({ kind: v.literal("partial"), from: optional(count), to: optional(count) }),
  v.strictObject({ kind: v.literal("range-ignored") }),
  v.strictObject({
    kind: v.literal("etag"),
    value: v.nullable(v.string()),
    ignoreIfRange: optional(v.boolean()),
  }),
  v.strictObject({ kind: v.literal("content-type"), value: v.nullable(v.string()) }),
  v.strictObject({ kind: v.literal("headers"), set: v.record(v.string(), v.string()) }),
]) satisfies SchemaOf<HeaderFault>;

const faultSchema = v.union([
  connectionFault,
  lostResponseFault,
  slowFault,
  replacedResponseFault,
  headerFault,
]);

export const faultRuleSchema = v.strictObject({
  name: optional(v.string()),
  surface: optional(v.picklist(surfaces)),
  method: optional(v.string()),
  path: optional(
    v.pipe(
      v.string(),
      v.check((path) => {
        try {
          return path.startsWith("/") || new RegExp(path, "i") instanceof RegExp;
        } catch {
          return false;
        }
      }, "path must begin with a slash or be a regular expression"),
    ),
  ),
  times: optional(count),
  after: optional(count),
  fault: faultSchema,
}) satisfies SchemaOf<FaultRule>;

type Of<K extends RequestFault["kind"]> = Extract<RequestFault, { kind: K }>;

const standardEnd = { framing: "length", end: "keep" } as const;
const silentPlan: Plan = { head: null, body: null, framing: "length", end: "hold" };

/** How a response is sent without a fault. */
export function normalPlan(answer: SimResponse, chunked: boolean): Plan {
  const { status, headers, body } = answer;
  const framing = chunked && body !== null ? "chunked" : "length";
  return { head: { status, headers: Object.entries(headers) }, body, framing, end: "keep" };
}

/** Whether the device receives the request. */
export function faultActs(fault: RequestFault): boolean {
  switch (fault.kind) {
    case "status":
    case "not-http":
      return fault.acts ?? false;
    case "reset":
    case "close":
    case "silence":
    case "headers-then-silence":
    case "body":
      return fault.acts ?? true;
    default:
      return true;
  }
}

/** The part of the fault that the handler has to apply itself. */
export function contentFaultOf(fault: RequestFault): ContentFault {
  if (fault.kind === "range-ignored") {
    return { ignoreRange: true };
  }
  if (fault.kind !== "etag") {
    return {};
  }
  return { etag: fault.value, ignoreIfRange: fault.ignoreIfRange ?? false };
}

function withHeaders(plan: Plan, set: Readonly<Record<string, string | readonly string[] | null>>): Plan {
  if (plan.head === null) {
    return plan;
  }
  const names = new Set(Object.keys(set).map((name) => name.toLowerCase()));
  const kept = plan.head.headers.filter(([name]) => !names.has(name.toLowerCase()));
  const added = Object.entries(set).flatMap(([name, value]) =>
    (value === null ? [] : [value].flat()).map((one): [string, string] => [name, one]),
  );
  return { ...plan, head: { ...plan.head, headers: [...kept, ...added] } };
}

function placeIn(size: number, fault: { readonly atByte?: number; readonly atFraction?: number }): number {
  const { atByte, atFraction = 0.5 } = fault;
  const at = atByte === undefined ? Math.floor(size * atFraction) : atByte < 0 ? size + atByte : atByte;
  return Math.max(0, Math.min(size, at));
}

function givenBytes(fault: { readonly text?: string; readonly base64?: string }): Buffer {
  return fault.base64 === undefined ? Buffer.from(fault.text ?? "") : Buffer.from(fault.base64, "base64");
}

function otherBody(fault: Of<"body">): Body {
  if (fault.jsonItems === undefined && fault.jsonBytes === undefined) {
    return bytesBody(givenBytes(fault));
  }
  return repeatedJson(fault);
}

function statusPlan(fault: Of<"status">): Plan {
  const { status, body, bodyBytes, retryInMs } = fault;
  const text = body === undefined ? null : bytesBody(Buffer.from(body));
  const filled = bodyBytes === undefined ? text : filledBody(Buffer.from(body ?? ""), bodyBytes);
  const plan: Plan = { head: { status, headers: [] }, body: filled, ...standardEnd };
  const date = retryInMs === undefined ? null : new Date(Date.now() + retryInMs).toUTCString();
  return withHeaders(plan, { ...(date === null ? {} : { "retry-after": date }), ...fault.headers });
}

function wrongRange(fault: Of<"wrong-range">, plan: Plan): Plan {
  const size = plan.body?.size ?? 0;
  const shift = fault.shift ?? 1;
  const current = plan.head?.headers.find(([name]) => name === "content-range")?.[1];
  const match = /^bytes (\d+)-(\d+)\/(.+)$/.exec(current ?? "");
  const [from, to, whole] = [Number(match?.[1] ?? 0), Number(match?.[2] ?? size - 1), match?.[3] ?? size];
  const value = fault.value ?? `bytes ${from + shift}-${to + shift}/${whole}`;
  return withHeaders(plan, { "content-range": value });
}

function partial(fault: Of<"partial">, plan: Plan): Plan {
  const { head, body } = plan;
  if (head === null || body === null || head.status !== 200) {
    return plan;
  }
  const from = Math.min(fault.from ?? 0, body.size);
  const to = Math.max(from, Math.min(fault.to ?? Math.ceil(body.size / 2), body.size));
  const part = { ...plan, head: { ...head, status: 206 }, body: partOf(body, from, to) };
  return withHeaders(part, { "content-range": `bytes ${from}-${to - 1}/${body.size}` });
}

/** Applies a fault to a plan; `normal` is null if the device did not receive the request. */
export function faultyPlan(fault: RequestFault, normal: Plan | null): Plan {
  const plan = normal ?? { ...silentPlan, head: { status: 200, headers: [] }, end: "keep" };
  const size = plan.body?.size ?? 0;
  switch (fault.kind) {
    case "reset":
    case "close":
      return { ...silentPlan, end: fault.kind };
    case "silence":
      return silentPlan;
    case "headers-then-silence":
      return { ...plan, cutAt: 0, end: "hold" };
    case "cut":
      return {
        ...plan,
        framing: fault.framing ?? plan.framing,
        cutAt: placeIn(size, fault),
        end: fault.end ?? "close",
      };
    case "no-framing": {
      const cut = fault.atByte !== undefined || fault.atFraction !== undefined;
      const closing = {
        ...withHeaders(plan, { connection: "close" }),
        framing: "close",
        end: "close",
      } as const;
      return cut ? { ...closing, cutAt: placeIn(size, fault) } : closing;
    }
    case "drip":
      return { ...plan, pace: { bytes: fault.bytes ?? 1, everyMs: fault.everyMs ?? 10 } };
    case "slow-headers": {
      const headPace = { bytes: fault.bytes ?? 1, everyMs: fault.everyMs ?? 10 };
      return { ...withHeaders(plan, { connection: "close" }), headPace, end: "close" };
    }
    case "provisional": {
      const provisional = { count: fault.count ?? Infinity, everyMs: Math.max(1, fault.everyMs ?? 10) };
      return { ...withHeaders(plan, { connection: "close" }), provisional, end: "close" };
    }
    case "not-http":
      return { head: null, body: bytesBody(givenBytes(fault)), framing: "close", end: fault.end ?? "close" };
    case "status":
      return statusPlan(fault);
    case "body": {
      const type = fault.contentType === undefined ? {} : { "content-type": fault.contentType };
      const framing = fault.framing ?? plan.framing;
      return { ...withHeaders(plan, type), body: otherBody(fault), framing };
    }
    case "json-patch":
      return plan.body === null ? plan : { ...plan, body: patchedJson(plan.body, fault) };
    case "wrong-length":
      return {
        ...plan,
        framing: "length",
        declaredLength: Math.max(0, size + fault.by),
        end: fault.end ?? "close",
      };
    case "wrong-range":
      return wrongRange(fault, plan);
    case "partial":
      return partial(fault, plan);
    case "content-type":
      return withHeaders(plan, { "content-type": fault.value });
    case "headers":
      return withHeaders(plan, fault.set);
    // These faults change the timing or the connection, or are applied by the handler.
    case "delay":
    case "keep-alive-dies":
    case "range-ignored":
    case "etag":
      return plan;
  }
}

/** An active fault. */
export interface ListedFault extends FaultRule {
  readonly id: string;
  /** How many requests or connections have matched so far. */
  readonly matches: number;
  /** How many of them it was applied to. */
  readonly applied: number;
}

/** A fault that applies to this request or connection. */
export interface AppliedFault<F> {
  readonly name: string;
  readonly fault: F;
  /** Aborted when somebody removes the fault. */
  readonly removed: AbortSignal;
}

export interface Faults {
  /** Adds a rule after the existing ones. Throws for a rule that is not valid. */
  add(rule: FaultRule): string;
  /** Returns false if there is no such rule. */
  remove(id: string): boolean;
  clear(): void;
  list(): ListedFault[];
}

/** The part of the faults that the servers use. */
export interface FaultRules extends Faults {
  faultForRequest(surface: SurfaceName, method: string, path: string): AppliedFault<RequestFault> | null;
  faultForConnection(surface: SurfaceName): AppliedFault<ConnectionFault> | null;
  /** True while a `refuse` is active. */
  refuses(surface: SurfaceName): boolean;
}

interface Entry {
  readonly id: string;
  readonly rule: FaultRule;
  /** The size of the rule as JSON. */
  readonly bytes: number;
  matches: number;
  applied: number;
  /** Ends the timer of a fault that ends by itself. */
  cancelTimer(): void;
  /** Aborted when somebody removes the fault, and not when it has been applied often enough. */
  readonly removed: AbortController;
}

const mostRules = 1000;
const mostBytes = 16 * 1024 * 1024;

function fitsRequest({ rule }: Entry, surface: SurfaceName, method: string, path: string): boolean {
  if (rule.surface !== undefined && rule.surface !== surface) {
    return false;
  }
  if (rule.method !== undefined && rule.method.toUpperCase() !== method) {
    return false;
  }
  if (rule.path === undefined) {
    return true;
  }
  if (rule.path.startsWith("/")) {
    return path.toLowerCase().startsWith(rule.path.toLowerCase());
  }
  return new RegExp(rule.path, "i").test(path);
}

/** `changed` is called when rules are added, applied or removed. */
export function createFaultRules(
  after: (ms: number, act: () => void) => () => void,
  changed: () => void,
): FaultRules {
  let entries: Entry[] = [];
  let lastId = 0;

  function drop(dropped: Entry): void {
    dropped.cancelTimer();
    entries = entries.filter((entry) => entry !== dropped);
    changed();
  }

  function remove(id: string): boolean {
    const found = entries.find((entry) => entry.id === id);
    if (found === undefined) {
      return false;
    }
    drop(found);
    found.removed.abort();
    return true;
  }

  /** Counts the match; true when the fault applies to it. */
  function applies(entry: Entry): boolean {
    entry.matches += 1;
    if (entry.matches <= (entry.rule.after ?? 0)) {
      return false;
    }
    entry.applied += 1;
    if (entry.applied === (entry.rule.times ?? 1)) {
      drop(entry);
    } else {
      changed();
    }
    return true;
  }

  return {
    add(given) {
      const rule = v.parse(faultRuleSchema, given);
      const bytes = Buffer.byteLength(JSON.stringify(rule));
      const totalBytes = entries.reduce((sum, entry) => sum + entry.bytes, bytes);
      if (entries.length >= mostRules || totalBytes > mostBytes) {
        throw new LimitError(
          `At most ${mostRules} faults with 16 MB in all can be set. Remove some of them first.`,
        );
      }
      lastId += 1;
      const id = `fault-${lastId}`;
      const { fault } = rule;
      const entry: Entry = {
        id,
        rule,
        bytes,
        matches: 0,
        applied: 0,
        cancelTimer: () => undefined,
        removed: new AbortController(),
      };
      entries = [...entries, entry];
      if (fault.kind === "refuse" && fault.forMs !== undefined) {
        entry.cancelTimer = after(fault.forMs, () => remove(id));
      }
      changed();
      return id;
    },
    remove,
    clear() {
      const removed = entries;
      entries = [];
      for (const entry of removed) {
        entry.cancelTimer();
        entry.removed.abort();
      }
      changed();
    },
    list: () => entries.map(({ id, rule, matches, applied }) => ({ ...rule, id, matches, applied })),
    faultForRequest(surface, method, path) {
      for (const entry of entries) {
        const { fault, name } = entry.rule;
        if (v.is(connectionFault, fault) || !fitsRequest(entry, surface, method, path)) {
          continue;
        }
        if (applies(entry)) {
          return { name: name ?? fault.kind, fault, removed: entry.removed.signal };
        }
      }
      return null;
    },
    faultForConnection(surface) {
      for (const entry of entries) {
        const { fault, name } = entry.rule;
        if (!v.is(connectionFault, fault) || fault.kind === "refuse") {
          continue;
        }
        if (entry.rule.surface !== undefined && entry.rule.surface !== surface) {
          continue;
        }
        if (applies(entry)) {
          return { name: name ?? fault.kind, fault, removed: entry.removed.signal };
        }
      }
      return null;
    },
    refuses: (surface) =>
      entries.some(({ rule }) => rule.fault.kind === "refuse" && (rule.surface ?? surface) === surface),
  };
}
