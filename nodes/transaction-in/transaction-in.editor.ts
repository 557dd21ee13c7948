import { amount, headerName, oneOf, wait, webhookPath, type Check } from "../../src/editor/checks.ts";
import { credential, plain } from "../../src/editor/fields.ts";
import { openForm, settingsOf } from "../../src/editor/form.ts";
import { actAt, labelStyle } from "../../src/editor/labels.ts";
import { explainProblems } from "../../src/editor/problems.ts";
import { textsOf } from "../../src/editor/texts.ts";
import { savedVersion } from "../../src/editor/version.ts";
import { trimSlashes } from "../../src/rules/names.ts";
import { defaults, type TransactionInProperties } from "./transaction-in.shared.ts";

const texts = textsOf("dimensioner-transaction-in");

const path: Check = (value, now) =>
  trimSlashes(value) === "" ? texts("problem.pathMissing") : webhookPath(value, now);

const secretGiven: Check = (value, now) =>
  now("secretIn") !== "none" && value.trim() === "" ? texts("problem.secret") : null;

RED.nodes.registerType<TransactionInProperties, { secret: string }>("dimensioner-transaction-in", {
  category: "dimensioner",
  color: "#86b6d8",
  defaults: {
    version: savedVersion("dimensioner-transaction-in", defaults),
    name: { value: defaults.name },
    path: plain(defaults, "path", { check: path, texts }),
    secretIn: plain(defaults, "secretIn", { check: oneOf(["header", "path", "none"]), texts }),
    header: plain(defaults, "header", {
      check: headerName,
      matters: (now) => now("secretIn") === "header",
      texts,
    }),
    dedupe: plain(defaults, "dedupe", { check: wait, texts }),
    queueLimit: plain(defaults, "queueLimit", { check: amount, texts }),
    onlyOk: { value: defaults.onlyOk },
    deviceClientId: { value: defaults.deviceClientId },
  },
  credentials: {
    secret: credential("secret", { check: secretGiven, texts }),
  },
  inputs: 0,
  outputs: 1,
  icon: "dimensioner-transaction-in.svg",
  paletteLabel: () => texts("palette"),
  label() {
    const { name, path } = settingsOf(this, defaults);
    return name || actAt(texts("palette"), trimSlashes(path) === "" ? "" : `/${trimSlashes(path)}`);
  },
  labelStyle() {
    return labelStyle(settingsOf(this, defaults).name);
  },
  outputLabels: () => texts("port.record"),
  oneditprepare() {
    const form = openForm(this);
    form.follow(["secretIn"], () => {
      const secretIn = form.value("secretIn");
      form.show(["header"], secretIn === "header");
      form.show(["secret"], secretIn !== "none");
      $(".dimensioner-tip-none").toggle(secretIn === "none");
    });
    form.follow(["path", "secretIn"], () => {
      const last = form.value("secretIn") === "path" ? `/${texts("secretPart")}` : "";
      const path = `/${nodeRoot()}/${trimSlashes(form.value("path"))}${last}`.replace(/\/{2,}/g, "/");
      $(".dimensioner-webhook-address").text(texts("note.address", { path }));
    });
    explainProblems(this, form);
  },
});

/** Below which path Node-RED serves what flows serve. */
function nodeRoot(): string {
  const root: unknown = Reflect.get(RED.settings, "httpNodeRoot");
  return typeof root === "string" ? root : "";
}
