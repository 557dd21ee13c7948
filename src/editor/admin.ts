import { button as makeButton, rowAfter, type Form } from "./form.ts";
import { shared, sharedSentence, type Texts } from "./texts.ts";

/** A request to the admin API of this package. `answer` never rejects; it is undefined if there was no response. */
interface AdminCall {
  readonly request: JQueryXHR;
  readonly answer: Promise<unknown>;
}

/** The path has no leading slash, so that the editor adds its own root path and the login. */
export function callAdmin(method: "GET" | "POST", path: string, body?: object): AdminCall {
  const request = $.ajax(path, {
    method,
    dataType: "json",
    ...(body === undefined ? {} : { contentType: "application/json", data: JSON.stringify(body) }),
  });
  const answer = new Promise<unknown>((resolve) => {
    request.then(
      (said: unknown) => resolve(said),
      () => resolve(undefined),
    );
  });
  return { request, answer };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/**
 * The sentence that a response names, in the editor's language. It may quote a device, so it is inserted as text, never
 * as HTML.
 */
export function sentenceOf(answer: unknown): string {
  const { from, key, values } = isRecord(answer) ? answer : {};
  if (typeof key !== "string" || !isRecord(values)) {
    return sharedSentence("test", "noAnswer", {});
  }
  return sharedSentence(from === "errors" ? "errors" : "test", key, values);
}

/** What the test of a config node needs, by the names of saved properties. */
interface TestOptions {
  readonly type: "dimensioner-device" | "dimensioner-cloud" | "dimensioner-store";
  /** The button is placed below the row of this property and its tips. */
  readonly after: string;
  /** Sent with their values in the dialog; the result of a test is cleared when one of them changes. */
  readonly properties: readonly string[];
  /** The test is not started while one of these properties is not valid. */
  readonly needed: readonly string[];
}

/** In order, the worst first. */
const states = ["bad", "warning", "good"] as const;

type State = (typeof states)[number];

const signs = {
  busy: "fa-spinner fa-spin",
  good: "fa-check",
  warning: "fa-question-circle",
  bad: "fa-times",
} as const;

/** One result of the test. */
interface Line {
  readonly state: State | "busy";
  readonly sentence: string;
  readonly facts?: readonly string[];
}

/** Adds the button that tests the dialog's values, saved or not, from the computer that runs Node-RED, and returns its row. */
export function connectionTest(
  node: object,
  form: Form,
  { type, after, properties, needed }: TestOptions,
): JQuery {
  const button = makeButton("plug", shared("test.button")).addClass("dimensioner-test");
  const answerPlace = $("<div>", { class: "dimensioner-answer", role: "status" });
  const row = form.row(after);
  const ownRow = rowAfter(row.nextUntil(":not(.dimensioner-tip)").addBack().last(), button, answerPlace);
  let running: JQueryXHR | undefined;

  const show = (lines: readonly Line[]) => {
    const isBusy = lines.some(({ state }) => state === "busy");
    const worst = states.find((state) => lines.some((line) => line.state === state));
    answerPlace
      .attr("data-state", isBusy ? "busy" : (worst ?? "bad"))
      .empty()
      .append(...lines.map(lineElement));
    button.attr("aria-disabled", isBusy ? "true" : null);
  };
  const clear = () => {
    running?.abort();
    running = undefined;
    answerPlace.removeAttr("data-state").empty();
    button.attr("aria-disabled", null);
  };
  const test = async () => {
    const problem = needed.map((property) => form.problem(property)).find((one) => one !== "");
    if (problem !== undefined) {
      show([{ state: "bad", sentence: problem }]);
      return;
    }
    show([{ state: "busy", sentence: shared("test.busy") }]);
    const { request, answer } = callAdmin("POST", `${type}/test`, valuesOf(node, form, properties));
    running = request;
    const said = await answer;
    // Another test was started, or a value was changed.
    if (running !== request) {
      return;
    }
    running = undefined;
    show(linesOf(said));
  };

  form.follow(properties, clear);
  button.on("click", () => {
    // The button keeps the focus while it is busy, which a disabled button would lose.
    if (running === undefined) {
      void test();
    }
  });
  return ownRow;
}

/** The lines of a response. The response is checked like any other data from outside. */
function linesOf(said: unknown): readonly Line[] {
  const lines: unknown = isRecord(said) ? said["lines"] : undefined;
  return (Array.isArray(lines) ? lines : [undefined]).map((line: unknown): Line => {
    const { state, facts }: Record<string, unknown> = isRecord(line) ? line : {};
    return {
      state: states.find((one) => one === state) ?? "bad",
      sentence: sentenceOf(line),
      facts: Array.isArray(facts) ? facts.map(String) : [],
    };
  });
}

function lineElement({ state, sentence, facts = [] }: Line): JQuery {
  const sign = $("<i>", { class: `fa ${signs[state]}`, "aria-hidden": "true" });
  const element = $("<div>", { class: "dimensioner-answer-line", "data-state": state });
  element.append(sign, $("<span>").text(sentence));
  if (facts.length > 0) {
    element.append($("<div>", { class: "dimensioner-note" }).text(facts.join(", ")));
  }
  return element;
}

/** What the dialog contains, as the admin routes take it. */
function valuesOf(node: object, form: Form, properties: readonly string[]): object {
  const { id, z } = node as { id: string; z?: string };
  const values = properties.map((property): [string, string | boolean] => [
    property,
    valueOf(form, property),
  ]);
  return { id, z: z ?? "", ...Object.fromEntries<string | boolean>(values) };
}

function valueOf(form: Form, property: string): string | boolean {
  const value = form.value(property);
  return form.field(property).attr("type") === "checkbox" ? value === "true" : value;
}

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
