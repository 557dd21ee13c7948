import { chartOf, cloud, dashboard, devices, pageNodes, store, templateOf } from "../dashboard/nodes.ts";
import { FlowBuilder } from "../dashboard/flow-builder.ts";
import * as properties from "./node-properties.ts";

const flow = new FlowBuilder("packing station", "station");

const tab = {
  id: flow.tab,
  type: "tab",
  label: "30 Packing station",
  disabled: false,
  info: "The packer's screen with Dashboard 2: one page for each station, from the scan to the evidence.",
  env: [
    {
      name: "STATIONS",
      value: JSON.stringify({
        "dock-1": { device: "Dock 1", video: true, cloud: "Dimensioner cloud" },
        "dock-2": { device: "Dock 2", video: false },
      }),
      type: "json",
    },
    { name: "LANGUAGE", value: "en", type: "str" },
    { name: "SIGN_IN", value: "true", type: "bool" },
    { name: "BADGE", value: "^OP-(.+)$", type: "str" },
    { name: "BADGE_EXAMPLE", value: "OP-ANNA", type: "str" },
    { name: "ASK_IF_PACKED", value: "true", type: "bool" },
    { name: "ASK", value: "", type: "str" },
    { name: "ASK_WITHIN", value: "3", type: "num" },
    { name: "READ_ALOUD", value: "false", type: "bool" },
    { name: "IGNORE_REPEATS", value: "1.5", type: "num" },
    { name: "FORGOTTEN_AFTER", value: "900", type: "num" },
    { name: "ANSWER_WITHIN", value: "70", type: "num" },
  ],
};

const page = { name: "Packing", path: "packing", icon: "package-variant-closed", order: 1 };
const screen = templateOf(flow.idOf("group Screen"), flow.page("screen"), false);
const chartColors = ["#1f7ad1", "#d62839", "#ff7f0e", "#2ca02c", "#a347e1"];
const chart = chartOf(flow.idOf("group Shift"), "hour", chartColors);
const commands = ["Start or discard the video", "Measure the parcel"] as const;
/** How many links lead to a place where a wire would run across the canvas. */
const links = {
  "To the screens": 1,
  "To the station": 10,
  "To what follows": 1,
  "To the evidence": 1,
  "To the archive": 1,
  "To your system": 1,
  "To the labels": 1,
  "To the pictures": 1,
} as const;

/** What the example knows of some parcels, in place of a system that knows all of them. */
const orders = {
  "ORDER-4711": { note: "A gift: no invoice in the box", color: "gold" },
  "ORDER-4713": { stop: "cancelled and refunded: do not pack" },
};
const lookUp = [
  { t: "set", p: "orders", pt: "msg", to: JSON.stringify(orders, null, 2), tot: "json" },
  { t: "set", p: "payload", pt: "msg", to: "$lookup(orders, transactionReference)", tot: "jsonata" },
  { t: "delete", p: "orders", pt: "msg" },
];

const forArchive = [
  { t: "delete", p: "error", pt: "msg" },
  { t: "set", p: "video", pt: "msg", to: "videoTaken ? null : video", tot: "jsonata" },
];

const httpIn = (name: string, y: number, url: string, to: string) =>
  flow.node("http in", name, [130, y], { url, method: "get", upload: false, swaggerDoc: "" }, [to]);

const linkIn = (to: keyof typeof links, at: readonly [number, number], target: readonly string[]) =>
  flow.linkIn(to, links[to], at, target);

/** From the screen to the commands and back. */
function packing() {
  return [
    linkIn("To the screens", [55, 140], ["The packer's screen"]),
    flow.node("ui-template", "The packer's screen", [190, 140], screen, ["From the page"]),
    flow.functionNode(
      "From the page",
      [390, 140],
      "page-sends.ts",
      {},
      ["Read the code"],
      ["To the station 1"],
    ),
    flow.node(
      "dimensioner-scan",
      "Read the code",
      [580, 120],
      properties.scan,
      ["To the station 1"],
      ["To the station 1"],
    ),
    flow.linkOut("To the station", 1, [735, 180]),
    flow.repeatNode("Every second", [140, 240], "tick", 1, "Station"),
    linkIn("To the station", [95, 290], ["Station"]),
    flow.catchNode("A command failed", [150, 340], ["Read the code", ...commands], "Station"),
    flow.node("status", "Devices", [120, 400], { scope: null }, ["Their state"]),
    flow.topicNode("Their state", [300, 400], "status", "Station"),
    flow.functionNode(
      "Station",
      [500, 270],
      "station.ts",
      {
        initialize: flow.code("station-start.ts"),
        libs: ["crypto", "perf_hooks"].map((module) => ({ var: module, module })),
      },
      ["To the screens 1"],
      [commands[0]],
      [commands[1]],
      ["Parcel is done"],
      ["Parcels and failures"],
      ["To the evidence 1"],
      ["To the archive 1"],
      ["To your system 1"],
      ["To the labels 1"],
      ["To the pictures 1"],
    ),
    flow.linkOut("To the screens", 1, [655, 200]),
    flow.node("dimensioner-video-control", commands[0], [820, 222], properties.video, ["To the station 2"]),
    flow.node("dimensioner-measure", commands[1], [800, 278], properties.measure, [
      "To the station 2",
      "To what follows 1",
    ]),
    flow.node("debug", "Parcel is done", [780, 335], properties.done),
    flow.node("ui-chart", "Parcels and failures", [832, 391], chart, []),
    flow.linkOut("To the evidence", 1, [655, 384]),
    flow.linkOut("To the archive", 1, [655, 415]),
    flow.linkOut("To your system", 1, [655, 446]),
    flow.linkOut("To the labels", 1, [655, 477]),
    flow.linkOut("To the pictures", 1, [655, 508]),
    flow.linkOut("To the station", 2, [1035, 222]),
    flow.linkOut("To what follows", 1, [1035, 300]),
  ];
}

