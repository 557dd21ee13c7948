import { chooseOnly } from "../../src/editor/fields.ts";
import { formFields, openForm, settingsOf } from "../../src/editor/form.ts";
import { actAt, labelStyle, outputLabel, targetOf, textsOf } from "../../src/editor/texts.ts";
import { defaults, properties, type FetchMediaProperties } from "./fetch-media.shared.ts";

const type = "dimensioner-fetch-media";
const fields = formFields(type, properties);
const texts = textsOf(type);

RED.nodes.registerType<FetchMediaProperties>("dimensioner-fetch-media", {
  category: "dimensioner",
  color: "#86b6d8",
  defaults: editorDefaults(fields),
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
  onadd() {
    chooseOnly(this, fields);
  },
  oneditprepare() {
    openForm(this, fields);
  },
});
