import { wait, oneOf } from "../../src/editor/checks.ts";
import { configRows } from "../../src/editor/config-row.ts";
import { config, messageProperty, plain, typed } from "../../src/editor/fields.ts";
import { openForm, settingsOf } from "../../src/editor/form.ts";
import { actAt, labelStyle, targetOf } from "../../src/editor/labels.ts";
import { explainProblems } from "../../src/editor/problems.ts";
import { textsOf } from "../../src/editor/texts.ts";
import { savedVersion } from "../../src/editor/version.ts";
import { typedInput } from "../../src/editor/typed-input.ts";
import { defaults, type MediaListProperties } from "./media-list.shared.ts";

const texts = textsOf("dimensioner-media-list");

RED.nodes.registerType<MediaListProperties>("dimensioner-media-list", {
  category: "dimensioner",
  color: "#86b6d8",
  defaults: {
    version: savedVersion("dimensioner-media-list", defaults),
    name: { value: defaults.name },
    cloud: config(defaults, "cloud", "dimensioner-cloud", "cloudFrom"),
    cloudFrom: messageProperty(defaults, "cloudFrom"),
    transactionId: typed(defaults, "transactionId", { required: "transactionId", texts }),
    transactionIdType: { value: defaults.transactionIdType },
    contentType: typed(defaults, "contentType", { texts }),
    contentTypeType: { value: defaults.contentTypeType },
    emit: plain(defaults, "emit", { check: oneOf(["array", "split"]), texts }),
    expect: { value: defaults.expect },
    wait: plain(defaults, "wait", { check: wait, matters: (now) => now("expect").trim() !== "", texts }),
  },
  inputs: 1,
  outputs: 1,
  icon: "dimensioner-media-list.svg",
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
    typedInput(form, "transactionId", defaults.transactionIdType);
    typedInput(form, "contentType", defaults.contentTypeType);
    form.follow(["expect"], () => {
      form.show(["wait"], form.value("expect").trim() !== "");
    });
    explainProblems(this, form);
  },
});
