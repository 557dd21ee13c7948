import type { TlsOptions } from "../../src/http/connections.ts";
import type { Origins } from "../support/operations.ts";

/** The other side of one operation under one row. */
export interface Peer {
  /** Where the client is to look for each surface. */
  readonly origins: Origins;
  readonly tls: TlsOptions | undefined;
  /** What the operation asks for, where it needs an id. */
  readonly id: string;
  /** Brings the fault, and what happens before the operation. From now on it is counted. */
  arm(): Promise<void>;
  /** Makes ready for the same operation once more, and counts from there. */
  again(): Promise<void>;
  /** From now on the peer answers well. */
  recover(): void;
  /** Requests that reached any HTTP server since. */
  readonly requests: number;
  /** Those whose path begins so. */
  requestsTo(path: string): number;
  /** Acts of all machines since. */
  acts(): Promise<number>;
  /** What a download that ends well has brought. */
  content(): Buffer;
  /** What else does not fit. */
  complaints(): readonly string[];
}
