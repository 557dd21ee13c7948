import type { Node } from "node-red";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { Instrument } from "../../model/instrument.ts";
import type { NamedNodes } from "./named-nodes.ts";
import type { Recordings } from "./recordings.ts";

/** What a config node provides to other nodes: a client, but never its address or token; or why it cannot. */
export type Access<TClient> =
  | {
      readonly client: TClient;
      /** Shared by all of its type. */
      readonly recordings: Recordings;
      /** Of a device. */
      readonly instrument?: Instrument;
      /** What the cloud calls the device: its registration code and its ID, in lower case. */
      readonly cloudIds?: readonly string[];
    }
  | { readonly problem: DimensionerError };

export interface ConfigNode<TClient, TCredentials extends object = object> extends Node<TCredentials> {
  access: Access<TClient>;
  /** Shared by all of its type. */
  named: NamedNodes;
}

/** Opens the client of a config node; invalid settings become its `problem`. */
export function openOrExplain<TOpened>(
  open: () => TOpened,
): TOpened | { readonly problem: DimensionerError } {
  try {
    return open();
  } catch (error) {
    if (error instanceof DimensionerError) {
      return { problem: error };
    }
    throw error;
  }
}
