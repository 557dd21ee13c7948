import { callAdmin, isRecord, sentenceOf } from "./admin.ts";
import { valuesOf } from "./connection-test.ts";
import type { Form } from "./form.ts";
import type { Texts } from "./texts.ts";
import { button as makeButton, rowAfter } from "./widgets.ts";

interface StoreFileOptions {
  /** The button is placed below this row. */
  readonly after: JQuery;
  readonly texts: Texts;
  /** The properties that say where the packages and the database are. */
  readonly properties: readonly string[];
}

/** Adds the button that saves the store file, with which command-line tools find this store; it contains no secrets. */
export function storeFile(node: object, form: Form, { after, texts, properties }: StoreFileOptions): void {
  const note = $("<div>", { class: "dimensioner-note", role: "status" }).text(texts("note.file"));
  const save = async () => {
    const { answer } = callAdmin("POST", "dimensioner-store/file", valuesOf(node, form, properties));
    const said = await answer;
    const file: unknown = isRecord(said) ? said["file"] : undefined;
    note.text(isRecord(file) ? texts("note.file") : sentenceOf(said));
    if (isRecord(file)) {
      download("store.json", `${JSON.stringify(file, undefined, 2)}\n`);
    }
  };
  const button = makeButton("download", texts("file")).addClass("dimensioner-store-file");
  rowAfter(after, button, note);
  button.on("click", () => void save());
}

function download(name: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: "application/json" }));
  $("<a>", { href: url, download: name })[0]?.click();
  URL.revokeObjectURL(url);
}
