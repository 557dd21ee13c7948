import { chooseOnly, formFields, openForm, settingsOf } from "../../src/editor/form.ts";
import { actAt, labelStyle, targetOf } from "../../src/editor/labels.ts";
import { textsOf } from "../../src/editor/texts.ts";
import { defaults, properties, type ArchiveProperties } from "./archive.shared.ts";

const type = "dimensioner-archive";
const fields = formFields(type, properties);
const texts = textsOf(type);

RED.nodes.registerType<ArchiveProperties>("dimensioner-archive", {
  category: "dimensioner",
  color: "#86b6d8",
  defaults: editorDefaults(fields),
  inputs: 1,
  outputs: 1,
  icon: "dimensioner-archive.svg",
  paletteLabel: () => texts("palette"),
  label() {
    const { name, source, cloud, cloudFrom } = settingsOf(this, defaults);
    return name || actAt(texts("palette"), source === "message" ? "" : targetOf(cloud, cloudFrom));
  },
  labelStyle() {
    return labelStyle(settingsOf(this, defaults).name);
  },
  inputLabels: () => texts("port.input"),
  outputLabels: () => texts("port.package"),
  onadd() {
    chooseOnly(this, fields);
  },
  oneditprepare() {
    openForm(this, fields);
  },
});
