import { join } from "node:path";
import type { Node, NodeAPI } from "node-red";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { phrase } from "../../errors/interpolation.ts";
import { Store } from "../../store/store.ts";
import { errorBeforeSending, type Operation } from "../failure.ts";
import { sha256Of } from "../../model/sha256.ts";

/** What a store's config node hands out: the store, or why there is none. */
export interface StoreNode extends Node {
  access: { readonly store: Store } | { readonly problem: DimensionerError };
}

/** The deployed store of this id; throws ERR_CONFIG where there is none, or it cannot be used. */
export function storeOf(RED: NodeAPI, id: string, operation: Operation): Store {
  const node = RED.nodes.getNode(id);
  const access: unknown = node !== null && "access" in node ? node.access : undefined;
  if (typeof access === "object" && access !== null) {
    if ("store" in access && access.store instanceof Store) {
      return access.store;
    }
    if ("problem" in access && access.problem instanceof DimensionerError) {
      throw errorBeforeSending(operation, access.problem.sentence, access.problem.values);
    }
  }
  throw errorBeforeSending(operation, "configMissing", { what: phrase("store") });
}

/** Where a store's database is: in Node-RED's user directory, by the id of the config node. */
export function databaseFile(RED: NodeAPI, id: string): string {
  // An id from an imported flow can be any text.
  const name = /^[\w-]{1,64}$/.test(id) ? id : sha256Of(id).slice(0, 32);
  return join(databaseFolder(RED), `${name}.sqlite`);
}

/** Where the databases of all stores are. */
export function databaseFolder(RED: NodeAPI): string {
  return join(RED.settings.userDir ?? process.cwd(), "dimensioner");
}
