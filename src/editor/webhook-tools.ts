import { isPrivateHost } from "../rules/addresses.ts";
import { trimSlashes } from "../rules/names.ts";
import { button, type Form } from "./form.ts";
import { callAdmin, isRecord, sentenceOf } from "./admin.ts";
import { type Texts, sayValue } from "./texts.ts";

/** Shows the address to register in the cloud, and makes secrets. */
export function webhookTools(node: object, form: Form, texts: Texts): void {
  const address = $("<div>", { class: "dimensioner-note dimensioner-webhook-address" });
  const copy = button("clipboard", texts("button.copy")).addClass("dimensioner-copy");
  const said = $("<span>", { class: "dimensioner-note", role: "status" });
  const unreachable = $("<div>", { class: "dimensioner-note dimensioner-webhook-unreachable" });
  form.field("path").closest(".dimensioner-field").append(address, copy, " ", said, unreachable);
  unreachable.text(texts("note.unreachable", { host: location.hostname }));
  unreachable.toggle(isPrivateHost(location.hostname));
  form.follow(["path", "secretIn", "secret"], () => {
    address.text(texts("note.address", { address: addressOf(form, texts("secretPart")) }));
    said.text("");
  });
  showNext(node, form.field("path").closest(".dimensioner-field"), texts);
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

/**
 * Adds the button that shows what the cloud sends: the next record that the deployed node gets, or why it refuses a post. It may contain text
 * from anywhere, so it is inserted as text, never as HTML.
 */
function showNext(node: object, cell: JQuery, texts: Texts): void {
  const wait = button("hourglass-half", texts("wait.button")).addClass("dimensioner-wait");
  const answer = $("<div>", { class: "dimensioner-answer dimensioner-next", role: "status" });
  cell.append($("<div>").append(wait), answer);
  let running: JQueryXHR | undefined;
  const show = (state: "bad" | "busy" | "good" | "warning", text: string) => {
    answer.attr("data-state", state).empty().append($("<div>").text(text));
  };
  const ask = async () => {
    running?.abort();
    show("busy", texts("wait.waiting"));
    const id = encodeURIComponent(String(Reflect.get(node, "id")));
    const { request, answer: said } = callAdmin("GET", `dimensioner-transaction-in/${id}/next`);
    running = request;
    const post = await said;
    if (running !== request) {
      return;
    }
    const next = isRecord(post) ? post : {};
    if (next["said"] === "record") {
      show("good", texts("wait.record"));
      answer.append($("<pre>").text(JSON.stringify(next["record"], null, 2)));
    } else if (next["said"] === "refused") {
      const why = texts(`shared:status.${String(next["key"])}`);
      show("bad", next["problem"] === null ? why : `${why} (${sayValue(next["problem"])})`);
    } else if (next["said"] === "none") {
      show("warning", texts("wait.none"));
    } else {
      show("bad", next["said"] === "notDeployed" ? texts("wait.notDeployed") : sentenceOf(post));
    }
  };
  wait.on("click", () => void ask());
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
