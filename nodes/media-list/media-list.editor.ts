import { chooseOnly } from "../../src/editor/fields.ts";
import { formFields, openForm, settingsOf } from "../../src/editor/form.ts";
import { actAt, labelStyle, targetOf, textsOf } from "../../src/editor/texts.ts";
import { defaults, properties, type MediaListProperties } from "./media-list.shared.ts";

const type = "dimensioner-media-list";
const fields = formFields(type, properties);
const texts = textsOf(type);

RED.nodes.registerType<MediaListProperties>("dimensioner-media-list", {
  category: "dimensioner",
  color: "#86b6d8",
  defaults: editorDefaults(fields),
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
  onadd() {
    chooseOnly(this, fields);
  },
  oneditprepare() {
    openForm(this, fields);
  },
});
