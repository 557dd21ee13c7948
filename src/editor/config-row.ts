import type { Form } from "./form.ts";
import { shared } from "./texts.ts";
import { messagePropertyInput } from "./typed-input.ts";

/** The rows that choose a config node, or the message property that names one. */
export function configRows(form: Form, property: string, from: string): void {
  messagePropertyInput(form, from);
  form.follow([from], () => {
    form
      .field(from)
      .siblings(".dimensioner-note")
      .toggle(form.value(from) !== "");
  });
  reachableByKeyboard(form, property);
}

/** The editor's own buttons beside a config node's select are links without an address, out of a keyboard's reach. */
export function reachableByKeyboard(form: Form, property: string): void {
  const select = form.field(property);
  const buttons = select.siblings("a.red-ui-button");
  const label = $(`label[for="${select.attr("id") ?? ""}"]`)
    .text()
    .trim();
  buttons.filter("[id*=-edit]").attr("aria-label", shared("reader.edit", { label }));
  buttons.filter("[id*=-add]").attr("aria-label", shared("reader.add", { label }));
  buttons.attr({ role: "button", tabindex: "0" }).on("keydown", function (event) {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      $(this).trigger("click");
    }
  });
}
