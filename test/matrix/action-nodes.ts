import type { SurfaceName } from "../../src/simulator/index.ts";
import type { Message } from "../support/flow.ts";
import { deviceCode } from "../support/operations.ts";
import type { CountedOperation } from "./expected.ts";
import type { Peer } from "./peer.ts";

/** An action node, set up for one operation. */
export interface ActionNode extends CountedOperation {
  readonly type: string;
  readonly path: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly message: (peer: Peer) => Message;
  /** It asks for something else besides, which is not counted. */
  readonly asksMore?: true;
}

const nothing = (): Message => ({});

function videoControl(action: string): ActionNode {
  return {
    kind: "video",
    operation: `video ${action}`,
    surface: "newer",
    type: "dimensioner-video-control",
    path: `/api/v1/video/${action}`,
    properties: { action },
    message: nothing,
  };
}

function remoteTrigger(action: string, path: string): ActionNode {
  return {
    kind: action === "measure" ? "measure" : "video",
    operation: `remote ${action}`,
    surface: "cloud",
    type: "dimensioner-remote-trigger",
    path: `/api/remotetrigger/${path}`,
    properties: { action, deviceReference: deviceCode },
    message: () => ({ transactionReference: "ORDER-1" }),
    // The name of the device, beside the command.
    asksMore: true,
  };
}

const measure = (surface: SurfaceName, path: string): ActionNode => ({
  kind: "measure",
  operation: "measure",
  surface,
  type: "dimensioner-measure",
  path,
  properties: {},
  message: nothing,
});

const media = { transactionId: "905865" } as const;

/** Downloads into the message leave no file behind, so they are tested with the sources only. */
const toFile = { kind: "download", savesFile: true } as const;

/** Every node that a message makes act or ask, by the operation behind it. */
export const actionNodes: readonly ActionNode[] = [
  measure("newer", "/api/v1/measure"),
  measure("earlier", "/api/measure"),
  remoteTrigger("measure", "measure"),
  videoControl("start"),
  remoteTrigger("start", "startrecording"),
  videoControl("stop"),
  remoteTrigger("stop", "stoprecording"),
  videoControl("cancel"),
  remoteTrigger("cancel", "cancelrecording"),
  {
    kind: "read",
    operation: "media list",
    surface: "cloud",
    type: "dimensioner-media-list",
    path: "/api/transactionmedia/905865",
    properties: {},
    message: () => ({ ...media }),
  },
  {
    kind: "read",
    operation: "device list",
    surface: "cloud",
    type: "dimensioner-device-list",
    path: "/api/deviceclients",
    properties: {},
    message: nothing,
    asksMore: true,
  },
  {
    ...toFile,
    operation: "image",
    surface: "newer",
    type: "dimensioner-fetch-image",
    path: "/api/v1/image/color/",
    properties: { image: "color" },
    message: ({ id }) => ({ imageIdentifier: id }),
  },
  {
    ...toFile,
    operation: "video",
    surface: "newer",
    type: "dimensioner-fetch-video",
    path: "/api/v1/video/download",
    properties: { method: "download" },
    message: nothing,
  },
  {
    ...toFile,
    operation: "video",
    surface: "newer",
    type: "dimensioner-fetch-video",
    path: "/api/v1/video/stream",
    properties: { method: "stream" },
    message: nothing,
  },
  {
    ...toFile,
    operation: "media",
    surface: "cloud",
    type: "dimensioner-fetch-media",
    path: "/api/transactionmedia/905865/",
    properties: {},
    message: ({ id }) => ({ ...media, payload: { contentId: id } }),
  },
];
