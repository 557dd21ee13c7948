/** The requests to the driver node in the measured Node-RED, over HTTP. */

/** Sends messages in a loop through a contender. */
export interface LoopOrder {
  /** The id of the driver node that is wired to the contender. */
  readonly node: string;
  readonly inFlight: number;
  /** The messages, which take turns; each message in flight uses its own share of them. */
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  /** The loop ends after this time, or after this number of messages. */
  readonly forMs?: number;
  readonly count?: number;
  /** The message property that gets a unique value with this prefix in each message. */
  readonly unique?: { readonly property: string; readonly prefix: string };
  /** The property that identifies a returning message; `unique.property` if left out. */
  readonly key?: string;
  /** How often a message returns until it is done; once if left out. */
  readonly returns?: number;
}

/** The same number of requests by undici alone, without a node. */
export interface RawOrder {
  readonly urls: readonly string[];
  readonly inFlight: number;
  readonly forMs: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface LoopResult {
  readonly calls: number;
  readonly ms: number;
  /** User and system time of the whole Node-RED process. */
  readonly cpuMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The highest resident memory during the run. */
  readonly peakRssBytes: number;
}

/** How much later than due a timer fired, in milliseconds. */
export interface DelayFacts {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface MemoryFacts {
  readonly rssBytes: number;
  readonly heapBytes: number;
}
