import type { TlsOptions } from "../../src/http/connections.ts";
import type { Origins } from "../support/operations.ts";

/** The peer of one operation under one row. */
export interface Peer {
  /** The addresses for the client, by surface. */
  readonly origins: Origins;
  readonly tls: TlsOptions | undefined;
  /** The id that the operation requests, if it needs one. */
  readonly id: string;
  /** Activates the fault and what happens before the operation, and starts to count. */
  arm(): Promise<void>;
  /** Prepares for the same operation once more, and counts from there. */
  again(): Promise<void>;
  /** Lets the peer respond well from now on. */
  recover(): void;
  /** The number of requests that reached any HTTP server since. */
  readonly requests: number;
  /** The number of those whose path begins like this. */
  requestsTo(path: string): number;
  /** Whether one of these requests was met by a fault. */
  readonly metFault: boolean;
  /** The number of acts of all devices since. */
  acts(): Promise<number>;
  /** The content of a successful download. */
  content(): Buffer;
  /** Anything else that is wrong. */
  complaints(): readonly string[];
}
