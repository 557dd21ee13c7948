import type { ErrorCode, Outcome } from "../../../src/errors/dimensioner-error.ts";
import type { Fault, StartOptions } from "../../../src/simulator/index.ts";

/** An action node of a scenario; `config` says which of two config nodes it uses, both of one address. */
interface Actor {
  readonly type: string;
  readonly config?: "one" | "two";
  readonly tab?: "tab" | "other tab";
  readonly properties?: Readonly<Record<string, unknown>>;
}

interface Send {
  readonly to: string;
  /** How many messages are sent at once. Default 1. */
  readonly count?: number;
  /** How long after the messages before. */
  readonly afterMs?: number;
  readonly msg?: Readonly<Record<string, unknown>>;
}

/** How messages end: how many, and what is known of their commands. */
interface Ends {
  readonly count: number;
  readonly outcome?: Outcome;
}

/** Several messages, or one and what happens meanwhile. */
export interface Scenario {
  readonly simulator?: StartOptions;
  /** Properties of the config nodes. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly actors: Readonly<Record<string, Actor>>;
  readonly fault?: { readonly path: string; readonly times?: number; readonly fault: Fault };
  readonly sends: readonly Send[];
  readonly meanwhile?: {
    /** A request to this path has come, and a status that begins so was shown. */
    readonly when: { readonly request?: string; readonly status?: string };
    readonly happens: "redeploy" | "reset";
  };
  readonly well?: number;
  readonly failed?: Readonly<Partial<Record<ErrorCode, Ends | readonly Ends[]>>>;
  /** Paths in the order in which they arrive, or how many requests. */
  readonly requests: number | readonly string[];
  /** A slow computer may have asked more often when that happened; nothing is asked afterwards. */
  readonly mayHaveAskedMore?: true;
  readonly acts: number;
  /** Names of the files that are there in the end. Default none. */
  readonly files?: readonly string[];
  /** The explanation in docs/faults.md. */
  readonly says: string;
}

const measure = { node: { type: "dimensioner-measure" } } as const;
const slowMeasure = { path: "/api/v1/measure", fault: { kind: "delay", ms: 300 } } as const;
/** A measure that is still running when the reset comes. */
const heldMeasure = { path: "/api/v1/measure", times: 0, fault: { kind: "delay", ms: 600_000 } } as const;
const silentMeasure = { path: "/api/v1/measure", times: 0, fault: { kind: "silence", acts: false } } as const;

const films = Array.from({ length: 20 }, (_, index) => `film-${index + 10}.mp4`);

export const concurrency: Readonly<Record<string, Scenario>> = {
  "the same scan twice within 80 ms": {
    simulator: { measureMs: 60 },
    actors: measure,
    sends: [{ to: "node" }, { to: "node", afterMs: 40 }],
    well: 2,
    requests: 2,
    acts: 2,
    says: "Two messages cause two measurements, one after the other. To drop the second, set Ignore repeats.",
  },
  "50 messages at once to one device": {
    simulator: { measureMs: 5 },
    actors: measure,
    sends: [{ to: "node", count: 50 }],
    well: 11,
    failed: { ERR_QUEUE_FULL: { count: 39, outcome: "not-sent" } },
    requests: 11,
    acts: 11,
    says: "One runs, ten wait (the queue limit), the others fail at once and are not sent.",
  },
  "two config nodes and two tabs with the same address": {
    simulator: { measureMs: 20 },
    actors: {
      first: { type: "dimensioner-measure", config: "one" },
      second: { type: "dimensioner-measure", config: "two", tab: "other tab" },
    },
    sends: [
      { to: "first", count: 4 },
      { to: "second", count: 4 },
    ],
    well: 8,
    requests: 8,
    acts: 8,
    says: "There is one queue per device: never two commands at a time.",
  },
  "cancel while start runs": {
    simulator: { mode: "video-only" },
    actors: {
      start: { type: "dimensioner-video-control", properties: { action: "start" } },
      cancel: { type: "dimensioner-video-control", properties: { action: "cancel" } },
    },
    fault: { path: "/api/v1/video/start", fault: { kind: "delay", ms: 150 } },
    sends: [{ to: "start" }, { to: "cancel" }],
    well: 2,
    requests: ["/api/v1/video/start", "/api/v1/video/cancel"],
    acts: 2,
    says: "The cancel waits until the start is answered.",
  },
  "a command waits longer than the queue timeout": {
    config: { maxWait: 0.1 },
    actors: measure,
    fault: slowMeasure,
    sends: [{ to: "node" }, { to: "node" }],
    well: 1,
    failed: { ERR_EXPIRED: { count: 1, outcome: "not-sent" } },
    requests: 1,
    acts: 1,
    says: "It is dropped and never sent: another parcel may be on the table.",
  },
  "20 downloads to files at once": {
    actors: {
      node: {
        type: "dimensioner-fetch-media",
        properties: { output: "file", filename: "film", filenameType: "msg" },
      },
    },
    sends: films.map((film) => ({ to: "node", msg: { transactionId: "905865", film } })),
    well: 20,
    requests: 20,
    acts: 0,
    files: films,
    says: "All run at once, because reads are not queued; every file is complete.",
  },
  "msg.reset while two commands wait": {
    actors: measure,
    fault: heldMeasure,
    sends: [{ to: "node", count: 3 }],
    meanwhile: { when: { status: "in queue: 2" }, happens: "reset" },
    well: 1,
    failed: { ERR_CANCELLED: { count: 2, outcome: "not-sent" } },
    requests: 1,
    acts: 1,
    says: "Waiting commands are dropped, the running one continues.",
  },
};

