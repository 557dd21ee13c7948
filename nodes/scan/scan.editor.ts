import { checkBoxes, formFields, openForm, settingsOf } from "../../src/editor/form.ts";
import { actAt, labelStyle, textsOf } from "../../src/editor/texts.ts";
import { offerExamples, tryScan } from "../../src/editor/try-scan.ts";
import { codeKinds } from "../../src/rules/scans.ts";
import { defaults, properties, type ScanProperties } from "./scan.shared.ts";

const type = "dimensioner-scan";
const fields = formFields(type, properties);
const texts = textsOf(type);

RED.nodes.registerType<ScanProperties>("dimensioner-scan", {
  category: "dimensioner",
  color: "#86b6d8",
  defaults: editorDefaults(fields),
  inputs: 1,
  outputs: 2,
  icon: "dimensioner-scan.svg",
  paletteLabel: () => texts("palette"),
  label() {
    const { name, which, ai } = settingsOf(this, defaults);
    return name || actAt(texts("palette"), which === "ai" ? `(${ai})` : "");
  },
  labelStyle() {
    return labelStyle(settingsOf(this, defaults).name);
  },
  inputLabels: () => texts("port.input"),
  outputLabels: (index) => texts(index === 0 ? "port.parcel" : "port.control"),
  oneditprepare() {
    const form = openForm(this, fields);
    checkBoxes(
      form.field("symbologies"),
      codeKinds.map((kind) => [kind, texts(`symbologies.${kind}`)]),
    );
    tryScan(form, texts);
    offerExamples(form, texts);
  },
});
