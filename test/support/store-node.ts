import { createHash } from "node:crypto";
import type { FlowNode } from "./flow.ts";

/** The config node of a store with its packages in a folder. Its id follows from the folder, unless it is given. */
export function storeNode(folder: string, id = storeId(folder)): FlowNode {
  return { id, type: "dimensioner-store", name: "", folder, folderType: "str" };
}

export function storeId(folder: string): string {
  return `store-${createHash("sha256").update(folder).digest("hex").slice(0, 8)}`;
}
