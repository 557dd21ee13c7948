import helper from "node-red-node-test-helper";
import { TestFlow, type FlowNode } from "../support/flow.ts";

/** A flow that remembers only what a run records itself. */
export async function startLeanFlow(nodes: readonly FlowNode[], credentials: object): Promise<TestFlow> {
  const flow = await TestFlow.start([]);
  // The helper's spies keep each call of each node with its message, which would be a leak of 5 kB a message. Nodes that
  // there are already have them; those that come now do not.
  const sandbox: unknown = Reflect.get(helper, "_sandbox");
  if (typeof sandbox !== "object" || sandbox === null || !("restore" in sandbox)) {
    throw new Error("the test helper has other spies than it had");
  }
  Reflect.apply(sandbox.restore as () => void, sandbox, []);
  await flow.deploy(nodes, credentials);
  return flow;
}

/** Removes what the flow has recorded. */
export function forget(flow: TestFlow): void {
  for (const seen of [flow.ends, flow.sent, flow.shown]) {
    seen.length = 0;
  }
}
