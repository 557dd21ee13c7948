import { trimSlashes } from "../rules/names.ts";
import { button, type Form } from "./form.ts";
import type { Texts } from "./texts.ts";

/** Shows the address to register in the cloud, and makes secrets. */
export function webhookTools(form: Form, texts: Texts): void {
  const address = $("<div>", { class: "dimensioner-note dimensioner-webhook-address" });
  const copy = button("clipboard", texts("button.copy")).addClass("dimensioner-copy");
  const said = $("<span>", { class: "dimensioner-note", role: "status" });
  form.field("path").closest(".dimensioner-field").append(address, copy, " ", said);
  form.follow(["path", "secretIn", "secret"], () => {
    address.text(texts("note.address", { address: addressOf(form, texts("secretPart")) }));
    said.text("");
  });
  copy.on("click", () => {
    const isCopied = copyText(addressOf(form, secretOf(form) ?? texts("secretPart")));
    said.text(texts(isCopied ? "button.copied" : "button.notCopied"));
  });

  const generate = button("random", texts("button.generate")).addClass("dimensioner-generate");
  const note = $("<div>", { class: "dimensioner-note", role: "status" });
  form.field("secret").closest(".dimensioner-field").append(generate, note);
  generate.on("click", () => {
    const secret = randomSecret();
    form.field("secret").val(secret).trigger("change");
    // The secret is stored encrypted and cannot be read again, so this is the moment to copy it.
    note.text(texts(copyText(secret) ? "button.generated" : "button.generatedOnly"));
  });
}

/** The webhook's address as far as the editor can know it: on the host by which the editor itself was opened. */
function addressOf(form: Form, secret: string): string {
  const root: unknown = Reflect.get(RED.settings, "httpNodeRoot");
  const last = form.value("secretIn") === "path" ? `/${secret}` : "";
  const path = `/${typeof root === "string" ? root : ""}/${trimSlashes(form.value("path"))}${last}`;
  return location.origin + path.replace(/\/{2,}/g, "/");
}

/** The secret in the field; one that is stored already is not known to the editor. */
function secretOf(form: Form): string | undefined {
  const secret = form.value("secret").trim();
  return secret === "" || secret === "__PWRD__" ? undefined : encodeURIComponent(secret);
}

/** 256 random bits as letters and digits, which are valid in a header and in a path. */
function randomSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Returns whether it worked: without HTTPS, browsers allow copying only in the old way. */
function copyText(text: string): boolean {
  const field = $("<textarea>").val(text).css({ position: "fixed", opacity: 0 }).appendTo("body");
  const before = document.activeElement;
  field.trigger("select");
  const isCopied = document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) {
    before.focus();
  }
  return isCopied;
}
