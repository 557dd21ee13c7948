import { DatabaseSync } from "node:sqlite";
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Node, NodeAPI, NodeInitializer, NodeMessage } from "node-red";
import helper from "node-red-node-test-helper";
import archive from "../../nodes/archive/archive.ts";
import billableWeight from "../../nodes/billable-weight/billable-weight.ts";
import cloud from "../../nodes/cloud/cloud.ts";
import device from "../../nodes/device/device.ts";
import deviceList from "../../nodes/device-list/device-list.ts";
import evidence from "../../nodes/evidence/evidence.ts";
import fetchImage from "../../nodes/fetch-image/fetch-image.ts";
import fetchMedia from "../../nodes/fetch-media/fetch-media.ts";
import fetchVideo from "../../nodes/fetch-video/fetch-video.ts";
import measure from "../../nodes/measure/measure.ts";
import mediaList from "../../nodes/media-list/media-list.ts";
import remoteTrigger from "../../nodes/remote-trigger/remote-trigger.ts";
import scan from "../../nodes/scan/scan.ts";
import store from "../../nodes/store/store.ts";
import transactionIn from "../../nodes/transaction-in/transaction-in.ts";
import videoControl from "../../nodes/video-control/video-control.ts";
import type { NodeError } from "../../src/runtime/status/node-status.ts";
import { nodeRedMajor } from "./node-red.ts";
import { rowsIn, storeDatabase } from "./rows.ts";

export type Message = Record<string, unknown>;

export interface FlowNode {
  readonly id: string;
  readonly type: string;
  readonly [property: string]: unknown;
}

/** How one message ended in one node, as Node-RED's own hooks saw it. */
export interface End {
  readonly nodeId: string;
  readonly msgId: string;
  /** What a Catch node gets if there is an error. */
  readonly msg: Message;
  readonly error: NodeError | undefined;
}

/** A message that left a node. */
export interface Sent {
  readonly nodeId: string;
  readonly port: number;
  readonly msg: Message;
}

export interface Shown {
  readonly nodeId: string;
  readonly fill: string;
  readonly shape: string;
  readonly text: string;
}

interface Runtime {
  readonly hooks: {
    add(name: string, hook: (event: never) => void): void;
    remove(name: string): void;
  };
  readonly events: EventEmitter;
}

interface StatusEvent {
  readonly id: string;
  readonly status?: { readonly fill?: string; readonly shape?: string; readonly text?: string };
}

const require = createRequire(import.meta.url);
const nodeRedPath = require.resolve(`node-red-${nodeRedMajor}`);
const core = createRequire(nodeRedPath);
const nodeTypes: NodeInitializer[] = [
  core("@node-red/nodes/core/sequence/17-split.js") as NodeInitializer,
  core("@node-red/nodes/core/network/06-httpproxy.js") as NodeInitializer,
  core("@node-red/nodes/core/network/31-tcpin.js") as NodeInitializer,
  core("@node-red/nodes/core/common/25-catch.js") as NodeInitializer,
  core("@node-red/nodes/core/common/25-status.js") as NodeInitializer,
  archive,
  billableWeight,
  cloud,
  device,
  deviceList,
  evidence,
  fetchImage,
  fetchMedia,
  fetchVideo,
  measure,
  mediaList,
  remoteTrigger,
  scan,
  store,
  transactionIn,
  videoControl,
];

