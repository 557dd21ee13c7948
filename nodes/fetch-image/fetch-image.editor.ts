import { chooseOnly } from "../../src/editor/fields.ts";
import { formFields, openForm, settingsOf } from "../../src/editor/form.ts";
import { actAt, labelStyle, outputLabel, targetOf, textsOf } from "../../src/editor/texts.ts";
import { previewBadge, previewInDialog, watchPreviews } from "../../src/editor/preview.ts";
import { defaults, properties, type FetchImageProperties } from "./fetch-image.shared.ts";

const type = "dimensioner-fetch-image";
const fields = formFields(type, properties);
const texts = textsOf(type);
const previews = watchPreviews(type, {
  last: () => texts("preview.last"),
  none: () => texts("preview.none"),
  large: (size) => texts("preview.large", { size }),
});

RED.nodes.registerType<FetchImageProperties>("dimensioner-fetch-image", {
  category: "dimensioner",
  color: "#86c5be",
  defaults: editorDefaults(fields),
  inputs: 1,
  outputs: 1,
  icon: "dimensioner-image.svg",
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
    previewInDialog(this, openForm(this, fields), previews);
  },
});

previewBadge(previews);
