import { amount, count, deadline, deviceAddress, oneOf } from "../../src/editor/checks.ts";
import { plain } from "../../src/editor/fields.ts";
import { openForm, settingsOf } from "../../src/editor/form.ts";
import { labelStyle } from "../../src/editor/labels.ts";
import { explainProblems } from "../../src/editor/problems.ts";
import { textsOf } from "../../src/editor/texts.ts";
import { defaults, type DeviceProperties } from "./device.shared.ts";

const texts = textsOf("dimensioner-device");

RED.nodes.registerType<DeviceProperties>("dimensioner-device", {
  category: "config",
  color: "#86c5be",
  icon: "dimensioner-device.svg",
  defaults: {
    name: { value: defaults.name },
    address: plain(defaults, "address", { check: deviceAddress, texts }),
    generation: plain(defaults, "generation", { check: oneOf(["newer", "earlier"]), texts }),
    timeout: plain(defaults, "timeout", { check: deadline }),
    queueLimit: plain(defaults, "queueLimit", { check: count }),
    maxWait: plain(defaults, "maxWait", { check: amount }),
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
      const earlier = form.value("generation") === "earlier";
      $(".dimensioner-tip-newer").toggle(!earlier);
      $(".dimensioner-tip-earlier").toggle(earlier);
    });
    explainProblems(this, form);
  },
});
