import { chooseOnly, matters } from "../../src/editor/fields.ts";
import { followOutputs, formFields, openForm, settingsOf } from "../../src/editor/form.ts";
import {
  actAt,
  labelStyle,
  measureOutputLabel,
  shared,
  shownValue,
  targetOf,
  textsOf,
} from "../../src/editor/texts.ts";
import { devicePicker } from "../../src/editor/device-picker.ts";
import { defaults, properties, type RemoteTriggerProperties } from "./remote-trigger.shared.ts";

const type = "dimensioner-remote-trigger";
const fields = formFields(type, properties);
const texts = textsOf(type);

RED.nodes.registerType<RemoteTriggerProperties>("dimensioner-remote-trigger", {
  category: "dimensioner",
  color: "#86b6d8",
  defaults: editorDefaults(fields),
  inputs: 1,
  outputs: 1,
  icon: "dimensioner-remote-trigger.svg",
  paletteLabel: () => texts("palette"),
  label() {
    const saved = settingsOf(this, defaults);
    const { name, action, deviceReference, deviceReferenceType, deviceName, cloud, cloudFrom } = saved;
    const target =
      deviceName || shownValue(deviceReference, deviceReferenceType) || targetOf(cloud, cloudFrom);
    return name || actAt(shared(`act.${action}`), target);
  },
  labelStyle() {
    return labelStyle(settingsOf(this, defaults).name);
  },
  inputLabels: () => texts("port.input"),
  outputLabels(index) {
    const { action } = settingsOf(this, defaults);
    return action === "measure" || index === 1
      ? measureOutputLabel(index)
      : texts(action === "msg" ? "port.either" : "port.output");
  },
  onadd() {
    chooseOnly(this, fields);
  },
  oneditprepare() {
    const form = openForm(this, fields);
    devicePicker(form, { code: "deviceReference", name: "deviceName", cloud: "cloud" });
    followOutputs(
      form,
      ["action", "failures"],
      () => matters(properties.failures, form.value) && form.value("failures") === "output",
    );
  },
});