/** A flow in a real Node-RED runtime in this process, watched through the runtime's hooks. */
export class TestFlow {
  readonly ends: End[] = [];
  readonly sent: Sent[] = [];
  readonly shown: Shown[] = [];
  readonly #last = new Map<string, Shown>();
  /** Those who wait for the end of a message in a node. */
  readonly #waiting = new Map<string, ((end: End) => void)[]>();
  readonly #events = new EventEmitter();
  readonly #runtime = require(nodeRedPath) as Runtime;
  /** Where stores have their databases. */
  readonly #userDir: string;
  #webApp: NodeAPI["httpNode"] | undefined;
  readonly #onStatus = ({ id, status }: StatusEvent): void => {
    // Node-RED clears the status of a node that goes away.
    if (status === undefined) {
      return;
    }
    const { fill = "", shape = "", text = "" } = status;
    if (text === "") {
      this.#last.delete(id);
      this.#events.emit("status");
      return;
    }
    const shown = { nodeId: id, fill, shape, text };
    this.shown.push(shown);
    this.#last.set(id, shown);
    this.#events.emit("status");
  };

  private constructor(userDir: string) {
    this.#userDir = userDir;
  }

  /** Starts a flow; each node of `flow` that has outputs gets its wires to helper nodes from here. */
  static async start(
    flow: readonly FlowNode[],
    credentials: object = {},
    given?: { readonly userDir: string },
  ): Promise<TestFlow> {
    const userDir = given?.userDir ?? (await mkdtemp(join(tmpdir(), "test-flow-")));
    helper.init(nodeRedPath, { userDir, uiPort: 0, uiHost: "127.0.0.1" });
    await new Promise<void>((resolve) => helper.startServer(resolve));
    const test = new TestFlow(userDir);
    test.#watch();
    await test.#load(flow, credentials);
    return test;
  }

  /** The application that serves the http routes of nodes; it does not listen yet. */
  get webApp(): NodeAPI["httpNode"] {
    assert.ok(this.#webApp !== undefined);
    return this.#webApp;
  }

  /** The runtime's own events. */
  get events(): EventEmitter {
    return this.#runtime.events;
  }

  node(id: string): Node {
    return helper.getNode(id);
  }

  /** Deploys another flow in place of this one. */
  async deploy(
    flow: readonly FlowNode[],
    credentials: object = {},
    type: "full" | "nodes" | "flows" = "full",
  ): Promise<void> {
    const started = once(this.events, "flows:started");
    try {
      await helper.setFlows(wire(flow) as never, type, structuredClone(credentials) as never);
    } catch (error) {
      // The helper gives the flows 300 ms to start, which is not much on a busy computer.
      if (!String(error).includes("timeout waiting event")) {
        throw error;
      }
    }
    await started;
  }

  /** Hands a message to a node and waits for its end. */
  async run(nodeId: string, msg: Message): Promise<End & { sent: Sent[] }> {
    const sentBefore = this.sent.length;
    const end = await this.start(nodeId, msg);
    const sent = this.sent.slice(sentBefore).filter((one) => one.nodeId === nodeId);
    return { ...end, sent };
  }

  /** The same without collecting what was sent, for several messages at once. */
  start(nodeId: string, msg: Message): Promise<End> {
    const msgId = typeof msg["_msgid"] === "string" ? msg["_msgid"] : Math.random().toString(16).slice(2);
    msg["_msgid"] = msgId;
    const key = `${nodeId} ${msgId}`;
    const ended = new Promise<End>((resolve) => {
      this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), resolve]);
    });
    helper.getNode(nodeId).receive(msg as NodeMessage);
    return ended;
  }

  /** The rows of the database of a store, read from outside. */
  rowsOf(storeId: string, select: string): Record<string, unknown>[] {
    return rowsIn(storeDatabase(this.#userDir, storeId), select);
  }

  /** Changes the database of a store while Node-RED has it open. */
  changeDatabase(storeId: string, sql: string): void {
    const database = new DatabaseSync(storeDatabase(this.#userDir, storeId), { timeout: 5_000 });
    try {
      database.exec(sql);
    } finally {
      database.close();
    }
  }

  /** What the node shows now; undefined if it shows nothing. */
  lastStatus(nodeId: string): Shown | undefined {
    return this.#last.get(nodeId);
  }

  /** Waits until the node shows a status that fits. */
  async untilStatus(nodeId: string, fits: (shown: Shown) => boolean): Promise<Shown> {
    for (;;) {
      const found = this.shown.find((one) => one.nodeId === nodeId && fits(one));
      if (found !== undefined) {
        return found;
      }
      await once(this.#events, "status");
    }
  }

  /** Waits until the node shows nothing. */
  async untilCleared(nodeId: string): Promise<void> {
    while (this.#last.has(nodeId)) {
      await once(this.#events, "status");
    }
  }

  /** Waits until the node has sent a message that fits. */
  async untilSent(nodeId: string, fits: (msg: Message) => boolean): Promise<Sent> {
    for (;;) {
      const found = this.sent.find((one) => one.nodeId === nodeId && fits(one.msg));
      if (found !== undefined) {
        return found;
      }
      await once(this.#events, "sent");
    }
  }

  /** Waits until a message has ended in the node with an error. */
  async untilError(nodeId: string): Promise<NodeError> {
    for (;;) {
      const found = this.ends.find((one) => one.nodeId === nodeId && one.error !== undefined);
      if (found?.error !== undefined) {
        return found.error;
      }
      await once(this.#events, "end");
    }
  }

  async stop(): Promise<void> {
    await helper.unload();
    await new Promise<void>((resolve) => helper.stopServer(resolve));
    this.#runtime.hooks.remove("*.test-flow");
    this.#runtime.events.off("node-status", this.#onStatus);
    await rm(this.#userDir, { recursive: true, force: true });
  }

  async #load(flow: readonly FlowNode[], credentials: object): Promise<void> {
    // Node-RED deletes from the credentials it is given what it no longer needs.
    const completeApi: NodeInitializer = (RED) => {
      this.#webApp = RED.httpNode;
      // The test helper does not pass it to nodes, as Node-RED does.
      Object.assign(RED, { hooks: this.#runtime.hooks });
    };
    await helper.load(
      [completeApi, ...nodeTypes] as never,
      wire(flow) as never,
      structuredClone(credentials) as never,
    );
  }

  #watch(): void {
    this.#events.setMaxListeners(0);
    this.#runtime.hooks.add(
      "onComplete.test-flow",
      (event: { msg: Message; error?: NodeError; node: Node }) => {
        const { node, msg, error } = event;
        const end = { nodeId: node.id, msgId: String(msg["_msgid"]), msg, error };
        const key = `${end.nodeId} ${end.msgId}`;
        const waiting = this.#waiting.get(key) ?? [];
        this.#waiting.delete(key);
        this.ends.push(end);
        waiting.forEach((resolve) => resolve(end));
        this.#events.emit("end", end);
      },
    );
    this.#runtime.hooks.add(
      "onSend.test-flow",
      (events: { msg: Message; source: { id: string; port: number } }[]) => {
        for (const { msg, source } of events) {
          this.sent.push({ nodeId: source.id, port: source.port, msg });
        }
        this.#events.emit("sent");
      },
    );
    this.#runtime.events.on("node-status", this.#onStatus);
  }
}

/** Adds two helper nodes behind every action node to receive what it sends. */
function wire(flow: readonly FlowNode[]): FlowNode[] {
  // Without a place on the canvas Node-RED would take them for config nodes.
  const actions = flow.map((node) =>
    "z" in node ? { x: 100, y: 100, wires: [["out-0"], ["out-1"]], ...node } : node,
  );
  return [
    { id: "tab", type: "tab" },
    ...actions,
    { id: "out-0", z: "tab", x: 300, y: 100, type: "helper", wires: [] },
    { id: "out-1", z: "tab", x: 300, y: 200, type: "helper", wires: [] },
  ];
}
