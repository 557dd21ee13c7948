import assert from "node:assert/strict";
import { archivesWithoutVideo, type ExportedNode } from "../../src/rules/started-videos.ts";

const node = (id: string, type: string, wires: string[], more: object = {}): ExportedNode => ({
  id,
  type,
  z: "tab",
  wires: [wires],
  ...more,
});
const start = (wires: string[], more: object = {}): ExportedNode =>
  node("start", "dimensioner-video-control", wires, { device: "dock", action: "start", ...more });
const measure = (wires: string[], more: object = {}): ExportedNode =>
  node("measure", "dimensioner-measure", wires, { device: "dock", ...more });
const archive = (more: object = {}, id = "archive"): ExportedNode =>
  node(id, "dimensioner-archive", [], {
    cloud: "",
    cloudFrom: "",
    media: "all",
    deviceVideo: false,
    ...more,
  });
const tab = { id: "tab", type: "tab" };

describe("editor: the archive nodes behind a video that nobody collects", () => {
  const remote = (id: string, action: string, wires: string[], more: object = {}): ExportedNode =>
    node(id, "dimensioner-remote-trigger", wires, {
      action,
      cloud: "cloud",
      deviceReference: "ABCD2345",
      deviceReferenceType: "str",
      ...more,
    });

  /** A subflow that measures, and one around it. */
  const subflows: readonly ExportedNode[] = [
    {
      id: "inner",
      type: "subflow",
      in: [{ wires: [{ id: "measure" }] }],
      out: [{ wires: [] }, { wires: [{ id: "measure", port: 0 }] }],
    },
    measure([], { z: "inner" }),
    {
      id: "outer",
      type: "subflow",
      in: [{ wires: [{ id: "instance" }] }],
      out: [{ wires: [{ id: "instance", port: 1 }] }],
    },
    { id: "instance", type: "subflow:inner", z: "outer", wires: [[], []] },
  ];

  const found: Record<string, readonly ExportedNode[]> = {
    "by wires": [start(["measure"]), measure(["archive"]), archive()],
    "by any other node and a junction": [
      start(["function"]),
      node("function", "function", ["junction"]),
      node("junction", "junction", ["archive"]),
      archive(),
    ],
    "in a circle": [
      start(["a"]),
      node("a", "delay", ["b"]),
      node("b", "switch", ["a", "archive"]),
      archive(),
    ],
    "by the device, where another message measures": [start([]), measure(["archive"]), archive()],
    "by the code of a device in the cloud": [
      remote("start", "start", []),
      remote("measure", "measure", ["archive"], { deviceReference: "abcd2345" }),
      archive(),
    ],
    "by link nodes": [
      start(["out"]),
      node("out", "link out", [], { mode: "link", links: ["in"] }),
      node("in", "link in", ["archive"], { z: "second", links: ["out"] }),
      { id: "second", type: "tab" },
      archive({ z: "second" }),
    ],
    "by a link call that returns": [
      start(["call"]),
      node("call", "link call", ["archive"], { links: ["in"], linkType: "static" }),
      node("in", "link in", ["measure"]),
      measure(["back"]),
      node("back", "link out", [], { mode: "return" }),
      archive(),
    ],
    "through subflows": [
      ...subflows,
      start(["sub"], { device: "" }),
      { id: "sub", type: "subflow:outer", z: "tab", wires: [["archive"]] },
      archive(),
    ],
    "out of a subflow": [
      { id: "inner", type: "subflow", in: [], out: [{ wires: [{ id: "start", port: 0 }] }] },
      start([], { z: "inner" }),
      { id: "sub", type: "subflow:inner", z: "tab", wires: [["archive"]] },
      archive(),
    ],
    "into a subflow": [
      { id: "inner", type: "subflow", in: [{ wires: [{ id: "archive" }] }], out: [] },
      start(["sub"]),
      { id: "sub", type: "subflow:inner", z: "tab", wires: [] },
      archive({ z: "inner" }),
    ],
    "through a subflow that is a wire alone": [
      { id: "inner", type: "subflow", in: [{ wires: [] }], out: [{ wires: [{ id: "inner", port: 0 }] }] },
      start(["sub"]),
      { id: "sub", type: "subflow:inner", z: "tab", wires: [["archive"]] },
      archive(),
    ],
    "where another flow archives with a cloud what the same device measures": [
      start(["measure"]),
      measure(["archive"]),
      archive(),
      measure(["other"], { id: "measure-2" }),
      archive({ cloud: "cloud" }, "other"),
    ],
    "with the video of the device, where nothing stops a recording": [
      start(["measure"]),
      measure(["archive"]),
      archive({ deviceVideo: true }),
    ],
    "with the defaults of an imported flow": [
      node("start", "dimensioner-video-control", ["archive"]),
      node("archive", "dimensioner-archive", []),
    ],
  };
  for (const [how, nodes] of Object.entries(found)) {
    it(`are found ${how}`, () => {
      assert.deepEqual([...archivesWithoutVideo([tab, ...nodes])], ["archive"]);
    });
  }

  it("are all found where there are several", () => {
    const nodes = [tab, start(["archive", "second"]), archive(), archive({}, "second")];
    assert.deepEqual([...archivesWithoutVideo(nodes)].toSorted(), ["archive", "second"]);
  });

  const none: Record<string, readonly ExportedNode[]> = {
    "without a start": [start(["archive"], { action: "stop" }), archive()],
    "where the message says which command it is": [start(["archive"], { action: "msg" }), archive()],
    "where the start is disabled": [start(["archive"], { d: true }), archive()],
    "where its tab is disabled": [
      start(["out"], { z: "off" }),
      node("out", "link out", [], { z: "off", links: ["in"] }),
      node("in", "link in", ["archive"]),
      { id: "off", type: "tab", disabled: true },
      archive(),
    ],
    "with a cloud": [start(["archive"]), archive({ cloud: "cloud" })],
    "with a cloud by name": [start(["archive"]), archive({ cloudFrom: "site" })],
    "with the video of the device, which a stop leaves there": [
      start(["archive"]),
      start([], { id: "stop", action: "stop" }),
      archive({ deviceVideo: true }),
    ],
    "with what an environment variable and a message say": [
      start(["archive"]),
      start([], { id: "stop", action: "msg" }),
      archive({ deviceVideo: "${VIDEO}" }),
    ],
    "with another rule for media": [start(["archive"]), archive({ media: "pictures" })],
    "beside one with a cloud": [start(["archive", "other"]), archive(), archive({ cloud: "cloud" }, "other")],
    "where a node fetches the video": [
      start(["fetch", "archive"]),
      node("fetch", "dimensioner-fetch-video", ["archive"]),
      archive(),
    ],
    "behind another device": [start([]), measure(["archive"], { device: "other" }), archive()],
    "behind a device that the message names": [
      start([], { deviceFrom: "dock" }),
      measure(["archive"], { deviceFrom: "dock" }),
      archive(),
    ],
    "behind a link call that the message chooses": [
      start(["call"], { device: "" }),
      node("call", "link call", ["archive"], { linkType: "dynamic" }),
      archive(),
    ],
    "behind a link call that does not return": [
      start(["call"]),
      node("call", "link call", ["archive"], { links: ["in"] }),
      node("in", "link in", []),
      archive(),
    ],
    "behind another output of a subflow": [
      ...subflows,
      start(["sub"], { device: "" }),
      { id: "sub", type: "subflow:inner", z: "tab", wires: [["archive"], []] },
      archive(),
    ],
    "behind another instance of a subflow": [
      ...subflows,
      start(["sub"], { device: "" }),
      { id: "sub", type: "subflow:inner", z: "tab", wires: [[], []] },
      { id: "sub2", type: "subflow:inner", z: "tab", wires: [[], ["archive"]] },
      archive(),
    ],
  };
  for (const [how, nodes] of Object.entries(none)) {
    it(`are none ${how}`, () => {
      assert.deepEqual([...archivesWithoutVideo([tab, ...nodes])], []);
    });
  }

  it("are found in little time in a flow of 5,000 nodes", () => {
    const chain = Array.from({ length: 5_000 }, (_, index) =>
      node(`n${index}`, "function", [`n${index + 1}`, `n${index + 2}`, "archive"]),
    );
    const before = process.cpuUsage();
    assert.equal(archivesWithoutVideo([tab, start(["n0"]), ...chain, archive()]).size, 1);
    assert.ok(process.cpuUsage(before).user < 5_000_000);
  });
});
