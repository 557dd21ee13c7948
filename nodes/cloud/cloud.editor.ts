import { wait, cloudAddress, count, timeout, isOpenHttp, required } from "../../src/editor/checks.ts";
import { reachableByKeyboard } from "../../src/editor/config-row.ts";
import { connectionTest } from "../../src/editor/connection-test.ts";
import { credential, optionalConfig, plain } from "../../src/editor/fields.ts";
import { openForm, settingsOf } from "../../src/editor/form.ts";
import { labelStyle } from "../../src/editor/labels.ts";
import { explainProblems } from "../../src/editor/problems.ts";
import { textsOf } from "../../src/editor/texts.ts";
import { savedVersion } from "../../src/editor/version.ts";
import { defaults, type CloudProperties } from "./cloud.shared.ts";

const texts = textsOf("dimensioner-cloud");

RED.nodes.registerType<CloudProperties, { token: string }>("dimensioner-cloud", {
  category: "config",
  color: "#86b6d8",
  icon: "dimensioner-cloud.svg",
  defaults: {
    version: savedVersion("dimensioner-cloud", defaults),
    name: { value: defaults.name },
    baseUrl: plain(defaults, "baseUrl", { check: required("baseUrlMissing", cloudAddress), texts }),
    allowHttp: { value: defaults.allowHttp },
    timeout: plain(defaults, "timeout", { check: timeout }),
    queueLimit: plain(defaults, "queueLimit", { check: count }),
    maxWait: plain(defaults, "maxWait", { check: wait }),
    checkInterval: plain(defaults, "checkInterval", { check: wait }),
    tls: optionalConfig(defaults, "tls", "tls-config", texts),
    proxy: optionalConfig(defaults, "proxy", "http proxy", texts),
  },
  credentials: {
    token: credential("token", { check: required("token"), texts }),
  },
  paletteLabel: () => texts("palette"),
  label() {
    const { name, baseUrl } = settingsOf(this, defaults);
    return name || baseUrl || texts("palette");
  },
  labelStyle() {
    return labelStyle(settingsOf(this, defaults).name);
  },
  oneditprepare() {
    const form = openForm(this);
    form.follow(["baseUrl", "allowHttp"], () => {
      form.show(["allowHttp"], isOpenHttp(form.value("baseUrl")) || form.value("allowHttp") === "true");
    });
    reachableByKeyboard(form, "tls");
    reachableByKeyboard(form, "proxy");
    explainProblems(this, form);
    connectionTest(this, form, {
      type: "dimensioner-cloud",
      properties: ["baseUrl", "allowHttp", "token", "timeout", "tls", "proxy"],
      needed: ["baseUrl", "token", "timeout"],
    });
  },
});
