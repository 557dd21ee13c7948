import { connectionTest } from "../../src/editor/admin.ts";
import { cloudIdsPicker } from "../../src/editor/device-picker.ts";
import { formFields, openForm, settingsOf } from "../../src/editor/form.ts";
import { labelStyle, textsOf } from "../../src/editor/texts.ts";
import { migrateOnArrival, usableBy } from "../../src/editor/fields.ts";
import { defaults, properties, type DeviceProperties } from "./device.shared.ts";

const type = "dimensioner-device";
const fields = formFields(type, properties);
const texts = textsOf(type);

RED.nodes.registerType<DeviceProperties>("dimensioner-device", {
  category: "config",
  color: "#86c5be",
  icon: "dimensioner-device.svg",
  defaults: editorDefaults(fields),
  paletteLabel: () => texts("palette"),
  label() {
    const { name, address } = settingsOf(this, defaults);
    return name || address || texts("palette");
  },
  labelStyle() {
    return labelStyle(settingsOf(this, defaults).name);
  },
  oneditprepare() {
    const form = openForm(this, fields);
    cloudIdsPicker(form, {
      ids: "cloudIds",
      name: "name",
      clouds: () => usableBy(this, { of: "dimensioner-cloud" }),
    });
    connectionTest(this, form, {
      type,
      after: "generation",
      properties: ["address", "generation", "timeout"],
      needed: ["address", "generation", "timeout"],
    });
  },
});

// Done once for all types of the package, because this type is loaded first.
migrateOnArrival();
