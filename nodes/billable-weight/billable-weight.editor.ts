import { formFields, openForm, settingsOf } from "../../src/editor/form.ts";
import { actAt, labelStyle, textsOf } from "../../src/editor/texts.ts";
import { tryWeightRule } from "../../src/editor/try-weight-rule.ts";
import { defaults, properties, type BillableWeightProperties } from "./billable-weight.shared.ts";

const type = "dimensioner-billable-weight";
const fields = formFields(type, properties);
const texts = textsOf(type);

RED.nodes.registerType<BillableWeightProperties>("dimensioner-billable-weight", {
  category: "dimensioner",
  color: "#86b6d8",
  defaults: editorDefaults(fields),
  inputs: 1,
  outputs: 1,
  icon: "dimensioner-billable-weight.svg",
  paletteLabel: () => texts("palette"),
  label() {
    const { name, preset } = settingsOf(this, defaults);
    return name || actAt(texts("palette"), preset === "msg" ? "msg.preset" : texts(`preset.${preset}`));
  },
  labelStyle() {
    return labelStyle(settingsOf(this, defaults).name);
  },
  inputLabels: () => texts("port.input"),
  outputLabels: () => texts("port.output"),
  oneditprepare() {
    tryWeightRule(openForm(this, fields), texts);
  },
});
