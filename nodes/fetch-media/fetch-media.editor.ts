import { fileName, oneOf } from "../../src/editor/checks.ts";
import { configRows } from "../../src/editor/config-row.ts";
import { config, folder, messageProperty, plain, typed } from "../../src/editor/fields.ts";
import { openForm, settingsOf } from "../../src/editor/form.ts";
import { actAt, labelStyle, targetOf } from "../../src/editor/labels.ts";
import { outputGroup, outputLabel } from "../../src/editor/output-group.ts";
import { explainProblems } from "../../src/editor/problems.ts";
import { textsOf } from "../../src/editor/texts.ts";
import { savedVersion } from "../../src/editor/version.ts";
import { typedInput } from "../../src/editor/typed-input.ts";
import { defaults, type FetchMediaProperties } from "./fetch-media.shared.ts";

const texts = textsOf("dimensioner-fetch-media");

RED.nodes.registerType<FetchMediaProperties>("dimensioner-fetch-media", {
  category: "dimensioner",
  color: "#86b6d8",
  defaults: {
    version: savedVersion("dimensioner-fetch-media", defaults),
    name: { value: defaults.name },
    cloud: config(defaults, "cloud", "dimensioner-cloud", "cloudFrom"),
    cloudFrom: messageProperty(defaults, "cloudFrom"),
    transactionId: typed(defaults, "transactionId", { required: "transactionId", texts }),
    transactionIdType: { value: defaults.transactionIdType },
    contentId: typed(defaults, "contentId", { required: "contentId", texts }),
    contentIdType: { value: defaults.contentIdType },
    output: plain(defaults, "output", { check: oneOf(["buffer", "file"]) }),
    folder: folder(defaults, "folder"),
    folderType: { value: defaults.folderType },
    filename: typed(defaults, "filename", { check: fileName, matters: (now) => now("output") === "file" }),
    filenameType: { value: defaults.filenameType },
    ifExists: plain(defaults, "ifExists", { check: oneOf(["rename", "replace", "error"]) }),
  },
  inputs: 1,
  outputs: 1,
  icon: "dimensioner-media.svg",
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
    return outputLabel(settingsOf(this, defaults).output);
  },
  oneditprepare() {
    const form = openForm(this);
    configRows(form, "cloud", "cloudFrom");
    typedInput(form, "transactionId", defaults.transactionIdType);
    typedInput(form, "contentId", defaults.contentIdType);
    outputGroup(form, defaults);
    explainProblems(this, form);
  },
});
