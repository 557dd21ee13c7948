import type { Form } from "./form.ts";
import { shared } from "./texts.ts";
import { folderTypes, typedInput } from "./typed-input.ts";

interface OutputDefaults {
  readonly folderType: string;
  readonly filenameType: string;
}

/** The rows that say where what was fetched goes: into the message, or into a file. */
export function outputGroup(form: Form, defaults: OutputDefaults): void {
  typedInput(form, "folder", defaults.folderType, folderTypes);
  typedInput(form, "filename", defaults.filenameType);
  form.follow(["output"], () => {
    form.show(["folder", "filename", "ifExists"], form.value("output") === "file");
  });
}

/** What the output carries, for the label of its port. */
export function outputLabel(output: string): string {
  return shared(output === "file" ? "port.file" : "port.buffer");
}
