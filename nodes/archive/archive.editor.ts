import { amount, hours, layout, oneOf, wait, type Check } from "../../src/editor/checks.ts";
import { configRows } from "../../src/editor/config-row.ts";
import { config, messageProperty, plain, typed, type ConfigField } from "../../src/editor/fields.ts";
import { currentValue, openForm, settingsOf } from "../../src/editor/form.ts";
import { actAt, labelStyle, targetOf } from "../../src/editor/labels.ts";
import { explainProblems } from "../../src/editor/problems.ts";
import { textsOf } from "../../src/editor/texts.ts";
import { savedVersion } from "../../src/editor/version.ts";
import { folderTypes, typedInput } from "../../src/editor/typed-input.ts";
import { defaults, type ArchiveProperties } from "./archive.shared.ts";

const texts = textsOf("dimensioner-archive");
const fromCloud = (now: (property: string) => string): boolean => now("source") !== "message";

/** The cloud is only asked for where the media come from it. */
function whenCloud(field: ConfigField): ConfigField {
  const { validate } = field;
  return Object.assign(field, {
    // Two declared arguments tell the editor that a string is the reason why the value is wrong.
    validate(this: object, value: string, options?: { label?: string }): true | string {
      return currentValue(this, "source") === "message" || validate.call(this, value, options);
    },
  });
}

const packageLayout: Check = (value, now) =>
  value.trim() === "" ? texts("problem.layout") : layout(value, now);

RED.nodes.registerType<ArchiveProperties>("dimensioner-archive", {
  category: "dimensioner",
  color: "#86b6d8",
  defaults: {
    version: savedVersion("dimensioner-archive", defaults),
    name: { value: defaults.name },
    source: plain(defaults, "source", { check: oneOf(["cloud", "message"]), texts }),
    cloud: whenCloud(config(defaults, "cloud", "dimensioner-cloud", "cloudFrom")),
    cloudFrom: messageProperty(defaults, "cloudFrom"),
    folder: typed(defaults, "folder", { types: folderTypes, required: "folder" }),
    folderType: { value: defaults.folderType },
    layout: plain(defaults, "layout", { check: packageLayout, texts }),
    transactionId: typed(defaults, "transactionId", { required: "transactionId", texts }),
    transactionIdType: { value: defaults.transactionIdType },
    contentType: typed(defaults, "contentType", { matters: fromCloud, texts }),
    contentTypeType: { value: defaults.contentTypeType },
    expect: { value: defaults.expect },
    wait: plain(defaults, "wait", { check: wait, texts }),
    concurrency: plain(defaults, "concurrency", { check: amount, matters: fromCloud, texts }),
    onIncomplete: plain(defaults, "onIncomplete", { check: oneOf(["error", "keep"]), texts }),
    giveUp: plain(defaults, "giveUp", { check: hours, texts }),
    keep: { value: defaults.keep },
  },
  inputs: 1,
  outputs: 1,
  icon: "dimensioner-archive.svg",
  paletteLabel: () => texts("palette"),
  label() {
    const { name, source, cloud, cloudFrom } = settingsOf(this, defaults);
    return name || actAt(texts("palette"), source === "message" ? "" : targetOf(cloud, cloudFrom));
  },
  labelStyle() {
    return labelStyle(settingsOf(this, defaults).name);
  },
  inputLabels: () => texts("port.input"),
  outputLabels: () => texts("port.package"),
  oneditprepare() {
    const form = openForm(this);
    configRows(form, "cloud", "cloudFrom");
    typedInput(form, "folder", defaults.folderType, folderTypes);
    typedInput(form, "transactionId", defaults.transactionIdType);
    typedInput(form, "contentType", defaults.contentTypeType);
    form.follow(["source"], () => {
      form.show(["cloud", "cloudFrom", "contentType", "concurrency"], form.value("source") !== "message");
    });
    explainProblems(this, form);
  },
});
