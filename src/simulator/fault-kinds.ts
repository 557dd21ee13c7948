import * as v from "valibot";

import type {
  ConnectionFault,
  FaultRule,
  HeaderFault,
  LostResponseFault,
  ReplacedResponseFault,
  SlowFault,
} from "./fault-types.ts";
import { surfaces } from "./requests.ts";

/** The schema of the types in fault-types.ts, which explains each field. */
type Of<T> = v.GenericSchema<T>;

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

export const connectionFault = v.variant("kind", [
  v.strictObject({ kind: v.literal("refuse"), forMs: optional(ms) }),
  v.strictObject({ kind: v.literal("connect-silence") }),
  v.strictObject({ kind: v.literal("connect-reset") }),
]) satisfies Of<ConnectionFault>;

export const lostResponseFault = v.variant("kind", [
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
]) satisfies Of<LostResponseFault>;

export const slowFault = v.variant("kind", [
  v.strictObject({ kind: v.literal("delay"), ms, before: optional(v.picklist(["action", "answer"])) }),
  v.strictObject({ kind: v.literal("drip"), bytes: optional(positive), everyMs: optional(ms) }),
  v.strictObject({ kind: v.literal("slow-headers"), bytes: optional(positive), everyMs: optional(ms) }),
  v.strictObject({ kind: v.literal("provisional"), count: optional(positive), everyMs: optional(ms) }),
]) satisfies Of<SlowFault>;

export const replacedResponseFault = v.variant("kind", [
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
]) satisfies Of<ReplacedResponseFault>;

export const headerFault = v.variant("kind", [
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
]) satisfies Of<HeaderFault>;

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
}) satisfies Of<FaultRule>;
