import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

type Properties = Readonly<Record<string, unknown>>;

const source = (file: string): string => readFileSync(join(import.meta.dirname, file), "utf8").trimEnd();
/** The same ID for the same node each time, in the form that Node-RED gives them. */
const idOf = (key: string): string =>
  createHash("sha256").update(`packing station: ${key}`).digest("hex").slice(0, 16);

const tab = idOf("tab");
/** The config nodes that all examples share. */
const shared = {
  device: "fa6eab4489fbc6c1",
  earlier: "08a1b1698a32c4f5",
  cloud: "15867a50c839d403",
  store: "5c1e0b7a94d2f610",
};

function node(
  type: string,
  name: string,
  [x, y]: readonly [number, number],
  properties: Properties,
  ...wires: readonly (readonly string[])[]
) {
  return {
    id: idOf(name),
    type,
    z: tab,
    name,
    ...properties,
    x,
    y,
    wires: wires.map((one) => one.map(idOf)),
  };
}

const functionShape = {
  func: "return msg;",
  outputs: 0,
  timeout: 0,
  noerr: 0,
  initialize: "",
  finalize: "",
  libs: [],
};

function functionNode(
  name: string,
  at: readonly [number, number],
  file: string,
  options: Properties,
  ...wires: readonly (readonly string[])[]
) {
  const properties = { ...functionShape, func: source(file), outputs: wires.length, ...options };
  return node("function", name, at, properties, ...wires);
}

/** Gives a message the topic by which the station knows it. */
function topicNode(name: string, at: readonly [number, number], topic: string, ...to: readonly string[]) {
  const rules = [{ t: "set", p: "topic", pt: "msg", to: topic, tot: "str" }];
  return node("change", name, at, { rules, action: "", property: "", from: "", to: "", reg: false }, to);
}

const blankReferences = {
  customReference1: "",
  customReference1Type: "str",
  customReference2: "",
  customReference2Type: "str",
  customReference3: "",
  customReference3Type: "str",
};
const command: Properties = {
  device: shared.device,
  deviceFrom: "dock",
  transactionReference: "transactionReference",
  transactionReferenceType: "msg",
  ifBlank: "error",
  ...blankReferences,
  ignoreRepeats: "0",
};

const archive = {
  store: shared.store,
  layout: "{date}/{reference}-{transactionId}",
  images: "annotated,color",
  cloud: "",
  cloudFrom: "cloud",
  transactionId: "transactionId",
  transactionIdType: "msg",
  contentType: "",
  contentTypeType: "str",
  media: "all",
  expect: "",
  expectType: "str",
  settle: "10",
  wait: "900",
  onIncomplete: "error",
  concurrency: "2",
  giveUp: "72",
  warnAfter: "300",
  keep: "station, parcel, job, cloud",
};

const configNodes = [
  {
    id: shared.device,
    type: "dimensioner-device",
    name: "Dock 1",
    address: "127.0.0.1:8101",
    generation: "newer",
    timeout: "30",
    checkInterval: "30",
    queueLimit: "10",
    maxWait: "30",
  },
  {
    id: shared.earlier,
    type: "dimensioner-device",
    name: "Dock 2",
    address: "127.0.0.1:8102",
    generation: "earlier",
    timeout: "30",
    checkInterval: "30",
    queueLimit: "10",
    maxWait: "30",
  },
  {
    id: shared.cloud,
    type: "dimensioner-cloud",
    name: "Dimensioner cloud",
    baseUrl: "http://127.0.0.1:8103",
    allowHttp: false,
    timeout: "60",
    checkInterval: "0",
    queueLimit: "10",
    maxWait: "30",
    tls: "",
    proxy: "",
    credentials: { token: "simulator" },
  },
  {
    id: shared.store,
    type: "dimensioner-store",
    name: "Evidence",
    folder: "DIMENSIONER_ARCHIVE",
    folderType: "env",
  },
];

