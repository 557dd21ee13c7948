import type { FunctionNode } from "../../dashboard/function-node.ts";
import { texts } from "../texts.ts";

export function onStart({ flow }: FunctionNode<{ texts: object }>) {
  flow.set("texts", texts);
}
