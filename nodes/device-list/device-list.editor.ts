import { wait, oneOf } from "../../src/editor/checks.ts";
import { configRows } from "../../src/editor/config-row.ts";
import { config, messageProperty, plain } from "../../src/editor/fields.ts";
import { openForm, settingsOf } from "../../src/editor/form.ts";
import { actAt, labelStyle, targetOf } from "../../src/editor/labels.ts";
import { explainProblems } from "../../src/editor/problems.ts";
import { textsOf } from "../../src/editor/texts.ts";
import { savedVersion } from "../../src/editor/version.ts";
import { defaults, type DeviceListProperties } from "./device-list.shared.ts";

const texts = textsOf("dimensioner-device-list");

RED.nodes.registerType<DeviceListProperties>("dimensioner-device-list", {
  category: "dimensioner",
  color: "#86b6d8",
  defaults: {
    version: savedVersion("dimensioner-device-list", defaults),
    name: { value: defaults.name },
    cloud: config(defaults, "cloud", "dimensioner-cloud", "cloudFrom"),
    cloudFrom: messageProperty(defaults, "cloudFrom"),
    emit: plain(defaults, "emit", { check: oneOf(["array", "split"]), texts }),
    changesOnly: { value: defaults.changesOnly },
    silentAfter: plain(defaults, "silentAfter", {
      check: wait,
      matters: (now) => now("changesOnly") === "true",
      texts,
    }),
  },
  inputs: 1,
  outputs: 1,
  icon: "dimensioner-device-list.svg",
  paletteLabel: () => texts("palette"),
  label() {
    const { name, cloud, cloudFrom } = settingsOf(this, defaults);
    return name || actAt(texts("palette"), targetOf(cloud, cloudFrom));
  },
  labelStyle() {
    return labelStyle(settingsOf(this, defaults).name);
  },
  inputLabels: () => texts("port.input"),
  outputLabels() {
    return texts(settingsOf(this, defaults).emit === "split" ? "port.item" : "port.list");
  },
  oneditprepare() {
    const form = openForm(this);
    configRows(form, "cloud", "cloudFrom");
    form.follow(["changesOnly"], () => {
      form.show(["silentAfter"], form.value("changesOnly") === "true");
    });
    explainProblems(this, form);
  },
});
