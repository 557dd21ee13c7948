import type { WidgetTypedInputType } from "@node-red/editor-client";
import type { Form } from "./form.ts";
import { shared } from "./texts.ts";

/** Where a value that a message may give can come from. */
export const valueTypes = ["msg", "flow", "global", "str", "jsonata", "env"] as const;

/** Where an archive's root can come from: never from a message. */
export const folderTypes = ["str", "env", "flow", "global"] as const;

/** Turns a property's field into a typed input; its type is saved in `<property>Type`. */
export function typedInput(
  form: Form,
  property: string,
  defaultType: string,
  types: readonly WidgetTypedInputType[] = valueTypes,
): void {
  const input = form.field(property);
  input.typedInput({ default: defaultType, types: [...types], typeField: form.field(`${property}Type`) });
  nameForReaders(input);
}

/** Turns a field into one that holds the name of a message property. */
export function messagePropertyInput(form: Form, property: string): void {
  const input = form.field(property);
  input.typedInput({ types: ["msg"] });
  nameForReaders(input);
}

/** The widget hides the field that the label names, and its icon buttons have no name: both are mended here. */
function nameForReaders(input: JQuery): void {
  const id = input.attr("id") ?? "";
  const container = input.next(".red-ui-typedInput-container");
  const label = $(`label[for="${id}"]`).attr("for", `${id}-value`);
  container.find(".red-ui-typedInput-input").attr("id", `${id}-value`);
  const trigger = container.find(".red-ui-typedInput-type-select");
  const name = shared("reader.type", { label: label.text().trim() });
  // With the type that it shows, which a name given by us would hide.
  const tell = () => trigger.attr("aria-label", `${name}, ${trigger.attr("title") ?? ""}`);
  input.on("change", tell);
  tell();
  container.find(".red-ui-typedInput-option-trigger").attr("aria-label", shared("reader.store"));
  container.find(".red-ui-typedInput-option-expand").attr("aria-label", shared("reader.expand"));
}
