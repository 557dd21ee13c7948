import {
  chartOf,
  cloud,
  dashboard,
  pageNodes,
  shared,
  store,
  tableOf,
  templateOf,
} from "../dashboard/nodes.ts";
import { FlowBuilder } from "../dashboard/flow-builder.ts";

const flow = new FlowBuilder("supervisor", "supervisor");

const tab = {
  id: flow.tab,
  type: "tab",
  label: "31 Supervisor",
  disabled: false,
  info: "All packing stations on one page with Dashboard 2: docks, alarms, last parcels, open archive jobs and free space.",
  env: [
    { name: "LANGUAGE", value: "en", type: "str" },
    { name: "OLDEST_JOB", value: "30", type: "num" },
    { name: "FREE_SPACE", value: "10", type: "num" },
    { name: "SILENT_AFTER", value: "900", type: "num" },
    { name: "STOPPED_AFTER", value: "10", type: "num" },
    { name: "CLOCKS_APART", value: "60", type: "num" },
  ],
};

const page = { name: "Supervisor", path: "supervisor", icon: "monitor-dashboard", order: 2 };
const groups = [
  { name: "Overview", bare: true },
  { name: "Parcels", bare: false },
  { name: "Charts", bare: false },
];
const [overviewGroup = "", parcelsGroup = "", chartsGroup = ""] = groups.map(({ name }) =>
  flow.idOf(`group ${name}`),
);
const overview = templateOf(overviewGroup, flow.page("page"), true);
const colors = ["#1f7ad1", "#d4750c", "#2ca02c", "#a347e1", "#0f9aa8", "#c2477f", "#7a6a00", "#5b6b7a"];
// The page gives both charts their titles in its language.
const bars = { ...chartOf(chartsGroup, "hour", colors), label: "Parcels by hour and dock" };
const line = {
  ...chartOf(chartsGroup, "", colors),
  label: "Open archive jobs, the last 12 hours",
  order: 2,
  chartType: "line",
  category: "topic",
  categoryType: "msg",
  xAxisPropertyType: "timestamp",
  xAxisType: "time",
  yAxisProperty: "payload",
  yAxisPropertyType: "msg",
  action: "append",
  removeOlder: 12,
  showLegend: false,
};

const state = {
  version: 1,
  store: shared.store,
  action: "state",
  by: "all",
  value: "payload",
  valueType: "msg",
  limit: 100,
  emit: "array",
};
const devices = {
  cloud: shared.cloud,
  cloudFrom: "",
  emit: "array",
  changesOnly: false,
  silentAfter: "${SILENT_AFTER}",
};
const alarm = {
  active: true,
  tosidebar: true,
  console: false,
  tostatus: false,
  complete: "payload",
  targetType: "msg",
  statusVal: "",
  statusType: "auto",
};
const asks = ["State of the store", "Devices of the cloud"] as const;

/** The nodes of the example “31 supervisor”: their code and page are the files beside this one. */
export const supervisor = [
  tab,
  cloud,
  store,
  ...dashboard,
  ...pageNodes(flow, page, groups),
  flow.node("comment", "Read me first: what to change here", [190, 40], { info: flow.comment() }),
  flow.startNode("All texts", [480, 40], "texts.ts"),
  flow.repeatNode("Every 2 seconds", [380, 100], "tick", 2, "Supervisor"),
  flow.repeatNode("Every 10 seconds", [150, 180], "store", 10, asks[0]),
  flow.node("dimensioner-evidence", asks[0], [370, 180], state, ["Supervisor"]),
  flow.catchNode("No state", [400, 240], [asks[0]], "Supervisor"),
  flow.repeatNode("Once a minute", [140, 320], "fleet", 60, asks[1]),
  flow.node("dimensioner-device-list", asks[1], [360, 320], devices, ["Supervisor"]),
  flow.catchNode("No list", [400, 380], [asks[1]], "Supervisor"),
  flow.linkIn("To the page", 1, [95, 460], ["Overview"]),
  flow.node("ui-template", "Overview", [220, 460], overview, ["From the page"]),
  flow.functionNode("From the page", [420, 460], "page-sends.ts", {}, ["Supervisor"]),
  flow.functionNode(
    "Supervisor",
    [640, 260],
    "supervisor.ts",
    { initialize: flow.code("supervisor-start.ts") },
    ["To the page 1"],
    ["Alarm"],
    ["Last parcels"],
    ["Parcels by hour"],
    ["Open jobs"],
  ),
  flow.linkOut("To the page", 1, [865, 140]),
  flow.node("debug", "Alarm", [910, 200], alarm),
  flow.node("ui-table", "Last parcels", [930, 260], tableOf(parcelsGroup), []),
  flow.node("ui-chart", "Parcels by hour", [940, 320], bars, []),
  flow.node("ui-chart", "Open jobs", [920, 380], line, []),
];
