import type { Form } from "./form.ts";

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
