import { actionTips } from "../../src/editor/action.ts";
import { oneOf, registrationCode } from "../../src/editor/checks.ts";
import { configRows } from "../../src/editor/config-row.ts";
import { devicePicker } from "../../src/editor/device-picker.ts";
import { config, messageProperty, plain, typed, type Matters } from "../../src/editor/fields.ts";
import { openForm, settingsOf } from "../../src/editor/form.ts";
import { actAt, labelStyle, shownValue, targetOf } from "../../src/editor/labels.ts";
import { explainProblems } from "../../src/editor/problems.ts";
import { measureOutputLabel, secondOutput } from "../../src/editor/second-output.ts";
import { shared, textsOf } from "../../src/editor/texts.ts";
import { savedVersion } from "../../src/editor/version.ts";
import { typedInput } from "../../src/editor/typed-input.ts";
import { defaults, type RemoteTriggerProperties } from "./remote-trigger.shared.ts";

const texts = textsOf("dimensioner-remote-trigger");

const starts: Matters = (now) => now("action") === "start" || now("action") === "msg";
const measures: Matters = (now) => now("action") === "measure" || now("action") === "msg";
/** The cloud wants a reference with a recording and with a measurement, and takes none with the rest. */
const takesReference: Matters = (now) => starts(now) || measures(now);

RED.nodes.registerType<RemoteTriggerProperties & { outputs: number }>("dimensioner-remote-trigger", {
  category: "dimensioner",
  color: "#86b6d8",
  defaults: {
    version: savedVersion("dimensioner-remote-trigger", defaults),
    name: { value: defaults.name },
    cloud: config(defaults, "cloud", "dimensioner-cloud", "cloudFrom"),
    cloudFrom: messageProperty(defaults, "cloudFrom"),
    action: plain(defaults, "action", { check: oneOf(["start", "stop", "cancel", "measure", "msg"]) }),
    deviceReference: typed(defaults, "deviceReference", {
      required: "deviceReference",
      check: registrationCode,
      texts,
    }),
    deviceReferenceType: { value: defaults.deviceReferenceType },
    transactionReference: typed(defaults, "transactionReference", {
      required: "reference",
      matters: takesReference,
    }),
    transactionReferenceType: { value: defaults.transactionReferenceType },
    cRef1: typed(defaults, "cRef1", { matters: starts, texts }),
    cRef1Type: { value: defaults.cRef1Type },
    cRef2: typed(defaults, "cRef2", { matters: starts, texts }),
    cRef2Type: { value: defaults.cRef2Type },
    cRef3: typed(defaults, "cRef3", { matters: starts, texts }),
    cRef3Type: { value: defaults.cRef3Type },
    failures: plain(defaults, "failures", { check: oneOf(["catch", "output"]), matters: measures }),
    outputs: { value: 1 },
  },
  inputs: 1,
  outputs: 1,
  icon: "dimensioner-remote-trigger.svg",
  paletteLabel: () => texts("palette"),
  label() {
    const { name, action, deviceReference, deviceReferenceType, cloud, cloudFrom } = settingsOf(
      this,
      defaults,
    );
    const target = shownValue(deviceReference, deviceReferenceType) || targetOf(cloud, cloudFrom);
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
  oneditprepare() {
    const form = openForm(this);
    configRows(form, "cloud", "cloudFrom");
    typedInput(form, "deviceReference", defaults.deviceReferenceType);
    devicePicker(form, "deviceReference", "cloud");
    typedInput(form, "transactionReference", defaults.transactionReferenceType);
    typedInput(form, "cRef1", defaults.cRef1Type);
    typedInput(form, "cRef2", defaults.cRef2Type);
    typedInput(form, "cRef3", defaults.cRef3Type);
    form.follow(["action"], () => {
      actionTips(form.value("action"));
      form.field("transactionReference").closest("fieldset").toggle(takesReference(form.value));
      form.show(["cRef1", "cRef2", "cRef3"], starts(form.value));
      form.show(["failures"], measures(form.value));
    });
    secondOutput(
      form,
      ["action", "failures"],
      () => measures(form.value) && form.value("failures") === "output",
    );
    explainProblems(this, form);
  },
});
