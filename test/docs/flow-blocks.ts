import type { Simulator } from "../../src/simulator/index.ts";

export interface FlowNode {
  readonly id: string;
  readonly type: string;
  readonly wires?: readonly (readonly string[])[];
  readonly [property: string]: unknown;
}

/** Whether what stands in a code block can be pasted into the editor's import dialog. */
export function isFlow(value: unknown): value is FlowNode[] {
  return (
    Array.isArray(value) &&
    value.every((one) => typeof one === "object" && one !== null && "id" in one && "type" in one)
  );
}

/** The same flow with this simulator's addresses in place of the default ones. */
export function connected(nodes: readonly FlowNode[], { newer, earlier, cloud }: Simulator): FlowNode[] {
  const ports: Readonly<Record<string, string>> = {
    8101: newer.origin,
    8102: earlier.origin,
    8103: cloud.origin,
  };
  const moved = (address: unknown): string => {
    const port = /:(\d+)$/.exec(String(address))?.[1] ?? "";
    return ports[port] ?? String(address);
  };
  return nodes.map((node) => ({
    ...node,
    ...("address" in node ? { address: moved(node["address"]) } : {}),
    ...("baseUrl" in node ? { baseUrl: moved(node["baseUrl"]), credentials: { token: cloud.token } } : {}),
  }));
}
