import {
  defaultsOf,
  newValuesOf,
  valueTypes,
  type PropertyTable,
  type TypedProperty,
} from "../properties/property-table.ts";
import { readFlag } from "../rules/flags.ts";
import { fieldsOf, matters, type Fields } from "./fields.ts";
import { shared } from "./texts.ts";

/** Turns a property's field into a typed input; its type is saved in `typeField`. */
function typedInput(input: JQuery, { type, types = valueTypes }: TypedProperty, typeField: JQuery): void {
  input.typedInput({ default: type, types: [...types], typeField });
  nameForScreenReaders(input);
}

/** Turns a field into one that holds the name of a message property. */
function messagePropertyInput(input: JQuery): void {
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
function makeKeyboardAccessible(select: JQuery): void {
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

/** One open edit dialog. */
export interface Form {
  /** The field of a saved property: an input of Node-RED, or the select of a config node. */
  field(property: string): JQuery;
  /** The field's present value, as it would be saved. */
  value(property: string): string;
  /** The row of a property. */
  row(property: string): JQuery;
  /** Runs `act` now and whenever one of these fields changes. */
  follow(properties: readonly string[], act: () => void): void;
  /** Why the field's present value is not valid; "" if it is. */
  problem(property: string): string;
}

const dialogs = {
  node: { form: "#dialog-form", prefix: "#node-input-" },
  config: { form: "#node-config-dialog-edit-form", prefix: "#node-config-input-" },
} as const;

interface Edited {
  readonly id: string;
  readonly _def: { readonly category: string };
}

function dialogOf(node: object): (typeof dialogs)[keyof typeof dialogs] {
  return dialogs[(node as Edited)._def.category === "config" ? "config" : "node"];
}

/** The saved properties of a type, validated with the values of the open dialog or the saved ones. */
export function formFields(type: string, table: PropertyTable): Fields {
  const defaults: Readonly<Record<string, unknown>> = defaultsOf(table);
  return fieldsOf(type, table, (node, property) => currentValue(node, property, defaults));
}

/** The dialog that was just opened for this node; to be called in `oneditprepare`. */
export function openForm(node: object, { table, check }: Fields): Form {
  const { form: dialog, prefix } = dialogOf(node);
  $(dialog).data("dimensionerNode", (node as Edited).id);
  // The editor does the same later, but the names for screen readers are made of the labels' texts.
  $(dialog).i18n();
  const field = (property: string) => $(prefix + property);
  const form: Form = {
    field,
    value: (property) => fieldValue(field(property)),
    row: (property) => field(property).closest(".form-row"),
    follow(properties, act) {
      for (const property of properties) {
        // As soon as something is typed or pasted: what moves when the field is left moves under the pointer.
        field(property).on("change input", act);
      }
      act();
    },
    problem(property) {
      const verdict = check(node, property, form.value(property));
      return verdict === true ? "" : verdict;
    },
  };
  showDefaults(node, form, table);
  for (const [name, property] of Object.entries(table)) {
    if (property.kind === "typed") {
      typedInput(field(name), property, field(`${name}Type`));
    } else if (property.kind === "nameFrom") {
      messagePropertyInput(field(name));
    } else if (property.kind === "config") {
      makeKeyboardAccessible(field(name));
    }
  }
  followConditions(form, table);
  followTips(form, table);
  foldAdvanced(form, table);
  explainProblems(form, table);
  return form;
}

/** Shows the default of a property that an imported flow does not have, because the runtime uses it. */
function showDefaults(node: object, form: Form, table: PropertyTable): void {
  for (const [property, value] of Object.entries(defaultsOf(table))) {
    const saved: unknown = Reflect.get(node, property);
    if (typeof value === "boolean") {
      showFlag(form.field(property), saved, value);
    } else if (saved === undefined) {
      form.field(property).val(String(value));
    }
  }
}

/**
 * Shows a check box as the runtime reads it. A value that is neither true nor false, such as the name of an environment
 * variable, is shown as text: of a check box the editor would save true instead of it.
 */
function showFlag(field: JQuery, saved: unknown, byDefault: boolean): void {
  const read = readFlag(saved);
  if (read === undefined) {
    field.attr("type", "text").val(typeof saved === "string" ? saved : JSON.stringify(saved));
  } else {
    field.prop("checked", read ?? byDefault);
  }
}

/** Shows a row only while its property is used, and a group or the section of advanced settings only while it has rows. */
function followConditions(form: Form, table: PropertyTable): void {
  for (const [name, property] of Object.entries(table)) {
    if (property.when !== undefined && property.kind !== "outputs") {
      form.follow(Object.keys(property.when), () => {
        const row = form.row(name).toggle(matters(property, form.value));
        const frame = row.closest("fieldset, details");
        const isShown = frame
          .children(".form-row")
          .toArray()
          .some(({ style }) => style.display !== "none");
        frame.toggle(isShown);
      });
    }
  }
}

/** Shows the tip of the selected choice. */
function followTips(form: Form, table: PropertyTable): void {
  for (const [name, property] of Object.entries(table)) {
    if (property.kind === "choice" && property.tips !== undefined) {
      const tips = form.row(name).nextUntil(":not(.dimensioner-tip)");
      form.follow([name], () => {
        tips
          .hide()
          .filter(`[data-choice="${form.value(name)}"]`)
          .show();
      });
    }
  }
}

/**
 * Opens the section if one of its properties is set. The note about a message property is shown only when it is given.
 */
function foldAdvanced(form: Form, table: PropertyTable): void {
  const fresh = newValuesOf(table);
  for (const [name, { kind, isAdvanced }] of Object.entries(table)) {
    if (isAdvanced) {
      const isSet = form.value(name) !== String(fresh[name]);
      const fold = form.field(name).closest("details");
      fold.prop("open", fold.prop("open") === true || isSet);
    }
    if (kind === "nameFrom") {
      const note = form.field(name).siblings(".dimensioner-note");
      form.follow([name], () => note.toggle(form.value(name) !== ""));
    }
  }
}

/**
 * Shows below each invalid field what is wrong with it. The editor itself shows that only in a tooltip, which neither a
 * keyboard nor a screen reader reaches, and on typed inputs not even the mouse.
 */
function explainProblems(form: Form, table: PropertyTable): void {
  const names = Object.keys(table).filter((name) => form.field(name).length > 0);
  const explain = () => {
    for (const name of names) {
      tell(form.field(name), form.problem(name));
    }
  };
  // Follows also the types of typed values, and the choices that other properties depend on.
  const types = names.map((name) => `${name}Type`).filter((name) => form.field(name).length > 0);
  form.follow([...names, ...types], explain);
}

function tell(field: JQuery, problem: string): void {
  const id = `${field.attr("id") ?? ""}-problem`;
  const cell = field.closest(".dimensioner-field");
  let line = cell.children(".dimensioner-problem");
  if (line.length === 0) {
    line = $("<div>", { id, class: "dimensioner-problem", role: "status" }).appendTo(cell);
  }
  if (line.text() !== problem) {
    line.text(problem);
  }
  line.toggle(problem !== "");
  if (problem !== "") {
    cell.closest("details").prop("open", true);
  }
  const visible = cell.find("input:not([type=hidden]), select").first();
  visible.attr("aria-invalid", problem === "" ? null : "true");
  visible.attr("aria-describedby", problem === "" ? null : id);
}

/**
 * The present value of a property: the dialog's field while this node is being edited, else the saved value. The editor
 * also validates other nodes while a dialog is open, and their fields have the same ids.
 */
export function currentValue(
  node: object,
  property: string,
  defaults: Readonly<Record<string, unknown>>,
): string {
  const { form, prefix } = dialogOf(node);
  const input = $(prefix + property);
  if (input.length > 0 && $(form).data("dimensionerNode") === (node as Edited).id) {
    return fieldValue(input);
  }
  const saved: unknown = Reflect.get(node, property) ?? defaults[property];
  return typeof saved === "string" ? saved : (JSON.stringify(saved) ?? "");
}

/** A node's saved properties, with defaults for those that an imported flow does not have. */
export function settingsOf<P extends object>(node: object, defaults: P): P {
  const saved = Object.keys(defaults)
    .map((property): [string, unknown] => [property, Reflect.get(node, property)])
    .filter(([, value]) => value !== undefined && value !== null);
  return Object.assign({ ...defaults }, Object.fromEntries<unknown>(saved));
}

function fieldValue(input: JQuery): string {
  if (input.attr("type") === "checkbox") {
    return String(input.prop("checked"));
  }
  const value = String(input.val() ?? "");
  // The editor's value for "no config node selected".
  return value === "_ADD_" ? "" : value;
}

/**
 * Gives the node a second output while its choices say so. A choice that is blank in the dialog is saved as something else, such as the
 * name of an environment variable. What that chooses is not known here, so the outputs stay as they are, with their wires.
 */
export function followOutputs(form: Form, choices: readonly string[], hasSecond: () => boolean): void {
  form.follow(choices, () => {
    if (choices.every((choice) => form.value(choice) !== "")) {
      form.field("outputs").val(hasSecond() ? "2" : "1");
    }
  });
}
