import { chooseOnly } from "../../src/editor/fields.ts";
import { checkBoxes, currentValue, formFields, openForm, settingsOf } from "../../src/editor/form.ts";
import { checkVideos } from "../../src/editor/video-check.ts";
import { actAt, labelStyle, targetOf, textsOf } from "../../src/editor/texts.ts";
import { defaults, properties, type ArchiveProperties } from "./archive.shared.ts";

const type = "dimensioner-archive";
const texts = textsOf(type);
const fields = checkVideos(
  formFields(type, properties),
  (node, property) => currentValue(node, property, defaults),
  () => texts("problem.video"),
);

RED.nodes.registerType<ArchiveProperties>("dimensioner-archive", {
  category: "dimensioner",
  color: "#86b6d8",
  defaults: editorDefaults(fields),
  inputs: 1,
  outputs: 2,
  icon: "dimensioner-archive.svg",
  paletteLabel: () => texts("palette"),
  label() {
    const { name, cloud, cloudFrom } = settingsOf(this, defaults);
    const target = cloud === "" && cloudFrom === "" ? "" : targetOf(cloud, cloudFrom);
    return name || actAt(texts("palette"), target);
  },
  labelStyle() {
    return labelStyle(settingsOf(this, defaults).name);
  },
  inputLabels: () => texts("port.input"),
  outputLabels: (index) => texts(index === 0 ? "port.package" : "port.heldUp"),
  onadd() {
    chooseOnly(this, fields);
  },
  oneditprepare() {
    const form = openForm(this, fields);
    checkBoxes(
      form.field("images"),
      (["annotated", "color", "depth"] as const).map((image) => [image, texts(`images.${image}`)]),
    );
  },
});
