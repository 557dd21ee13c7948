import { count, deviceAddress, oneOf, required, timeout, wait } from "../../src/editor/checks.ts";
import { connectionTest } from "../../src/editor/connection-test.ts";
import { plain } from "../../src/editor/fields.ts";
import { openForm, settingsOf } from "../../src/editor/form.ts";
import { labelStyle } from "../../src/editor/labels.ts";
import { explainProblems } from "../../src/editor/problems.ts";
import { textsOf } from "../../src/editor/texts.ts";
import { migrateOnArrival, savedVersion } from "../../src/editor/version.ts";
import { defaults, type DeviceProperties } from "./device.shared.ts";

const texts = textsOf("dimensioner-device");

RED.nodes.registerType<DeviceProperties>("dimensioner-device", {
  category: "config",
  color: "#86c5be",
  icon: "dimensioner-device.svg",
  defaults: {
    version: savedVersion("dimensioner-device", defaults),
    name: { value: defaults.name },
    address: plain(defaults, "address", { check: required("addressMissing", deviceAddress), texts }),
    generation: plain(defaults, "generation", { check: oneOf(["newer", "earlier", "gateway"]), texts }),
    timeout: plain(defaults, "timeout", { check: timeout }),
    queueLimit: plain(defaults, "queueLimit", { check: count }),
    maxWait: plain(defaults, "maxWait", { check: wait }),
    checkInterval: plain(defaults, "checkInterval", { check: wait }),
  },
  paletteLabel: () => texts("palette"),
  label() {
    const { name, address } = settingsOf(this, defaults);
    return name || address || texts("palette");
  },
  labelStyle() {
    return labelStyle(settingsOf(this, defaults).name);
  },
  oneditprepare() {
    const form = openForm(this);
    form.follow(["generation"], () => {
      const generation = form.value("generation");
      $(".dimensioner-tip-newer").toggle(generation === "newer");
      $(".dimensioner-tip-earlier").toggle(generation === "earlier");
      $(".dimensioner-tip-gateway").toggle(generation === "gateway");
      form.show(["checkInterval"], generation !== "gateway");
    });
    explainProblems(this, form);
    connectionTest(this, form, {
      type: "dimensioner-device",
      properties: ["address", "generation", "timeout"],
      needed: ["address", "generation", "timeout"],
    });
  },
});

// Once for all types of the package: this one is loaded first.
migrateOnArrival();
