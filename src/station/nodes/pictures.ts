// Keeps the last pictures in memory, each under an ID of its own that nobody can guess.
import type { FunctionNode } from "../../dashboard/function-node.ts";
import type { BufferMessage } from "../../library/messages.ts";
import type { StationEnv, StationFlow } from "../types.ts";

export function onMessage(msg: BufferMessage, { flow, env, RED }: FunctionNode<StationFlow, StationEnv>) {
  const limit = 25 * Object.keys(env.get("STATIONS")).length;
  const pictures = flow.get("pictures") ?? {};
  const id = RED.util.generateId() + RED.util.generateId();
  pictures[id] = { bytes: msg.payload, contentType: msg.contentType };
  Object.keys(pictures)
    .slice(0, -limit)
    .forEach((old) => delete pictures[old]);
  flow.set("pictures", pictures);
  msg["picture"] = `picture/${id}`;
  return msg;
}
