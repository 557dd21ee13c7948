import type { FlowNode } from "../support/flow.ts";
import { storeNode } from "../support/store-node.ts";

const place = { z: "tab", x: 100, y: 100 };

/** Every node type that takes messages, and what it does with the device or the cloud that is attacked. */
const actions: Readonly<Record<string, object>> = {
  newer: { type: "dimensioner-measure", device: "newer-device" },
  earlier: { type: "dimensioner-measure", device: "earlier-device" },
  image: { type: "dimensioner-fetch-image", device: "newer-device" },
  control: { type: "dimensioner-video-control", device: "newer-device", action: "start" },
  video: { type: "dimensioner-fetch-video", device: "newer-device" },
  trigger: {
    type: "dimensioner-remote-trigger",
    cloud: "cloud",
    action: "measure",
    deviceReference: "ABCD2345",
  },
  list: { type: "dimensioner-media-list", cloud: "cloud" },
  "list-split": { type: "dimensioner-media-list", cloud: "cloud", emit: "split" },
  media: { type: "dimensioner-fetch-media", cloud: "cloud" },
  fleet: { type: "dimensioner-device-list", cloud: "cloud" },
  archive: { type: "dimensioner-archive", store: "store" },
  evidence: { type: "dimensioner-evidence", store: "store" },
  size: { type: "dimensioner-evidence", store: "store", by: "size" },
  scan: { type: "dimensioner-scan" },
  billable: { type: "dimensioner-billable-weight" },
};

export const actionIds = Object.keys(actions);

/**
 * Each node with two wires behind it, and a Catch and a Complete node beside it. What comes is counted by the message's id in the global
 * context. POST /go hands one message to one node; GET /ends tells what has come; POST /hook is the webhook.
 */
export function hostileFlow(origin: string, folder: string): FlowNode[] {
  const counter = (id: string): FlowNode => ({
    ...place,
    id,
    type: "function",
    outputs: 0,
    wires: [],
    func: `const id = msg.transactionId && msg.payload && msg.payload.source === "webhook" ? msg.transactionId : msg._msgid;
      const ends = global.get("ends") || {};
      const end = ends[id] = ends[id] || { first: 0, second: 0, caught: 0, completed: 0 };
      end.${id}++;
      global.set("ends", ends);`,
  });
  const nodes = Object.entries(actions).map(([id, properties]): FlowNode => ({
    ...place,
    type: "",
    ...properties,
    id,
    wires: [["first", "second"]],
  }));
  const start = {
    ...place,
    id: "start",
    type: "function",
    outputs: actionIds.length + 1,
    wires: [...actionIds.map((id) => [id]), ["answer"]],
    func: `const { to, id, levels, keys, text } = msg.payload;
      let foo = "deep";
      for (let level = 0; level < levels; level++) foo = level % 2 === 0 ? [foo] : { foo };
      const wide = {};
      for (let key = 0; key < keys; key++) wide["key" + key] = key;
      const units = { dimsUnitOfMeasure: "cm", weightUnitOfMeasure: "kg" };
      const payloads = {
        media: { contentId: "5" },
        evidence: id,
        size: "1,".repeat(200_000),
        scan: id,
        billable: { ok: true, errorCode: 0, length: 30, width: 20, height: 10, weight: 1, ...units, foo, wide },
      };
      const usual = payloads[to] || Buffer.from("ffd8ffe000104a464946ffd9", "hex");
      const payload = text === "" ? usual : to === "media" ? { contentId: text } : text + id;
      const references = { transactionReference: "R" + id + text, customReference1: text };
      const given = { foo, wide, payload, transactionId: "905" + text, ...references, imageIdentifier: "7" + text };
      const outputs = Array(${actionIds.length}).fill(null);
      outputs[${JSON.stringify(actionIds)}.indexOf(to)] = given;
      msg.payload = "";
      // What a function node sends gets the id of what it received.
      msg._msgid = id;
      return [...outputs, msg];`,
  };
  const page = (path: string, method: string, next: string): FlowNode => ({
    ...place,
    id: `ask-${next}`,
    type: "http in",
    url: path,
    method,
    wires: [[next]],
  });
  return [
    { id: "tab", type: "tab" },
    {
      id: "newer-device",
      type: "dimensioner-device",
      name: "Newer",
      address: origin,
      timeout: 5,
      queueLimit: 50,
    },
    {
      id: "earlier-device",
      type: "dimensioner-device",
      name: "Earlier",
      generation: "earlier",
      address: origin,
      timeout: 5,
      queueLimit: 50,
    },
    {
      id: "cloud",
      type: "dimensioner-cloud",
      name: "Cloud",
      baseUrl: origin,
      timeout: 5,
      queueLimit: 50,
      credentials: { token: "known" },
    } as FlowNode,
    storeNode(folder, "store"),
    ...nodes,
    {
      ...place,
      id: "hook",
      type: "dimensioner-transaction-in",
      path: "hook",
      secretIn: "none",
      wires: [["first", "second"]],
    },
    { ...place, id: "catch", type: "catch", scope: null, wires: [["caught"]] },
    { ...place, id: "complete", type: "complete", scope: actionIds, wires: [["completed"]] },
    ...["first", "second", "caught", "completed"].map(counter),
    start,
    page("/go", "post", "start"),
    { ...place, id: "answer", type: "http response", wires: [] },
    page("/ends", "get", "tell"),
    {
      ...place,
      id: "tell",
      type: "function",
      outputs: 1,
      wires: [["answer"]],
      func: `msg.payload = global.get("ends") || {}; return msg;`,
    },
  ];
}
