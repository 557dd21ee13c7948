import type { Form } from "./form.ts";
import type { Texts } from "./texts.ts";

/**
 * Adds a field in which people try what the settings of a dialog do, and a place for the answer below it. Both stand behind the
 * group of the property `behind`.
 */
export function addTrialField(
  form: Form,
  texts: Texts,
  { id, behind, label }: { id: string; behind: string; label: string },
): { input: JQuery; answer: JQuery } {
  const input = $("<input>", { type: "text", id }).attr({ autocomplete: "off", spellcheck: "false" });
  const answer = $("<div>", { class: "dimensioner-answer dimensioner-trial", role: "status" });
  const icon = $("<i>", { class: "fa fa-flask", "aria-hidden": "true" });
  const row = $("<div>", { class: "form-row" }).append(
    $("<label>", { for: id }).append(icon, " ", $("<span>").text(texts(label))),
    $("<div>", { class: "dimensioner-field" }).append(
      input,
      answer,
      $("<div>", { class: "dimensioner-note" }).text(texts("trial.note")),
    ),
  );
  const legend = $("<legend>").text(texts("trial.legend"));
  form.row(behind).closest("fieldset").after($("<fieldset>").append(legend, row));
  return { input, answer };
}
