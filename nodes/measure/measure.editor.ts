import { chooseOnly } from "../../src/editor/fields.ts";
import { followOutputs, formFields, openForm, settingsOf } from "../../src/editor/form.ts";
import { actAt, labelStyle, measureOutputLabel, targetOf, textsOf } from "../../src/editor/texts.ts";
import { defaults, properties, type MeasureProperties } from "./measure.shared.ts";

const type = "dimensioner-measure";
const fields = formFields(type, properties);
const texts = textsOf(type);

RED.nodes.registerType<MeasureProperties>("dimensioner-measure", {
  category: "dimensioner",
  color: "#86c5be",
  defaults: editorDefaults(fields),
  inputs: 1,
  outputs: 1,
  icon: "dimensioner-measure.svg",
  paletteLabel: () => texts("palette"),
  label() {
    const { name, device, deviceFrom } = settingsOf(this, defaults);
    return name || actAt(texts("palette"), targetOf(device, deviceFrom));
  },
  labelStyle() {
    return labelStyle(settingsOf(this, defaults).name);
  },
  inputLabels: () => texts("port.input"),
  outputLabels(index) {
    return measureOutputLabel(index);
  },
  onadd() {
    chooseOnly(this, fields);
  },
  oneditprepare() {
    const form = openForm(this, fields);
    followOutputs(form, ["failures"], () => form.value("failures") === "output");
    const tip = $("<div>", { class: "form-row" })
      .append($("<div>", { class: "form-tips" }).text(texts("tip.earlier")))
      .insertAfter(form.row("customReference3").closest("fieldset"));
    form.follow(["device"], () => {
      const device = RED.nodes.node(form.value("device")) ?? {};
      tip.toggle(Reflect.get(device, "generation") === "earlier");
    });
  },
});
