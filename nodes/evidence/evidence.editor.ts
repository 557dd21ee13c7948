import { chooseOnly } from "../../src/editor/fields.ts";
import { followOutputs, formFields, openForm, settingsOf } from "../../src/editor/form.ts";
import { labelStyle, textsOf } from "../../src/editor/texts.ts";
import { defaults, properties, type EvidenceProperties } from "./evidence.shared.ts";

const type = "dimensioner-evidence";
const fields = formFields(type, properties);
const texts = textsOf(type);

RED.nodes.registerType<EvidenceProperties>("dimensioner-evidence", {
  category: "dimensioner",
  color: "#86b6d8",
  defaults: editorDefaults(fields),
  inputs: 1,
  outputs: 1,
  icon: "dimensioner-evidence.svg",
  paletteLabel: () => texts("palette"),
  label() {
    const { name, action } = settingsOf(this, defaults);
    return name || (action === "msg" ? texts("palette") : texts(`act.${action}`));
  },
  labelStyle() {
    return labelStyle(settingsOf(this, defaults).name);
  },
  inputLabels: () => texts("port.input"),
  outputLabels(index) {
    const { action } = settingsOf(this, defaults);
    if (index === 1) {
      return texts("port.notAgain");
    }
    return texts(action === "msg" ? "port.output" : `act.${action}`);
  },
  onadd() {
    chooseOnly(this, fields);
  },
  oneditprepare() {
    const form = openForm(this, fields);
    followOutputs(
      form,
      ["action", "emit"],
      () => ["missing", "msg"].includes(form.value("action")) && form.value("emit") === "split",
    );
  },
});
