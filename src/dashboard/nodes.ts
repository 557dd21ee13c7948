import { FlowBuilder, type Source } from "./flow-builder.ts";

const ids = new FlowBuilder("packing station", "station");

/** The IDs of config nodes that examples share, so that a second import adds no second one. */
export const shared = {
  device: "fa6eab4489fbc6c1",
  earlier: "08a1b1698a32c4f5",
  cloud: "15867a50c839d403",
  store: "5c1e0b7a94d2f610",
  dashboard: ids.idOf("dashboard"),
  theme: ids.idOf("theme"),
};

const device = {
  type: "dimensioner-device",
  timeout: "30",
  checkInterval: "30",
  queueLimit: "10",
  maxWait: "30",
};

export const devices = [
  { id: shared.device, ...device, name: "Dock 1", address: "127.0.0.1:8101", generation: "newer" },
  { id: shared.earlier, ...device, name: "Dock 2", address: "127.0.0.1:8102", generation: "earlier" },
];

export const cloud = {
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
};

export const store = {
  id: shared.store,
  type: "dimensioner-store",
  name: "Evidence",
  folder: "dimensioner/packages",
  folderType: "str",
};

/** The dashboard of both examples, and its theme. */
export const dashboard = [
  {
    id: shared.dashboard,
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
    id: shared.theme,
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
];

/** A page of the dashboard and its groups, from top to bottom, each as wide as the page. */
export function pageNodes(
  flow: FlowBuilder,
  { name, path, icon, order }: { name: string; path: string; icon: string; order: number },
  groups: readonly { readonly name: string; readonly bare: boolean }[],
) {
  const page = {
    id: flow.idOf("page"),
    type: "ui-page",
    name,
    ui: shared.dashboard,
    path: `/${path}`,
    icon,
    layout: "grid",
    theme: shared.theme,
    breakpoints: [{ name: "Default", px: "0", cols: "12" }],
    order,
    className: `dimensioner-page ${path}-page`,
    visible: "true",
    disabled: "false",
  };
  const ofPage = groups.map(({ name: group, bare }, index) => ({
    id: flow.idOf(`group ${group}`),
    type: "ui-group",
    name: group,
    page: page.id,
    width: "12",
    height: "1",
    order: index + 1,
    showTitle: false,
    // A bare group has no frame of its own: its template draws what it needs.
    className: bare ? "bare-group" : `${path}-${group.toLowerCase()}`,
    visible: "true",
    disabled: "false",
    groupType: "default",
  }));
  return [page, ...ofPage];
}

/** A ui-template node that is as wide as its group. */
export function templateOf(group: string, format: Source, resendOnRefresh: boolean) {
  return {
    group,
    page: "",
    ui: "",
    order: 1,
    width: "12",
    height: "1",
    head: "",
    format,
    storeOutMessages: resendOnRefresh,
    passthru: false,
    resendOnRefresh,
    templateScope: "local",
    className: "",
  };
}

/** A bar chart of rows with the properties x, series and count, all of which come with each message. */
export function chartOf(group: string, x: string, colors: readonly string[]) {
  return {
    group,
    label: "",
    order: 1,
    chartType: "bar",
    category: "series",
    categoryType: "property",
    xAxisLabel: "",
    xAxisProperty: x,
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
    colors,
    textColor: ["#7a8793"],
    textColorDefault: false,
    gridColor: ["#9aa5af"],
    gridColorDefault: false,
    width: "12",
    height: "4",
    className: "",
    interpolation: "linear",
  };
}

/** A table that each message fills anew; the names of a row's properties are the headings. */
export function tableOf(group: string) {
  return {
    group,
    label: "",
    order: 1,
    width: "12",
    height: "0",
    maxrows: 10,
    passthru: false,
    autocols: true,
    showSearch: true,
    deselect: true,
    selectionType: "none",
    columns: [],
    mobileBreakpoint: "md",
    mobileBreakpointType: "defaults",
    action: "replace",
    className: "",
  };
}
