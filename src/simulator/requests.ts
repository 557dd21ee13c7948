import type { IncomingHttpHeaders } from "node:http";
import { createEmitter, createHistory, type HistoryLimits } from "./history.ts";

export const surfaces = ["newer", "earlier", "cloud"] as const;
export type SurfaceName = (typeof surfaces)[number];

/** One request as it arrived at the socket. */
export interface RequestRecord {
  readonly id: number;
  readonly surface: SurfaceName;
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  /** As sent, without the question mark. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The client's address and port: requests with the same ones came over the same connection. */
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** Bytes of the request's body. */
  readonly bodyBytes: number;
  /**
   * `pending`, `answered`, `aborted-by-client`, `fault:` and the fault's name or kind, or `simulator-error:` and why
   * (the simulator was closed meanwhile, or a file of its catalogue is missing).
   */
  readonly outcome: string;
  /** Status of the answer, once it has begun. */
  readonly statusCode?: number;
  /** Milliseconds from the arrival until the answer was sent or the request ended without one. */
  readonly tookMs?: number;
}

/** The record of a request while it is being handled. */
export interface OpenRecord extends RequestRecord {
  bodyBytes: number;
  outcome: string;
  statusCode?: number;
  tookMs?: number;
}

export interface RequestLog {
  readonly all: readonly RequestRecord[];
  to(surface: SurfaceName, pathPrefix?: string): RequestRecord[];
  begin(record: Omit<OpenRecord, "id" | "at" | "bodyBytes" | "outcome">): OpenRecord;
  /** Ends a record; later calls for the same record have no effect. */
  settle(record: OpenRecord, outcome: string): void;
  onRequest(listener: (record: RequestRecord) => void): () => void;
  onSettled(listener: (record: RequestRecord) => void): () => void;
  next(fits?: (record: RequestRecord) => boolean): Promise<RequestRecord>;
  settled(id: number): Promise<RequestRecord>;
  clear(): void;
  close(): void;
}

const recordBytes = 700;

/** About what a record takes in memory. */
function bytesOf({ path, query, headers }: Pick<RequestRecord, "path" | "query" | "headers">): number {
  const headerLengths = Object.entries(headers).map(([name, value]) => name.length + String(value).length);
  const characters = headerLengths.reduce((sum, length) => sum + length, path.length + query.length);
  return recordBytes + 2 * characters;
}

export function createRequestLog(limits: HistoryLimits): RequestLog {
  const history = createHistory<OpenRecord>(limits);
  const { all } = history;
  const arrived = createEmitter<RequestRecord>();
  const done = createEmitter<RequestRecord>();
  let count = 0;
  return {
    all,
    to: (surface, pathPrefix = "") =>
      all.filter((record) => record.surface === surface && record.path.startsWith(pathPrefix)),
    begin(facts) {
      count += 1;
      const record = { ...facts, id: count, at: Date.now(), bodyBytes: 0, outcome: "pending" };
      history.add(record, bytesOf(facts));
      arrived.emit(record);
      return record;
    },
    settle(record, outcome) {
      if (record.tookMs !== undefined) {
        return;
      }
      record.outcome = outcome;
      record.tookMs = Date.now() - record.at;
      done.emit(record);
    },
    onRequest: (listener) => arrived.on(listener),
    onSettled: (listener) => done.on(listener),
    next: (fits) => arrived.next(fits),
    async settled(id) {
      const record = all.find((one) => one.id === id);
      if (record === undefined && id <= count) {
        throw new Error(`Request ${id} is no longer in the list of requests.`);
      }
      return record?.tookMs === undefined ? done.next((one) => one.id === id) : record;
    },
    clear: () => history.clear(),
    close() {
      arrived.close();
      done.close();
    },
  };
}
