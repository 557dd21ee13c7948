import type { Form } from "./form.ts";
import { typedInput } from "./typed-input.ts";

const references = [
  "transactionReference",
  "customReference1",
  "customReference2",
  "customReference3",
] as const;

type ReferenceDefaults = Readonly<Record<`${(typeof references)[number]}Type`, string>>;

/** The rows of the references that a device keeps with what it does. */
export function referencesGroup(form: Form, defaults: ReferenceDefaults): void {
  for (const reference of references) {
    typedInput(form, reference, defaults[`${reference}Type`]);
  }
}

/** Shows the whole group, or hides it. */
export function showReferences(form: Form, visible: boolean): void {
  form.field(references[0]).closest("fieldset").toggle(visible);
}