const dashboardNodes = [
  {
    id: idOf("dashboard"),
    type: "ui-base",
    name: "Dashboard",
    path: "/dashboard",
    appIcon: "",
    includeClientData: true,
    acceptsClientConfig: ["ui-notification", "ui-control", "ui-template", "ui-chart"],
    showPathInSidebar: false,
    headerContent: "page",
    navigationStyle: "none",
    titleBarStyle: "hidden",
    showReconnectNotification: false,
    notificationDisplayTime: 1,
    showDisconnectNotification: false,
    allowInstall: false,
  },
  {
    id: idOf("theme"),
    type: "ui-theme",
    name: "Packing",
    colors: {
      surface: "#ffffff",
      primary: "#0b5cad",
      bgPage: "#eef1f5",
      groupBg: "#ffffff",
      groupOutline: "#c4ccd4",
    },
    sizes: {
      density: "default",
      pagePadding: "12px",
      groupGap: "12px",
      groupBorderRadius: "10px",
      widgetGap: "12px",
    },
  },
  {
    id: idOf("page"),
    type: "ui-page",
    name: "Packing",
    ui: idOf("dashboard"),
    path: "/packing",
    icon: "package-variant-closed",
    layout: "grid",
    theme: idOf("theme"),
    breakpoints: [{ name: "Default", px: "0", cols: "12" }],
    order: 1,
    className: "packing-page",
    visible: "true",
    disabled: "false",
  },
  ...["Screen", "Shift"].map((name, index) => ({
    id: idOf(`group ${name}`),
    type: "ui-group",
    name,
    page: idOf("page"),
    width: "12",
    height: "1",
    order: index + 1,
    showTitle: false,
    className: `packing-${name.toLowerCase()}`,
    visible: "true",
    disabled: "false",
    groupType: "default",
  })),
];

const chart = {
  group: idOf("group Shift"),
  label: "",
  order: 1,
  chartType: "bar",
  category: "series",
  categoryType: "property",
  xAxisLabel: "",
  xAxisProperty: "hour",
  xAxisPropertyType: "property",
  xAxisType: "category",
  xAxisFormat: "",
  xAxisFormatType: "auto",
  xmin: "",
  xmax: "",
  yAxisLabel: "",
  yAxisProperty: "count",
  yAxisPropertyType: "property",
  ymin: "0",
  ymax: "",
  bins: 10,
  action: "replace",
  stackSeries: false,
  pointShape: "circle",
  pointRadius: 4,
  showLegend: true,
  removeOlder: 1,
  removeOlderUnit: "3600",
  removeOlderPoints: "",
  colors: ["#1f7ad1", "#d62839", "#ff7f0e", "#2ca02c", "#a347e1", "#d62728", "#ff9896", "#9467bd", "#c5b0d5"],
  textColor: ["#7a8793"],
  textColorDefault: false,
  gridColor: ["#9aa5af"],
  gridColorDefault: false,
  width: "12",
  height: "4",
  className: "",
  interpolation: "linear",
};

const tabNode = {
  id: tab,
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
    { name: "IGNORE_REPEATS", value: "1.5", type: "num" },
    { name: "FORGOTTEN_AFTER", value: "900", type: "num" },
    { name: "ANSWER_WITHIN", value: "70", type: "num" },
  ],
};

const scan = {
  which: "auto",
  ai: "00",
  pattern: "",
  symbologies: "gs1,digitalLink,ean,other",
  invalid: "error",
  controls: "STATION_CANCEL, STATION_AGAIN, STATION_CONFIRM",
  dedupe: "0",
  framing: "message",
  gap: "100",
  separator: "",
};

const billing = {
  version: 1,
  preset: "dhl-express",
  unit: "cm-kg",
  divisor: "5000",
  sideRounding: "none",
  productRounding: "0.5",
  threshold: "0",
  minimum: "0",
  weight: "measured",
  weightValue: "weight",
  weightValueType: "msg",
  weightUnit: "kg",
  requireLegalForTrade: false,
  extras: "long: longest > 60 cm; heavy: weight > 31.5 kg",
};