export const redeploys: Readonly<Record<string, Scenario>> = {
  "redeploy while a command runs": {
    actors: measure,
    fault: silentMeasure,
    sends: [{ to: "node" }],
    meanwhile: { when: { request: "/api/v1/measure" }, happens: "redeploy" },
    failed: { ERR_CANCELLED: { count: 1, outcome: "unknown" } },
    requests: 1,
    acts: 0,
    says: "It is aborted; its outcome is unknown.",
  },
  "redeploy while commands wait": {
    actors: measure,
    fault: silentMeasure,
    sends: [{ to: "node", count: 3 }],
    meanwhile: { when: { request: "/api/v1/measure", status: "in queue: 2" }, happens: "redeploy" },
    failed: {
      ERR_CANCELLED: [
        { count: 1, outcome: "unknown" },
        { count: 2, outcome: "not-sent" },
      ],
    },
    requests: 1,
    acts: 0,
    says: "Waiting commands are never sent.",
  },
  "redeploy while a download runs": {
    actors: { node: { type: "dimensioner-fetch-media", properties: { output: "file" } } },
    fault: {
      path: "/api/transactionmedia/905865/",
      fault: { kind: "cut", atByte: 20_000, end: "hold" },
    },
    sends: [{ to: "node", msg: { transactionId: "905865" } }],
    meanwhile: { when: { request: "/api/transactionmedia/905865/" }, happens: "redeploy" },
    failed: { ERR_CANCELLED: { count: 1 } },
    requests: 1,
    acts: 0,
    says: "It is aborted, and its partial file is removed.",
  },
  "redeploy while media are waited for": {
    simulator: { unknownTransaction: "empty-list" },
    actors: { node: { type: "dimensioner-media-list", properties: { wait: 60, expect: "video/mp4" } } },
    sends: [{ to: "node", msg: { transactionId: "1" } }],
    meanwhile: { when: { status: "waiting for media" }, happens: "redeploy" },
    failed: { ERR_CANCELLED: { count: 1 } },
    requests: 1,
    mayHaveAskedMore: true,
    acts: 0,
    says: "The wait ends.",
  },
  "redeploy while a read waits for its next try": {
    config: { timeout: 60 },
    actors: { node: { type: "dimensioner-media-list" } },
    fault: {
      path: "/api/transactionmedia/",
      times: 0,
      fault: { kind: "status", status: 503, headers: { "retry-after": "20" } },
    },
    sends: [{ to: "node", msg: { transactionId: "905865" } }],
    meanwhile: { when: { request: "/api/transactionmedia/" }, happens: "redeploy" },
    failed: { ERR_CANCELLED: { count: 1 } },
    requests: 1,
    acts: 0,
    says: "It is not tried again.",
  },
};
