import type { Simulator } from "../../src/simulator/index.ts";
import type { FlowNode } from "../support/flow.ts";
import type { Action } from "./device-model.ts";
import type { NodeName } from "./steps.ts";

/** Deadline of everything in the flow: a silence is rare, and waited out. */
export const timeoutMs = 1_000;
export const transactionId = "905865";

/** The command that a node sends to a device, and the queue in which it waits; reads have none. */
export interface CommandRoute {
  readonly action: Action;
  readonly queue: "earlier" | "local" | "remote";
  /** Path of the request, and whether it carries the reference. */
  readonly path: string;
  readonly isNamed: boolean;
}

const trigger = (name: string): string => `/api/remotetrigger/${name}`;

export const routes: Readonly<Partial<Record<NodeName, CommandRoute>>> = {
  measure: { action: "measure", queue: "local", path: "/api/v1/measure", isNamed: true },
  "measure-b": { action: "measure", queue: "local", path: "/api/v1/measure", isNamed: true },
  "measure-earlier": { action: "earlier-measure", queue: "earlier", path: "/api/measure", isNamed: false },
  start: { action: "start", queue: "local", path: "/api/v1/video/start", isNamed: true },
  stop: { action: "stop", queue: "local", path: "/api/v1/video/stop", isNamed: false },
  cancel: { action: "cancel", queue: "local", path: "/api/v1/video/cancel", isNamed: false },
  "remote-start": { action: "start", queue: "remote", path: trigger("startrecording"), isNamed: true },
  "remote-stop": { action: "stop", queue: "remote", path: trigger("stoprecording"), isNamed: false },
  "remote-cancel": { action: "cancel", queue: "remote", path: trigger("cancelrecording"), isNamed: false },
  "remote-measure": { action: "measure", queue: "remote", path: trigger("measure"), isNamed: true },
};

/** Node-RED takes a value that is a node's id for a reference to that node, so none may be a plain word. */
export function idOf(name: NodeName): string {
  return `node-${name}`;
}

/** The whole flow; `edition` is what a deploy of the measure node alone changes. */
export function flowOf(sim: Simulator, folder: string, edition: number): FlowNode[] {
  const timeout = timeoutMs / 1_000;
  const rules = { timeout, queueLimit: 10, maxWait: 30 };
  const video = (id: NodeName, action: string): FlowNode => ({
    id: idOf(id),
    z: "tab",
    type: "dimensioner-video-control",
    device: "device",
    action,
  });
  const remote = (id: NodeName, action: string): FlowNode => ({
    id: idOf(id),
    z: "tab",
    type: "dimensioner-remote-trigger",
    cloud: "cloud",
    action,
    deviceReference: sim.options.deviceCode,
  });
  const toFile = { output: "file", folder, folderType: "str", ifExists: "rename" };
  const measure = { z: "tab", type: "dimensioner-measure" };
  return [
    { id: "device", type: "dimensioner-device", name: "A", address: sim.newer.origin, ...rules },
    // The same device by another name: both share its queue.
    { id: "device-b", type: "dimensioner-device", name: "B", address: sim.newer.origin, ...rules },
    {
      id: "device-earlier",
      type: "dimensioner-device",
      name: "C",
      address: sim.earlier.origin,
      generation: "earlier",
      ...rules,
    },
    { id: "cloud", type: "dimensioner-cloud", name: "D", baseUrl: sim.cloud.origin, ...rules },
    { id: idOf("measure"), ...measure, device: "device", name: `edition ${edition}` },
    { id: idOf("measure-b"), ...measure, device: "device-b" },
    { id: idOf("measure-earlier"), ...measure, device: "device-earlier" },
    video("start", "start"),
    video("stop", "stop"),
    video("cancel", "cancel"),
    remote("remote-start", "start"),
    remote("remote-stop", "stop"),
    remote("remote-cancel", "cancel"),
    remote("remote-measure", "measure"),
    { id: idOf("image"), z: "tab", type: "dimensioner-fetch-image", device: "device", image: "color" },
    { id: idOf("video"), z: "tab", type: "dimensioner-fetch-video", device: "device", wait: 0, ...toFile },
    { id: idOf("list"), z: "tab", type: "dimensioner-media-list", cloud: "cloud" },
    { id: idOf("media"), z: "tab", type: "dimensioner-fetch-media", cloud: "cloud", ...toFile },
    { id: idOf("devices"), z: "tab", type: "dimensioner-device-list", cloud: "cloud" },
  ];
}
