// After each start, the table and the charts get everything once.
import type { FunctionNode } from "../../dashboard/function-node.ts";
import type { SupervisorEnv, SupervisorFlow, SupervisorGlobal, SupervisorNode } from "../types.ts";

export function onStart({
  context,
}: FunctionNode<SupervisorFlow, SupervisorEnv, SupervisorGlobal, SupervisorNode>) {
  context.set("sent", {});
  context.set("answers", 0);
}
