import type { FlowNode, Message } from "../support/flow.ts";
import { storeNode } from "../support/store-node.ts";
import type { Places } from "./places.ts";

/** One action node under load. */
export interface Case {
  readonly node: FlowNode;
  /** Its share of a hundred messages. */
  readonly share: number;
  /** A message that succeeds. */
  readonly good: () => Message;
  /** Changes the message into one that meets a fault. */
  readonly bad: Message;
}

const deviceReference = "ABCD2345";

/** Not the id itself, which Node-RED would treat as a reference to the node. */
const nameOf = (id: string): string => `The ${id}`;

/** The config nodes, named after what they lead to; those named "faulty" lead to faults only. */
export function configNodes(places: Places): FlowNode[] {
  // Every message of the run may wait at the same time, for any time.
  const patient = { queueLimit: 100_000, maxWait: 0 };
  const device = (id: string, address: string, timeout: number): FlowNode => ({
    id,
    type: "dimensioner-device",
    name: nameOf(id),
    address,
    timeout,
    ...patient,
  });
  const cloud = (id: string, baseUrl: string, timeout: number): FlowNode => ({
    id,
    type: "dimensioner-cloud",
    name: nameOf(id),
    baseUrl,
    timeout,
    ...patient,
  });
  return [
    device("dock", places.device, 30),
    device("video-device", places.videoDevice, 30),
    device("device-with-video", places.deviceWithVideo, 30),
    device("device-with-image", places.deviceWithImage, 30),
    cloud("cloud", places.cloud, 30),
    cloud("video-cloud", places.videoCloud, 30),
    device("silent", places.silent, 30),
    device("faulty", places.faulty, 0.05),
    cloud("faulty-cloud", places.faulty, 0.05),
    storeNode(places.archive, "store"),
  ];
}

/** The credentials of the clouds. */
export function credentialsOf({ token }: Places): object {
  return Object.fromEntries(["cloud", "video-cloud", "faulty-cloud"].map((id) => [id, { token }]));
}

/** Every action node with every action, and what it needs to succeed. */
export function casesOf(places: Places): Case[] {
  const { imageIdentifier, transactionId, smallId, files } = places;
  const byDevice = { deviceFrom: "dockName" };
  const byCloud = { cloudFrom: "cloudName" };
  const noDevice = { dockName: nameOf("faulty") };
  const noCloud = { cloudName: nameOf("faulty-cloud") };
  const toFile = { output: "file", folder: files };
  let count = 0;
  const place = (type: string): FlowNode => ({
    id: `case-${count++}`,
    z: "tab",
    type: `dimensioner-${type}`,
  });
  const reference = (): Message => ({ transactionReference: "ORDER-1" });
  const image = (): Message => ({ imageIdentifier });
  const media = (): Message => ({ transactionId, payload: { contentId: smallId } });
  return [
    { node: { ...place("measure"), device: "dock", ...byDevice }, share: 12, good: reference, bad: noDevice },
    ...["start", "stop", "cancel"].map((action) => ({
      node: { ...place("video-control"), device: "video-device", action, ...byDevice },
      share: 6,
      good: reference,
      bad: noDevice,
    })),
    ...["start", "stop", "cancel"].map((action) => ({
      node: { ...place("remote-trigger"), cloud: "video-cloud", action, deviceReference, ...byCloud },
      share: 6,
      good: reference,
      bad: noCloud,
    })),
    {
      node: { ...place("remote-trigger"), cloud: "cloud", action: "measure", deviceReference, ...byCloud },
      share: 6,
      good: reference,
      bad: noCloud,
    },
    {
      node: { ...place("fetch-image"), device: "device-with-image", preview: true, ...byDevice },
      share: 6,
      good: image,
      bad: noDevice,
    },
    {
      node: { ...place("fetch-image"), device: "device-with-image", ...toFile, ...byDevice },
      share: 2,
      good: image,
      bad: noDevice,
    },
    {
      node: { ...place("fetch-video"), device: "device-with-video", wait: 0, ...byDevice },
      share: 6,
      good: reference,
      bad: noDevice,
    },
    { node: { ...place("media-list"), cloud: "cloud", ...byCloud }, share: 8, good: media, bad: noCloud },
    {
      node: { ...place("media-list"), cloud: "cloud", emit: "split", ...byCloud },
      share: 6,
      good: media,
      bad: noCloud,
    },
    { node: { ...place("fetch-media"), cloud: "cloud", ...byCloud }, share: 8, good: media, bad: noCloud },
    {
      node: { ...place("fetch-media"), cloud: "cloud", ...toFile, ...byCloud },
      share: 2,
      good: media,
      bad: noCloud,
    },
    {
      node: { ...place("device-list"), cloud: "cloud", changesOnly: true, ...byCloud },
      share: 6,
      good: reference,
      bad: noCloud,
    },
    {
      node: { ...place("archive"), cloud: "cloud", store: "store", wait: 0, layout: "{transactionId}" },
      share: 2,
      good: () => ({ transactionId }),
      bad: { transactionId: "nobody-knows" },
    },
  ];
}
