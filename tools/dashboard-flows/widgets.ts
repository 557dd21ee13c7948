/** A ui-template node that is as wide as its group. */
export function templateOf(group: string, format: string, resendOnRefresh: boolean) {
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
