import { connectionTest } from "../../src/editor/admin.ts";
import { formFields, openForm, settingsOf } from "../../src/editor/form.ts";
import { labelStyle, textsOf } from "../../src/editor/texts.ts";
import { isOpenHttp } from "../../src/rules/addresses.ts";
import { defaults, properties, type CloudProperties } from "./cloud.shared.ts";

const type = "dimensioner-cloud";
const fields = formFields(type, properties);
const texts = textsOf(type);

RED.nodes.registerType<CloudProperties, { token: string }>("dimensioner-cloud", {
  category: "config",
  color: "#86b6d8",
  icon: "dimensioner-cloud.svg",
  defaults: editorDefaults(fields),
  credentials: editorCredentials(fields),
  paletteLabel: () => texts("palette"),
  label() {
    const { name, baseUrl } = settingsOf(this, defaults);
    return name || baseUrl || texts("palette");
  },
  labelStyle() {
    return labelStyle(settingsOf(this, defaults).name);
  },
  oneditprepare() {
    const form = openForm(this, fields);
    form.follow(["baseUrl", "allowHttp"], () => {
      form.row("allowHttp").toggle(isOpenHttp(form.value("baseUrl")) || form.value("allowHttp") !== "false");
    });
    connectionTest(this, form, {
      type,
      after: "token",
      properties: ["baseUrl", "allowHttp", "token", "timeout", "tls", "proxy"],
      needed: ["baseUrl", "token", "timeout"],
    });
  },
});