const webhook = {
  path: "dimensioner/transaction",
  secretIn: "header",
  header: "x-webhook-secret",
  store: shared.store,
  onlyOk: false,
  deviceClientId: "",
  dedupe: "3600",
  queueLimit: "1000",
};

const screen = {
  group: idOf("group Screen"),
  page: "",
  ui: "",
  order: 1,
  width: "12",
  height: "1",
  head: "",
  format: source("screen.html"),
  storeOutMessages: false,
  passthru: false,
  resendOnRefresh: false,
  templateScope: "local",
  className: "",
};

const isScan = {
  property: "topic",
  propertyType: "msg",
  rules: [{ t: "eq", v: "scan", vt: "str" }, { t: "else" }],
  checkall: "false",
  repair: false,
  outputs: 2,
};

const everySecond = {
  props: [{ p: "topic", vt: "str" }],
  repeat: "1",
  crontab: "",
  once: false,
  onceDelay: 0.1,
  topic: "tick",
  payload: "",
  payloadType: "date",
};

const video = { ...command, action: "msg" };
/** It names the second device, so that the Status node hears of both. */
const measure = { ...command, device: shared.earlier, failures: "catch", tag: "customReference1" };

const done = {
  active: true,
  tosidebar: true,
  console: false,
  tostatus: true,
  complete: "transactionReference",
  targetType: "msg",
  statusVal: "topic",
  statusType: "msg",
};

const image = {
  device: shared.device,
  deviceFrom: "dock",
  image: "annotated",
  imageIdentifier: "imageIdentifier",
  imageIdentifierType: "msg",
  output: "buffer",
  folder: "",
  folderType: "str",
  filename: "",
  filenameType: "str",
  ifExists: "rename",
  preview: false,
};

const file = {
  filename: "filename",
  filenameType: "msg",
  format: "",
  chunk: false,
  sendError: false,
  encoding: "none",
  allProps: true,
};

const notFound = {
  rules: [
    { t: "set", p: "statusCode", pt: "msg", to: "404", tot: "num" },
    { t: "set", p: "payload", pt: "msg", to: "", tot: "str" },
  ],
  action: "",
  property: "",
  from: "",
  to: "",
  reg: false,
};

const commandNames = ["Start or discard the video", "Measure the parcel"] as const;
const catches = (...names: readonly string[]) => ({ scope: names.map(idOf), uncaught: false });

const httpIn = (name: string, y: number, url: string, to: string) =>
  node("http in", name, [130, y], { url, method: "get", upload: false, swaggerDoc: "" }, [to]);

/** Links instead of wires, where a wire would run across the canvas: by the name of what they lead to. */
const linkTargets = { "To the screens": 1, "To the station": 5, "To what follows": 1 } as const;
type LinkTarget = keyof typeof linkTargets;

function linkOut(to: LinkTarget, number: number, [x, y]: readonly [number, number]) {
  const id = idOf(`${to} ${number}`);
  return { id, type: "link out", z: tab, name: to, mode: "link", links: [idOf(to)], x, y, wires: [] };
}

function linkIn(to: LinkTarget, at: readonly [number, number], target: readonly string[]) {
  const links = Array.from({ length: linkTargets[to] }, (_, index) => idOf(`${to} ${index + 1}`));
  return node("link in", to, at, { links }, target);
}