/** What follows a measurement: the picture, the billable weight and the evidence. */
function following() {
  return [
    linkIn("To what follows", [55, 580], ["Fetch the picture", "Billable weight"]),
    linkIn("To the pictures", [55, 480], ["Read the picture"]),
    flow.node("file in", "Read the picture", [230, 480], properties.file, ["Keep the picture"]),
    linkIn("To the evidence", [55, 720], ["Billable weight"]),
    flow.node("dimensioner-fetch-image", "Fetch the picture", [230, 540], properties.image, [
      "Keep the picture",
    ]),
    flow.functionNode("Keep the picture", [460, 540], "pictures.ts", {}, ["A picture"]),
    flow.catchNode("No picture", [440, 600], ["Fetch the picture", "Read the picture"], "A picture"),
    flow.topicNode("A picture", [660, 540], "picture", "To the station 3"),
    flow.linkOut("To the station", 3, [815, 540]),
    flow.node("dimensioner-billable-weight", "Billable weight", [220, 680], properties.billing, [
      "A billable weight",
    ]),
    flow.catchNode("Not billable", [210, 760], ["Billable weight"], "A billable weight"),
    flow.topicNode("A billable weight", [450, 680], "billed", "To the station 4", "In any case"),
    // A parcel that cannot be billed is archived as well, and what follows is not an error.
    flow.setNode("In any case", [480, 740], forArchive, "Archive the evidence"),
    flow.linkOut("To the station", 4, [615, 640]),
    flow.node(
      "dimensioner-archive",
      "Archive the evidence",
      [700, 720],
      properties.archive,
      ["Evidence is saved"],
      ["It is late"],
    ),
    flow.catchNode("Not archived", [730, 640], ["Archive the evidence"], "Evidence is saved"),
    flow.topicNode("Evidence is saved", [950, 680], "archived", "To the station 5"),
    flow.topicNode("It is late", [930, 760], "late", "To the station 5"),
    flow.linkOut("To the station", 5, [1115, 720]),
    flow.node("dimensioner-transaction-in", "The cloud reports", [140, 840], properties.webhook, [
      "A record",
    ]),
    flow.topicNode("A record", [330, 840], "record", "To the station 6"),
    flow.linkOut("To the station", 6, [455, 840]),
    flow.repeatNode("Every 30 seconds", [610, 840], "cloud", 30, "Each cloud"),
    flow.functionNode("Each cloud", [790, 840], "clouds.ts", {}, ["Ask the cloud"]),
    flow.node("dimensioner-device-list", "Ask the cloud", [960, 840], properties.cloud, ["To the station 7"]),
    flow.catchNode("No answer", [960, 910], ["Ask the cloud"], "To the station 7"),
    flow.linkOut("To the station", 7, [1115, 840]),
  ];
}

/** What is asked before a parcel is begun, and what is added to its evidence later. */
function asked() {
  const [archive, system, labels] = ["Was it packed?", "Your system", "Add the label"] as const;
  return [
    linkIn("To the archive", [55, 1000], [archive]),
    flow.node("dimensioner-evidence", archive, [240, 1000], properties.find, ["The archive says"]),
    flow.catchNode("The archive is away", [250, 1060], [archive], "The archive says"),
    flow.topicNode("The archive says", [480, 1000], "packed", "To the station 8"),
    flow.linkOut("To the station", 8, [635, 1000]),
    linkIn("To your system", [55, 1120], [system]),
    flow.node("link call", system, [230, 1120], properties.call, ["Your system says"]),
    flow.catchNode("Your system is away", [250, 1180], [system], "Your system says"),
    flow.topicNode("Your system says", [480, 1120], "said", "To the station 9"),
    flow.linkOut("To the station", 9, [635, 1120]),
    flow.node("link in", "Your orders", [750, 1120], { links: [] }, ["A table of orders"]),
    flow.setNode("A table of orders", [890, 1120], lookUp, "The answer"),
    flow.node("link out", "The answer", [1035, 1120], { mode: "return", links: [] }),
    linkIn("To the labels", [55, 1240], [labels]),
    flow.node("dimensioner-evidence", labels, [230, 1240], properties.name, ["A label"]),
    flow.catchNode("Not added", [220, 1300], [labels], "A label"),
    flow.topicNode("A label", [450, 1240], "named", "To the station 10"),
    flow.linkOut("To the station", 10, [635, 1240]),
  ];
}

/** The pictures that the page shows, by HTTP. */
function served() {
  return [
    httpIn("A picture by its ID", 920, "/station/picture/:id", "Answer with the picture"),
    flow.functionNode("Answer with the picture", [410, 920], "picture-answer.ts", {}, ["Picture"]),
    flow.node("http response", "Picture", [640, 920], { statusCode: "", headers: {} }),
  ];
}

/** The nodes of the example “30 packing station”: their code and page are the files beside this one. */
export const packingStation = [
  tab,
  ...devices,
  cloud,
  store,
  ...dashboard,
  ...pageNodes(flow, page, [
    { name: "Screen", bare: true },
    { name: "Shift", bare: false },
  ]),
  flow.node("comment", "Read me first: what to change here", [190, 40], { info: flow.comment() }),
  flow.startNode("All texts", [480, 40], "texts.ts"),
  ...packing(),
  ...following(),
  ...served(),
  ...asked(),
];
