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

/** A table that each message fills anew, with these columns: the property of a row, and its title. */
export function tableOf(group: string, columns: Readonly<Record<string, string>>) {
  return {
    group,
    label: "",
    order: 1,
    width: "12",
    height: "0",
    maxrows: 10,
    passthru: false,
    autocols: false,
    showSearch: true,
    deselect: true,
    selectionType: "none",
    columns: Object.entries(columns).map(([key, title]) => ({
      title,
      key,
      keyType: "key",
      type: "text",
      width: "",
      align: "start",
    })),
    mobileBreakpoint: "sm",
    mobileBreakpointType: "defaults",
    action: "replace",
    className: "",
  };
}
