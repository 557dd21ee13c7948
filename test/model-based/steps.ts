import { array, boolean, constant, constantFrom, oneof, record, tuple, type Arbitrary } from "fast-check";
import type { FaultRule, Mode, SurfaceName } from "../../src/simulator/index.ts";

/** The nodes of the flow, by what they do. */
export const nodeNames = [
  "measure",
  "measure-b",
  "measure-earlier",
  "start",
  "stop",
  "cancel",
  "remote-start",
  "remote-stop",
  "remote-cancel",
  "remote-measure",
  "image",
  "video",
  "list",
  "media",
  "devices",
] as const;
export type NodeName = (typeof nodeNames)[number];

/** Faults by name; the end of the name says what the device does of the request. */
export const faults = {
  "reset, done": { kind: "reset", acts: true },
  "reset, not done": { kind: "reset", acts: false },
  "close, done": { kind: "close", acts: true },
  "silence, done": { kind: "silence", acts: true },
  "cut, done": { kind: "cut", atFraction: 0.5 },
  "slow answer, done": { kind: "delay", ms: 40 },
  "503, not done": { kind: "status", status: 503 },
  "503, done": { kind: "status", status: 503, acts: true },
  "404, not done": { kind: "status", status: 404 },
  "307, not done": { kind: "status", status: 307, headers: { location: "http://127.0.0.1:9/elsewhere" } },
  "rubbish, not done": { kind: "not-http", text: "SSH-2.0-x\r\n" },
  "html, done": { kind: "body", text: "<html>", contentType: "text/html" },
  "kept alive, then reset": { kind: "keep-alive-dies", acts: false },
  "refused for a moment": { kind: "refuse", forMs: 30 },
  "reset at the door": { kind: "connect-reset" },
} as const satisfies Record<string, FaultRule["fault"]>;
export type FaultName = keyof typeof faults;

/** One thing that happens. All data, so that a sequence that failed can be kept as it is. */
export type Step =
  | { readonly do: "send"; readonly to: NodeName }
  | { readonly do: "settle" }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "reset"; readonly node: NodeName }
  | { readonly do: "redeploy"; readonly what: "everything" | "the measure node" }
  | { readonly do: "mode"; readonly mode: Mode }
  | { readonly do: "table"; readonly isEmpty: boolean }
  | { readonly do: "power"; readonly on: boolean }
  | { readonly do: "fault"; readonly surface: SurfaceName; readonly name: FaultName }
  | { readonly do: "clock"; readonly jumpMs: number };

const hourMs = 3_600_000;
const jumpsMs = [-30 * 365 * 24 * hourMs, -24 * hourMs, -1_000, 31_000, 2 * hourMs, 40 * 365 * 24 * hourMs];

const oneOf = <T extends string>(values: readonly T[]): Arbitrary<T> => constantFrom(...values);

/** What comes at any moment, and matters most to what waits. */
const sudden = oneof(
  {
    weight: 2,
    arbitrary: record({ do: constant("clock"), jumpMs: constantFrom(...jumpsMs) } as const),
  },
  { weight: 1, arbitrary: record({ do: constant("reset"), node: oneOf(nodeNames) } as const) },
  {
    weight: 1,
    arbitrary: record({
      do: constant("redeploy"),
      what: oneOf<"everything" | "the measure node">(["everything", "the measure node"]),
    } as const),
  },
);

const step = oneof(
  { weight: 4, arbitrary: sudden },
  { weight: 12, arbitrary: record({ do: constant("send"), to: oneOf(nodeNames) } as const) },
  // Bursts to one device fill its queue.
  {
    weight: 8,
    arbitrary: record({
      do: constant("send"),
      to: oneOf<NodeName>(["measure", "measure-b", "start", "stop"]),
    } as const),
  },
  { weight: 2, arbitrary: record({ do: constant("settle") } as const) },
  { weight: 2, arbitrary: record({ do: constant("wait"), ms: constantFrom(1, 4, 15) } as const) },
  {
    weight: 2,
    arbitrary: record({
      do: constant("mode"),
      mode: oneOf<Mode>(["measurement-only", "video-with-measurement", "video-only", "legal-for-trade"]),
    } as const),
  },
  { weight: 1, arbitrary: record({ do: constant("table"), isEmpty: boolean() } as const) },
  { weight: 1, arbitrary: record({ do: constant("power"), on: boolean() } as const) },
  {
    weight: 5,
    arbitrary: record({
      do: constant("fault"),
      surface: oneOf<SurfaceName>(["newer", "newer", "earlier", "cloud"]),
      name: oneOf(Object.keys(faults) as FaultName[]),
    } as const),
  },
);

/** A slow device, so that the next steps meet commands that wait. */
const burst = tuple(
  constantFrom("slow answer, done", "silence, done", "slow answer, done"),
  array(oneOf<NodeName>(["measure", "measure-b", "start", "cancel", "video"]), {
    minLength: 2,
    maxLength: 4,
  }),
  constantFrom(1, 4, 15),
  array(sudden, { minLength: 1, maxLength: 2 }),
).map(([name, to, ms, then]): readonly Step[] => [
  { do: "fault", surface: "newer", name },
  ...to.map((one) => ({ do: "send", to: one }) as const),
  { do: "wait", ms },
  ...then,
]);

const one = step.map((single): readonly Step[] => [single]);

/** Sequences of what may happen; shrinking leaves out what does not matter. */
export const sequences: Arbitrary<readonly Step[]> = array(
  oneof({ weight: 8, arbitrary: one }, { weight: 1, arbitrary: burst }),
  { minLength: 1, maxLength: 20, size: "max" },
).map((chunks) => chunks.flat());
