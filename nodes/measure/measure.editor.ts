import { oneOf } from "../../src/editor/checks.ts";
import { configRows } from "../../src/editor/config-row.ts";
import { config, messageProperty, plain, typed } from "../../src/editor/fields.ts";
import { openForm, settingsOf } from "../../src/editor/form.ts";
import { isEarlier } from "../../src/editor/generation.ts";
import { actAt, labelStyle, targetOf } from "../../src/editor/labels.ts";
import { explainProblems } from "../../src/editor/problems.ts";
import { referencesGroup } from "../../src/editor/references-group.ts";
import { measureOutputLabel, secondOutput } from "../../src/editor/second-output.ts";
import { textsOf } from "../../src/editor/texts.ts";
import { savedVersion } from "../../src/editor/version.ts";
import { defaults, type MeasureProperties } from "./measure.shared.ts";

const texts = textsOf("dimensioner-measure");

RED.nodes.registerType<MeasureProperties & { outputs: number }>("dimensioner-measure", {
  category: "dimensioner",
  color: "#86c5be",
  defaults: {
    version: savedVersion("dimensioner-measure", defaults),
    name: { value: defaults.name },
    device: config(defaults, "device", "dimensioner-device", "deviceFrom"),
    deviceFrom: messageProperty(defaults, "deviceFrom"),
    transactionReference: typed(defaults, "transactionReference"),
    transactionReferenceType: { value: defaults.transactionReferenceType },
    customReference1: typed(defaults, "customReference1"),
    customReference1Type: { value: defaults.customReference1Type },
    customReference2: typed(defaults, "customReference2"),
    customReference2Type: { value: defaults.customReference2Type },
    customReference3: typed(defaults, "customReference3"),
    customReference3Type: { value: defaults.customReference3Type },
    failures: plain(defaults, "failures", { check: oneOf(["catch", "output"]) }),
    outputs: { value: 1 },
  },
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
  oneditprepare() {
    const form = openForm(this);
    configRows(form, "device", "deviceFrom");
    referencesGroup(form, defaults);
    secondOutput(form, ["failures"], () => form.value("failures") === "output");
    form.follow(["device"], () => {
      const device = RED.nodes.node(form.value("device"));
      $(".dimensioner-earlier").toggle(device !== null && device !== undefined && isEarlier(device));
    });
    explainProblems(this, form);
  },
});