/** The example “30 packing station”: its code, texts and page are the files beside this one. */
export function writePackingStation(): string {
  const nodes = [
    tabNode,
    ...configNodes,
    ...dashboardNodes,
    node("comment", "Read me first: what to change here", [190, 40], { info: source("comment.md") }),
    node("function", "All texts", [480, 40], { ...functionShape, initialize: source("texts.cjs") }),
    linkIn("To the screens", [55, 140], ["The packer's screen"]),
    node("ui-template", "The packer's screen", [190, 140], screen, ["Is it a scan?"]),
    node("switch", "Is it a scan?", [390, 140], isScan, ["Read the code"], ["To the station 1"]),
    node("dimensioner-scan", "Read the code", [580, 120], scan, ["To the station 1"], ["To the station 1"]),
    linkOut("To the station", 1, [735, 180]),
    node("inject", "Every second", [140, 240], everySecond, ["Station"]),
    linkIn("To the station", [95, 290], ["Station"]),
    node("catch", "A command failed", [150, 340], catches("Read the code", ...commandNames), ["Station"]),
    node("status", "Devices", [120, 400], { scope: null }, ["Their state"]),
    topicNode("Their state", [300, 400], "status", "Station"),
    functionNode(
      "Station",
      [500, 300],
      "station.cjs",
      { initialize: source("station-start.cjs") },
      ["To the screens 1"],
      [commandNames[0]],
      [commandNames[1]],
      ["Parcel is done"],
      ["Parcels and failures"],
    ),
    linkOut("To the screens", 1, [655, 220]),
    node("dimensioner-video-control", commandNames[0], [820, 260], video, ["To the station 2"]),
    node("dimensioner-measure", commandNames[1], [800, 330], measure, [
      "To the station 2",
      "To what follows 1",
    ]),
    node("debug", "Parcel is done", [780, 400], done),
    node("ui-chart", "Parcels and failures", [800, 470], chart, []),
    linkOut("To the station", 2, [1035, 260]),
    linkOut("To what follows", 1, [1035, 350]),
    linkIn("To what follows", [55, 580], ["Fetch the picture", "Billable weight"]),
    node("dimensioner-fetch-image", "Fetch the picture", [230, 540], image, ["Keep the picture"]),
    functionNode("Keep the picture", [460, 540], "pictures.cjs", {}, ["A picture"]),
    node("catch", "No picture", [440, 600], catches("Fetch the picture"), ["A picture"]),
    topicNode("A picture", [660, 540], "picture", "To the station 3"),
    linkOut("To the station", 3, [815, 540]),
    node("dimensioner-billable-weight", "Billable weight", [220, 680], billing, ["A billable weight"]),
    node("catch", "Not billable", [210, 760], catches("Billable weight"), ["A billable weight"]),
    topicNode("A billable weight", [450, 680], "billed", "To the station 4", "Archive the evidence"),
    linkOut("To the station", 4, [615, 640]),
    node(
      "dimensioner-archive",
      "Archive the evidence",
      [700, 720],
      archive,
      ["Evidence is saved"],
      ["It is late"],
    ),
    node("catch", "Not archived", [730, 640], catches("Archive the evidence"), ["Evidence is saved"]),
    topicNode("Evidence is saved", [950, 680], "archived", "To the station 5"),
    topicNode("It is late", [930, 760], "late", "To the station 5"),
    linkOut("To the station", 5, [1115, 720]),
    node("dimensioner-transaction-in", "The cloud reports", [140, 840], webhook, []),
    httpIn("A picture by its ID", 920, "/station/picture/:id", "Answer with the picture"),
    functionNode("Answer with the picture", [410, 920], "picture-answer.cjs", {}, ["Picture"]),
    node("http response", "Picture", [640, 920], { statusCode: "", headers: {} }),
    httpIn("Evidence of a parcel", 980, "/station/evidence/:id", "Answer with the evidence"),
    httpIn("File of the evidence", 1040, "/station/evidence/:id/:file", "Answer with the evidence"),
    functionNode(
      "Answer with the evidence",
      [410, 1010],
      "evidence-answer.cjs",
      {},
      ["Evidence"],
      ["Read the file"],
    ),
    node("file in", "Read the file", [650, 1040], file, ["Evidence"]),
    node("catch", "The file is gone", [650, 1100], catches("Read the file"), ["Not found"]),
    node("change", "Not found", [820, 1100], notFound, ["Evidence"]),
    node("http response", "Evidence", [1000, 1000], { statusCode: "", headers: {} }),
  ];
  return JSON.stringify(nodes);
}
