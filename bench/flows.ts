import type { FlowNode } from "./user-dir.ts";

const shared = { z: "tab", x: 100, y: 100 };

/** Drivers and contenders are on one tab; an error in a contender ends the driver's run. */
export function tab(nodes: readonly FlowNode[]): FlowNode[] {
  return [{ id: "tab", type: "tab", label: "bench" }, ...nodes.map((node) => withPlace(node))];
}

function withPlace(node: FlowNode): FlowNode {
  return "wires" in node ? { ...shared, ...node } : node;
}

/** A loop: driver → contender (one node or several) → driver. Errors return to the driver as well. */
export function ring(name: string, contender: readonly FlowNode[]): FlowNode[] {
  const driver = driverOf(name);
  const nodes = contender.map((node, index) => ({
    ...node,
    id: `${name}-${index}`,
    wires: [[index === contender.length - 1 ? driver : `${name}-${index + 1}`]],
  }));
  return [
    { id: driver, type: "bench-driver", name, wires: [[`${name}-0`]] },
    ...nodes,
    {
      id: `${name}-catch`,
      type: "catch",
      name: "",
      scope: nodes.map(({ id }) => id),
      uncaught: false,
      wires: [[driver]],
    },
  ];
}

/** The id of the driver of a loop. */
export function driverOf(name: string): string {
  return `${name}-driver`;
}

export function cloudNode(origin: string): FlowNode {
  return { id: "cloud", type: "dimensioner-cloud", name: "the cloud", baseUrl: origin };
}

/** Every cloud node has this token. */
export const credentials = { cloud: { token: "bench" } };

export function deviceNodes(addresses: readonly string[]): FlowNode[] {
  return addresses.map((address, index) => ({
    id: `device-${index}`,
    type: "dimensioner-device",
    name: `dock-${index}`,
    address,
  }));
}

/**
 * The core http request node, configured as for the same calls: kept connections, the token, errors to the Catch node.
 */
export function httpRequest(ret: "obj" | "bin"): FlowNode {
  return {
    type: "http request",
    name: "",
    method: "GET",
    ret,
    paytoqs: "ignore",
    url: "",
    tls: "",
    persist: true,
    proxy: "",
    insecureHTTPParser: false,
    authType: "",
    senderr: true,
    headers: [
      { keyType: "other", keyValue: "Authorization", valueType: "other", valueValue: "Bearer bench" },
    ],
  };
}
