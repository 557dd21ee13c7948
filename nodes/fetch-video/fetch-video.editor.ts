import { chooseOnly } from "../../src/editor/fields.ts";
import { formFields, openForm, settingsOf } from "../../src/editor/form.ts";
import { actAt, labelStyle, outputLabel, targetOf, textsOf } from "../../src/editor/texts.ts";
import { defaults, properties, type FetchVideoProperties } from "./fetch-video.shared.ts";

const type = "dimensioner-fetch-video";
const fields = formFields(type, properties);
const texts = textsOf(type);

RED.nodes.registerType<FetchVideoProperties>("dimensioner-fetch-video", {
  category: "dimensioner",
  color: "#86c5be",
  defaults: editorDefaults(fields),
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
  onadd() {
    chooseOnly(this, fields);
  },
  oneditprepare() {
    openForm(this, fields);
  },
});
