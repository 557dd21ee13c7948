import { actionTips } from "../../src/editor/action.ts";
import { oneOf } from "../../src/editor/checks.ts";
import { configRows } from "../../src/editor/config-row.ts";
import { config, messageProperty, plain, typed, type Matters } from "../../src/editor/fields.ts";
import { openForm, settingsOf } from "../../src/editor/form.ts";
import { needsNewer } from "../../src/editor/generation.ts";
import { actAt, labelStyle, targetOf } from "../../src/editor/labels.ts";
import { explainProblems } from "../../src/editor/problems.ts";
import { referencesGroup, showReferences } from "../../src/editor/references-group.ts";
import { shared, textsOf } from "../../src/editor/texts.ts";
import { savedVersion } from "../../src/editor/version.ts";
import { defaults, type VideoControlProperties } from "./video-control.shared.ts";

const texts = textsOf("dimensioner-video-control");

/** References go with the start of a recording alone. */
const starts: Matters = (now) => now("action") === "start" || now("action") === "msg";

RED.nodes.registerType<VideoControlProperties>("dimensioner-video-control", {
  category: "dimensioner",
  color: "#86c5be",
  defaults: {
    version: savedVersion("dimensioner-video-control", defaults),
    name: { value: defaults.name },
    device: config(defaults, "device", "dimensioner-device", "deviceFrom", needsNewer),
    deviceFrom: messageProperty(defaults, "deviceFrom"),
    action: plain(defaults, "action", { check: oneOf(["start", "stop", "cancel", "msg"]) }),
    transactionReference: typed(defaults, "transactionReference", { matters: starts }),
    transactionReferenceType: { value: defaults.transactionReferenceType },
    customReference1: typed(defaults, "customReference1", { matters: starts }),
    customReference1Type: { value: defaults.customReference1Type },
    customReference2: typed(defaults, "customReference2", { matters: starts }),
    customReference2Type: { value: defaults.customReference2Type },
    customReference3: typed(defaults, "customReference3", { matters: starts }),
    customReference3Type: { value: defaults.customReference3Type },
  },
  inputs: 1,
  outputs: 1,
  icon: "dimensioner-video-control.svg",
  paletteLabel: () => texts("palette"),
  label() {
    const { name, action, device, deviceFrom } = settingsOf(this, defaults);
    return name || actAt(shared(`act.${action}`), targetOf(device, deviceFrom));
  },
  labelStyle() {
    return labelStyle(settingsOf(this, defaults).name);
  },
  inputLabels: () => texts("port.input"),
  outputLabels: () => texts("port.output"),
  oneditprepare() {
    const form = openForm(this);
    configRows(form, "device", "deviceFrom");
    referencesGroup(form, defaults);
    form.follow(["action"], () => {
      const action = form.value("action");
      showReferences(form, starts(form.value));
      actionTips(action);
    });
    explainProblems(this, form);
  },
});
