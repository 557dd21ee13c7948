/** What the bench asks of the driver, a node in the Node-RED that is measured, over HTTP. */

/** Keeps messages going round through a contender. */
export interface LoopOrder {
  /** Id of the driver node whose wire leads to the contender. */
  readonly node: string;
  readonly inFlight: number;
  /** The messages, in turn; each of those in flight keeps to its own share of them. */
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  /** Ends after so long, or after so many messages. */
  readonly forMs?: number;
  readonly count?: number;
  /** The message property that gets a value of its own in each message, with this prefix. */
  readonly unique?: { readonly property: string; readonly prefix: string };
  /** The property that tells on the way back which message it was; `unique.property` when left out. */
  readonly key?: string;
  /** How often a message comes back until it is done; once when left out. */
  readonly returns?: number;
}

/** The same number of requests by undici alone, with no node around it. */
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
  /** Highest resident memory while it ran. */
  readonly peakRssBytes: number;
}

/** How much later than due the event loop came to a timer, in milliseconds. */
export interface DelayFacts {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface MemoryFacts {
  readonly rssBytes: number;
  readonly heapBytes: number;
}
