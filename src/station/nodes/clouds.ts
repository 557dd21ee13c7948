// Asks each cloud that STATIONS names once.
import type { FunctionNode } from "../../dashboard/function-node.ts";
import type { StationEnv, StationFlow } from "../types.ts";

export function onMessage(_msg: object, { env }: FunctionNode<StationFlow, StationEnv>) {
  const names = new Set(Object.values(env.get("STATIONS")).map(({ cloud }) => cloud));
  return [[...names].filter((cloud) => cloud).map((cloud) => ({ topic: "cloud", cloud }))];
}
