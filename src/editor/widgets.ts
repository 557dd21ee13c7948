import { valueTypes, type TypedProperty } from "../properties/property-table.ts";
import { shared } from "./texts.ts";

/** Turns a property's field into a typed input; its type is saved in `typeField`. */
export function typedInput(
  input: JQuery,
  { type, types = valueTypes }: TypedProperty,
  typeField: JQuery,
): void {
  input.typedInput({ default: type, types: [...types], typeField });
  nameForScreenReaders(input);
}

/** Turns a field into one that holds the name of a message property. */
export function messagePropertyInput(input: JQuery): void {
  input.typedInput({ types: ["msg"] });
  nameForScreenReaders(input);
}

/**
 * The widget hides the field that the label refers to, and its icon buttons have no accessible name; this corrects
 * both.
 */
function nameForScreenReaders(input: JQuery): void {
  const id = input.attr("id") ?? "";
  const container = input.next(".red-ui-typedInput-container");
  const label = $(`label[for="${id}"]`).attr("for", `${id}-value`);
  container.find(".red-ui-typedInput-input").attr("id", `${id}-value`);
  const trigger = container.find(".red-ui-typedInput-type-select");
  const name = shared("reader.type", { label: label.text().trim() });
  // Including the selected type, which a name of our own would hide.
  const tell = () => trigger.attr("aria-label", `${name}, ${trigger.attr("title") ?? ""}`);
  input.on("change", tell);
  tell();
  container.find(".red-ui-typedInput-option-trigger").attr("aria-label", shared("reader.store"));
  container.find(".red-ui-typedInput-option-expand").attr("aria-label", shared("reader.expand"));
}

/**
 * The editor's buttons beside the select of a config node are links without an address, which a keyboard cannot reach.
 */
export function makeKeyboardAccessible(select: JQuery): void {
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

/** A button with an icon, in the editor's style. */
export function button(icon: string, text: string): JQuery {
  return $("<button>", { type: "button", class: "red-ui-button" }).append(
    $("<i>", { class: `fa fa-${icon}`, "aria-hidden": "true" }),
    " ",
    $("<span>").text(text),
  );
}

/** Adds a row without a label behind another one. */
export function rowAfter(row: JQuery, ...content: JQuery[]): JQuery {
  const cell = $("<div>", { class: "dimensioner-field" }).append(...content);
  return $("<div>", { class: "form-row" })
    .append($("<div>", { class: "dimensioner-spacer" }), cell)
    .insertAfter(row);
}

/**
 * Shows a comma-separated list of choices as check boxes. The text field stays where it is, hidden, and is what is
 * saved.
 */
export function checkBoxes(
  field: JQuery,
  choices: readonly (readonly [value: string, text: string])[],
): void {
  const isChosen = (value: string) =>
    String(field.val() ?? "")
      .split(",")
      .map((one) => one.trim())
      .includes(value);
  const label = $(`label[for="${field.attr("id") ?? ""}"]`)
    .text()
    .trim();
  const boxes = choices.map(([value, text]) => ({
    value,
    box: $("<input>", { type: "checkbox" }).prop("checked", isChosen(value)),
    text,
  }));
  const group = $("<div>", { role: "group", "aria-label": label }).append(
    ...boxes.map(({ box, text }) =>
      $("<label>", { class: "dimensioner-check" }).append(box, " ", $("<span>").text(text)),
    ),
  );
  field.hide().before(group);
  group.on("change", () => {
    const chosen = boxes.filter(({ box }) => box.prop("checked") === true).map(({ value }) => value);
    field.val(chosen.join(",")).trigger("change");
  });
}
