import { wait, fileName, oneOf } from "../../src/editor/checks.ts";
import { configRows } from "../../src/editor/config-row.ts";
import { config, folder, messageProperty, plain, typed } from "../../src/editor/fields.ts";
import { openForm, settingsOf } from "../../src/editor/form.ts";
import { needsNewer } from "../../src/editor/generation.ts";
import { actAt, labelStyle, targetOf } from "../../src/editor/labels.ts";
import { outputGroup, outputLabel } from "../../src/editor/output-group.ts";
import { explainProblems } from "../../src/editor/problems.ts";
import { textsOf } from "../../src/editor/texts.ts";
import { savedVersion } from "../../src/editor/version.ts";
import { defaults, type FetchVideoProperties } from "./fetch-video.shared.ts";

const texts = textsOf("dimensioner-fetch-video");

RED.nodes.registerType<FetchVideoProperties>("dimensioner-fetch-video", {
  category: "dimensioner",
  color: "#86c5be",
  defaults: {
    version: savedVersion("dimensioner-fetch-video", defaults),
    name: { value: defaults.name },
    device: config(defaults, "device", "dimensioner-device", "deviceFrom", needsNewer),
    deviceFrom: messageProperty(defaults, "deviceFrom"),
    method: plain(defaults, "method", { check: oneOf(["download", "stream"]), texts }),
    wait: plain(defaults, "wait", { check: wait, texts }),
    output: plain(defaults, "output", { check: oneOf(["buffer", "file"]) }),
    folder: folder(defaults, "folder"),
    folderType: { value: defaults.folderType },
    filename: typed(defaults, "filename", { check: fileName, matters: (now) => now("output") === "file" }),
    filenameType: { value: defaults.filenameType },
    ifExists: plain(defaults, "ifExists", { check: oneOf(["rename", "replace", "error"]) }),
  },
  inputs: 1,
  outputs: 1,
  icon: "dimensioner-video.svg",
  paletteLabel: () => texts("palette"),
  label() {
    const { name, device, deviceFrom } = settingsOf(this, defaults);
    return name || actAt(texts("palette"), targetOf(device, deviceFrom));
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
    configRows(form, "device", "deviceFrom");
    outputGroup(form, defaults);
    explainProblems(this, form);
  },
});
