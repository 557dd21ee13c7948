import { fileName, oneOf } from "../../src/editor/checks.ts";
import { configRows } from "../../src/editor/config-row.ts";
import { config, folder, messageProperty, plain, typed } from "../../src/editor/fields.ts";
import { openForm, settingsOf } from "../../src/editor/form.ts";
import { needsNewer } from "../../src/editor/generation.ts";
import { actAt, labelStyle, targetOf } from "../../src/editor/labels.ts";
import { outputGroup, outputLabel } from "../../src/editor/output-group.ts";
import { previewBadge, previewInDialog, watchPreviews } from "../../src/editor/preview.ts";
import { explainProblems } from "../../src/editor/problems.ts";
import { textsOf } from "../../src/editor/texts.ts";
import { savedVersion } from "../../src/editor/version.ts";
import { typedInput } from "../../src/editor/typed-input.ts";
import { defaults, type FetchImageProperties } from "./fetch-image.shared.ts";

const texts = textsOf("dimensioner-fetch-image");
const previews = watchPreviews("dimensioner-fetch-image", {
  last: () => texts("preview.last"),
  none: () => texts("preview.none"),
  large: (size) => texts("preview.large", { size }),
});

RED.nodes.registerType<FetchImageProperties>("dimensioner-fetch-image", {
  category: "dimensioner",
  color: "#86c5be",
  defaults: {
    version: savedVersion("dimensioner-fetch-image", defaults),
    name: { value: defaults.name },
    device: config(defaults, "device", "dimensioner-device", "deviceFrom", needsNewer),
    deviceFrom: messageProperty(defaults, "deviceFrom"),
    image: plain(defaults, "image", { check: oneOf(["annotated", "color", "depth", "msg"]), texts }),
    imageIdentifier: typed(defaults, "imageIdentifier", { required: "imageIdentifier", texts }),
    imageIdentifierType: { value: defaults.imageIdentifierType },
    output: plain(defaults, "output", { check: oneOf(["buffer", "file"]) }),
    folder: folder(defaults, "folder"),
    folderType: { value: defaults.folderType },
    filename: typed(defaults, "filename", { check: fileName, matters: (now) => now("output") === "file" }),
    filenameType: { value: defaults.filenameType },
    ifExists: plain(defaults, "ifExists", { check: oneOf(["rename", "replace", "error"]) }),
    preview: { value: defaults.preview },
  },
  inputs: 1,
  outputs: 1,
  icon: "dimensioner-image.svg",
  paletteLabel: () => texts("palette"),
  label() {
    const { name, device, deviceFrom } = settingsOf(this, defaults);
    return name || actAt(texts("palette"), targetOf(device, deviceFrom));
  },
  labelStyle() {
    return labelStyle(settingsOf(this, defaults).name);
  },
  inputLabels: () => texts("port.input"),
  outputLabels() {
    return outputLabel(settingsOf(this, defaults).output);
  },
  oneditprepare() {
    const form = openForm(this);
    configRows(form, "device", "deviceFrom");
    typedInput(form, "imageIdentifier", defaults.imageIdentifierType);
    outputGroup(form, defaults);
    explainProblems(this, form);
    previewInDialog(this, form, previews);
  },
});

previewBadge(previews);
