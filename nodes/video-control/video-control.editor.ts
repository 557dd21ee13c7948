import { chooseOnly } from "../../src/editor/fields.ts";
import { formFields, openForm, settingsOf } from "../../src/editor/form.ts";
import { actAt, labelStyle, shared, targetOf, textsOf } from "../../src/editor/texts.ts";
import { defaults, properties, type VideoControlProperties } from "./video-control.shared.ts";

const type = "dimensioner-video-control";
const fields = formFields(type, properties);
const texts = textsOf(type);

RED.nodes.registerType<VideoControlProperties>("dimensioner-video-control", {
  category: "dimensioner",
  color: "#86c5be",
  defaults: editorDefaults(fields),
  inputs: 1,
  outputs: 1,
  icon: "dimensioner-video-control.svg",
  paletteLabel: () => texts("palette"),
  label() {
    const { name, action, device, deviceFrom } = settingsOf(this, defaults);
    return name || actAt(shared(`act.${action}`), targetOf(device, deviceFrom));
  },
  labelStyle() {
    return labelStyle(settingsOf(this, defaults).name);
  },
  inputLabels: () => texts("port.input"),
  outputLabels: () => texts("port.output"),
  onadd() {
    chooseOnly(this, fields);
  },
  oneditprepare() {
    openForm(this, fields);
  },
});
