import { partOf, type SimResponse, type ContentFault } from "./responses.ts";
import { bytesBody, filledBody, type Body } from "./content.ts";
import type { RequestFault } from "./fault-types.ts";
import { patchedJson, repeatedJson } from "./json-bodies.ts";
import type { Plan } from "./send-plan.ts";

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
