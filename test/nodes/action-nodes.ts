import type { Simulator } from "../../src/simulator/index.ts";
import type { Message } from "../support/flow.ts";

/** One action node as the contract test drives it: all that differs between the nodes stands in this table. */
export interface ActionNode {
  readonly type: string;
  readonly uses: "device" | "cloud";
  /** Saved properties beside the config node's. */
  readonly properties: Readonly<Record<string, unknown>>;
  /** Makes the simulator ready and returns a message that succeeds. */
  readonly message: (sim: Simulator) => Promise<Message>;
  /** Whether a message makes the device act. */
  readonly acts: boolean;
  /** Path of the one request that a message causes, as far as it is always the same. */
  readonly path: string;
  /** What the node may set on a message; everything else has to stay as it is. */
  readonly owns: readonly string[];
  /** A pair `x` + `xType` that has to be given, and where it arrives: in the request's path or query. */
  readonly required?: string;
  /** Such a pair whose value arrives in the query under this name. */
  readonly query?: readonly [field: string, name: string];
}

const deviceReference = "ABCD2345";

async function measureLocally(sim: Simulator): Promise<Message> {
  const answer = await fetch(`${sim.newer.origin}/api/v1/measure`);
  const { imageIdentifier } = (await answer.json()) as { imageIdentifier: string };
  return { imageIdentifier };
}

async function recordLocally(sim: Simulator): Promise<Message> {
  sim.newer.setMode("video-only");
  await fetch(`${sim.newer.origin}/api/v1/video/start`, { method: "POST" });
  await fetch(`${sim.newer.origin}/api/v1/video/stop`, { method: "POST" });
  return {};
}

function storeMedia(sim: Simulator): Message {
  const { contentId } = sim.cloud.addMedia("905865", { contentType: "video/mp4", generateBytes: 200_000 });
  return { transactionId: "905865", payload: { contentId } };
}

const measured = [
  "payload",
  "transactionReference",
  "transactionId",
  "imageIdentifier",
  "rawResponse",
  "measuredBy",
];
const fetched = ["payload", "contentType", "filename"];

export const actionNodes: readonly ActionNode[] = [
  {
    type: "dimensioner-measure",
    uses: "device",
    properties: {},
    message: async () => ({ transactionReference: "ORDER-1" }),
    acts: true,
    path: "/api/v1/measure",
    owns: measured,
    query: ["transactionReference", "TransactionReference"],
  },
  {
    type: "dimensioner-fetch-image",
    uses: "device",
    properties: { image: "color" },
    message: measureLocally,
    acts: false,
    path: "/api/v1/image/color/",
    owns: fetched,
    required: "imageIdentifier",
  },
  ...(["start", "stop", "cancel"] as const).map((action): ActionNode => ({
    type: "dimensioner-video-control",
    uses: "device",
    properties: { action },
    message: async (sim) => {
      sim.newer.setMode("video-only");
      return { transactionReference: "ORDER-1" };
    },
    acts: true,
    path: `/api/v1/video/${action}`,
    owns: ["video", ...(action === "start" ? ["transactionReference"] : [])],
    ...(action === "start" ? { query: ["customReference2", "CustomReference2"] as const } : {}),
  })),
  {
    type: "dimensioner-fetch-video",
    uses: "device",
    properties: { wait: 5 },
    message: recordLocally,
    acts: false,
    path: "/api/v1/video/download",
    owns: fetched,
  },
  ...(["start", "stop", "cancel", "measure"] as const).map((action): ActionNode => ({
    type: "dimensioner-remote-trigger",
    uses: "cloud",
    properties: { action, deviceReference },
    message: async (sim) => {
      sim.newer.setMode(action === "measure" ? "measurement-only" : "video-only");
      return { transactionReference: "ORDER-1" };
    },
    acts: true,
    path: `/api/remotetrigger/${action === "measure" ? "measure" : `${action}recording`}`,
    owns:
      action === "measure" ? measured : ["video", ...(action === "start" ? ["transactionReference"] : [])],
    required: "deviceReference",
    ...(action === "start" ? { query: ["cRef3", "cRef3"] as const } : {}),
  })),
  {
    type: "dimensioner-media-list",
    uses: "cloud",
    properties: {},
    message: async (sim) => storeMedia(sim),
    acts: false,
    path: "/api/transactionmedia/905865",
    owns: ["payload"],
    required: "transactionId",
    query: ["contentType", "contentType"],
  },
  {
    type: "dimensioner-fetch-media",
    uses: "cloud",
    properties: {},
    message: async (sim) => storeMedia(sim),
    acts: false,
    path: "/api/transactionmedia/905865/",
    owns: fetched,
    required: "contentId",
  },
  {
    type: "dimensioner-device-list",
    uses: "cloud",
    properties: {},
    message: async () => ({}),
    acts: false,
    path: "/api/deviceclients",
    owns: ["payload", "clockAhead"],
  },
];

/** How a case is called in a test's title. */
export function titleOf({ type, properties }: ActionNode): string {
  const action = properties["action"];
  return typeof action === "string" ? `${type} (${action})` : type;
}
