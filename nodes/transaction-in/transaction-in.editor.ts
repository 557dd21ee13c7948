import { chooseOnly } from "../../src/editor/fields.ts";
import { formFields, openForm, settingsOf } from "../../src/editor/form.ts";
import { actAt, labelStyle, textsOf } from "../../src/editor/texts.ts";
import { webhookTools } from "../../src/editor/webhook-tools.ts";
import { trimSlashes } from "../../src/rules/names.ts";
import { defaults, properties, type TransactionInProperties } from "./transaction-in.shared.ts";

const type = "dimensioner-transaction-in";
const fields = formFields(type, properties);
const texts = textsOf(type);

RED.nodes.registerType<TransactionInProperties, { secret: string }>("dimensioner-transaction-in", {
  category: "dimensioner",
  color: "#86b6d8",
  defaults: editorDefaults(fields),
  credentials: editorCredentials(fields),
  inputs: 1,
  outputs: 1,
  icon: "dimensioner-transaction-in.svg",
  paletteLabel: () => texts("palette"),
  label() {
    const { name, path } = settingsOf(this, defaults);
    return name || actAt(texts("palette"), trimSlashes(path) === "" ? "" : `/${trimSlashes(path)}`);
  },
  labelStyle() {
    return labelStyle(settingsOf(this, defaults).name);
  },
  inputLabels: () => texts("port.handled"),
  outputLabels: () => texts("port.record"),
  onadd() {
    chooseOnly(this, fields);
  },
  oneditprepare() {
    webhookTools(this, openForm(this, fields), texts);
  },
});
