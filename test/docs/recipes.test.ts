import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { nodeRedMajor, startNodeRed, type NodeRed } from "../support/node-red.ts";
import { connected, isFlow, type FlowNode } from "./flow-blocks.ts";
import { blocksIn, readPages } from "./pages.ts";

interface Post {
  readonly headers: IncomingMessage["headers"];
  readonly body: Readonly<Record<string, unknown>>;
}

const pages = readPages().filter(({ path }) => path === "docs/recipes.md");
const flows = blocksIn(pages, "json").flatMap(({ text }) => {
  const value: unknown = JSON.parse(text);
  return isFlow(value) ? [value] : [];
});

function flowOf(label: string): readonly FlowNode[] {
  const found = flows.find((nodes) => nodes.some((node) => node.type === "tab" && node["label"] === label));
  return found ?? assert.fail(`docs/recipes.md has no flow called ${label}`);
}

/**
 * What a reader puts in the place of a debug node: here it posts these properties of the message. Both nodes need a place
 * on the canvas: Node-RED takes a node without x and y for a config node.
 */
function replaced(nodes: readonly FlowNode[], name: string, url: string): object[] {
  const at = nodes.find((node) => node["name"] === name) ?? assert.fail(`there is no node called ${name}`);
  const { id, z, x, y } = at;
  const func =
    "return { payload: { topic: msg.topic ?? null, params: msg.params ?? null, text: msg.payload } };";
  const post = {
    id: "post",
    z,
    x: 900,
    y,
    type: "http request",
    method: "POST",
    ret: "txt",
    paytoqs: "ignore",
    url,
  };
  return [
    ...nodes.filter((node) => node !== at),
    { id, z, x, y, type: "function", func, outputs: 1, wires: [["post"]] },
    { ...post, wires: [[]] },
  ];
}

describe("the flows of docs/recipes.md", function () {
  this.timeout(60_000);
  let sim: Simulator;
  let nodeRed: NodeRed;
  let server: Server;
  let url: string;
  /** What is answered, one after the other; 201 afterwards. */
  let statuses: number[];
  let posts: Post[];
  let onPost: () => void;

  before(async () => {
    nodeRed = await startNodeRed({ major: nodeRedMajor });
    server = createServer((request, response) => void take(request, response)).listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await json(request)) as Post["body"];
    posts.push({ headers: request.headers, body });
    response.writeHead(statuses.shift() ?? 201).end();
    onPost();
  }

  beforeEach(async () => {
    sim = await startSimulator();
    statuses = [];
    posts = [];
  });

  afterEach(() => sim.close());

  after(async () => {
    await nodeRed.stop();
    server.closeAllConnections();
    server.close();
  });

  /** Deploys the flow, scans once, and waits for so many posts. */
  async function scan(nodes: readonly object[], count: number): Promise<void> {
    const arrived = new Promise<void>((resolve) => {
      onPost = () => {
        if (posts.length === count) {
          resolve();
        }
      };
    });
    await nodeRed.deploy(connected(nodes as FlowNode[], sim));
    const inject = (nodes as FlowNode[]).find(({ type }) => type === "inject");
    await nodeRed.adminFetch(`/inject/${inject?.id}`, { method: "POST" });
    await arrived;
  }

  it("send a result to a WMS again after 503, as the same request, and measure once", async () => {
    statuses = [503];
    const nodes = flowOf("Result to the WMS").map((node) =>
      node.type === "http request" ? { ...node, url } : node,
    );
    await scan(nodes, 2);
    const [first, second] = posts;
    assert.deepEqual(second?.body, first?.body);
    assert.equal(first?.body["reference"], "ORDER-1");
    assert.equal(typeof first.body["length"], "number");
    assert.ok(first.headers["idempotency-key"] !== undefined);
    assert.equal(second?.headers["idempotency-key"], first.headers["idempotency-key"]);
    assert.equal(sim.newer.actions.measures, 1);
  });

  it("give up on a WMS that refuses the request, with an error that a Catch node takes", async () => {
    statuses = [422];
    const nodes = flowOf("Result to the WMS").map((node) =>
      node.type === "http request" ? { ...node, url } : node,
    );
    await scan(replaced(nodes, "What to do", url), 2);
    const [refused, caught] = posts;
    assert.equal(refused?.body["reference"], "ORDER-1");
    assert.deepEqual(Object.keys(caught?.body ?? {}), ["topic", "params", "text"]);
  });

  it("give a database node one value for each parameter of the query", async () => {
    await scan(replaced(flowOf("Result to a database"), "Replace by your database node", url), 1);
    const [page] = pages;
    const count = /\$9\)/.test(page?.text ?? "") ? 9 : 0;
    const values = posts[0]?.body["params"];
    assert.ok(Array.isArray(values));
    assert.equal(values.length, count);
    assert.equal(values[1], "ORDER-1");
    assert.ok(values.every((value) => value !== undefined));
  });

  it("write an e-mail with the node, the code and what to do", async () => {
    sim.faults.add({ surface: "newer", path: "/api/v1/measure", fault: { kind: "reset", acts: true } });
    await scan(replaced(flowOf("Alert by e-mail"), "Replace by your e-mail node", url), 1);
    const { topic, text } = posts[0]?.body ?? {};
    assert.equal(topic, "Measure: ERR_CONNECTION_LOST");
    assert.match(String(text), /Check the table before scanning again\.\nReference: ORDER-1$/);
  });
});
