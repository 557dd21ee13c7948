import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

const folder = join(import.meta.dirname, "..", "..", "examples");

/** One node of a flow file: what the demo and the tests look at. The rest is Node-RED's. */
export interface FlowNode {
  readonly id: string;
  readonly type: string;
  readonly name?: string;
  readonly label?: string;
  readonly [property: string]: unknown;
}

/** The addresses of the simulator, each as an origin: `http://127.0.0.1:8101`. */
export interface Origins {
  readonly newer: string;
  readonly earlier: string;
  readonly cloud: string;
}

/** The addresses in the shipped files: the simulator's default ports. */
export const shippedOrigins: Origins = {
  newer: "http://127.0.0.1:8101",
  earlier: "http://127.0.0.1:8102",
  cloud: "http://127.0.0.1:8103",
};

/** The names of the shipped example files, in their order. */
export async function exampleNames(): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith(".json")).toSorted();
}

/** Reads a shipped example by the start of its name: "01". */
export async function readExample(start: string): Promise<FlowNode[]> {
  const name = (await exampleNames()).find((one) => one.startsWith(start));
  if (name === undefined) {
    throw new Error(`There is no example ${start} in ${folder}.`);
  }
  const nodes: unknown = JSON.parse(await readFile(join(folder, name), "utf8"));
  if (!Array.isArray(nodes) || !nodes.every(isFlowNode)) {
    throw new Error(`examples/${name} is not a list of nodes.`);
  }
  return nodes;
}

/** The secret that the simulator posts with, which the webhooks of the examples have. */
export const simulatorSecret = "simulator";

/** The same nodes with the addresses of these origins. The examples have the simulator's token and secret; other flows need a token. */
export function connected(nodes: readonly FlowNode[], to: Origins, token?: string): FlowNode[] {
  const moved = (address: string): string => {
    for (const surface of ["newer", "earlier", "cloud"] as const) {
      const from = shippedOrigins[surface];
      if (address === from) {
        return to[surface];
      }
      if (address === new URL(from).host) {
        return new URL(to[surface]).host;
      }
    }
    if (address.startsWith("${")) {
      return address;
    }
    throw new Error(`An example talks to ${address}, which is none of the simulator's default addresses.`);
  };
  return nodes.map((node) => {
    if (node.type === "dimensioner-device") {
      return { ...node, address: moved(String(node["address"])) };
    }
    if (node.type === "dimensioner-cloud") {
      const credentials = token === undefined ? node["credentials"] : { token };
      return { ...node, baseUrl: moved(String(node["baseUrl"])), credentials };
    }
    return node;
  });
}

/** The nodes of several flows in one; the config nodes that they share are there once. */
export function together(flows: readonly (readonly FlowNode[])[]): FlowNode[] {
  return [...new Map(flows.flat().map((node) => [node.id, node])).values()];
}

/** The one node of this name. */
export function nodeNamed(nodes: readonly FlowNode[], name: string): FlowNode {
  const [found, ...others] = nodes.filter((node) => node.name === name);
  if (found === undefined || others.length > 0) {
    throw new Error(`The flow has no single node “${name}”.`);
  }
  return found;
}

function isFlowNode(value: unknown): value is FlowNode {
  return typeof value === "object" && value !== null && "id" in value && "type" in value;
}
