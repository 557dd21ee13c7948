import { callAdmin, isRecord, sentenceOf } from "./admin.ts";
import { type Form, button as makeButton, rowAfter } from "./form.ts";
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

/** Says which node goes before this one, and offers the examples, which are whole flows. */
export function offerExamples(form: Form, texts: Texts): void {
  const note = $("<div>", { class: "dimensioner-note" }).text(texts("before.note"));
  const open = makeButton("download", texts("before.button")).addClass("dimensioner-examples");
  rowAfter(form.row("name"), note, open);
  open.on("click", () => {
    // The editor imports nothing while a dialog is open.
    const show = (): void => {
      RED.events.off("editor:close", show);
      RED.actions.invoke("core:show-examples-import-dialog");
    };
    RED.events.on("editor:close", show);
    $("#node-dialog-ok").trigger("click");
  });
}

/** The properties of the dialog on which the reading of a scan depends. */
const settings = [
  "which",
  "ai",
  "pattern",
  "symbologies",
  "invalid",
  "controls",
  "noReads",
  "addressee",
  "separator",
];

/**
 * Adds the field into which people type or scan a code to see how the runtime's parser reads it. The result may contain
 * text from anywhere, so it is inserted as text, never as HTML.
 */
export function tryScan(form: Form, texts: Texts): void {
  const { input, answer } = addTrialField(form, texts, {
    id: "dimensioner-scan-trial",
    behind: "dedupe",
    label: "trial.label",
  });
  input.attr("placeholder", texts("trial.placeholder"));
  const button = makeButton("search", texts("trial.button")).addClass("dimensioner-try").insertAfter(input);

  let running: JQueryXHR | undefined;
  const clear = () => {
    running?.abort();
    running = undefined;
    answer.removeAttr("data-state").empty();
  };
  const read = async () => {
    clear();
    const values = settings.map((name): [string, string] => [name, form.value(name)]);
    const scan = String(input.val() ?? "");
    const { request, answer: said } = callAdmin("POST", "dimensioner-scan/try", {
      ...Object.fromEntries<string>(values),
      scan,
    });
    running = request;
    const trial = await said;
    if (running === request) {
      running = undefined;
      show(answer, trial, texts);
    }
  };
  form.follow(settings, clear);
  button.on("click", () => void read());
  input.on("keydown", (event) => {
    // A scanner that types like a keyboard ends with one of these keys, which would close the dialog or move the focus.
    if (event.key === "Enter" || (event.key === "Tab" && !event.shiftKey && String(input.val()) !== "")) {
      event.preventDefault();
      event.stopPropagation();
      void read();
      input.trigger("select");
    }
  });
}

function show(answer: JQuery, trial: unknown, texts: Texts): void {
  const { scan, reference, control, error }: Record<string, unknown> = isRecord(trial) ? trial : {};
  if (!isRecord(scan)) {
    answer.attr("data-state", "bad").append($("<span>").text(sentenceOf(trial)));
    return;
  }
  const result =
    typeof control === "string"
      ? texts("trial.control", { control })
      : typeof reference === "string"
        ? texts("trial.reference", { reference })
        : sentenceOf(error);
  answer.attr("data-state", error === undefined ? "good" : "bad").append($("<strong>").text(result));
  const lines = [symbologyLine(scan, texts), ...elementLines(scan, texts), ...carrierLines(scan, texts)];
  answer.append($("<ul>").append(...lines.map((line) => $("<li>").text(line))));
}

function symbologyLine({ symbology, aim }: Record<string, unknown>, texts: Texts): string {
  return typeof symbology === "string" && typeof aim === "string"
    ? texts("trial.symbology", { symbology, aim })
    : texts("trial.noAim");
}

function elementLines({ elements }: Record<string, unknown>, texts: Texts): string[] {
  return recordsIn(elements).map(({ ai, di, title, value, decoded, checked, problem }) => {
    const id = typeof ai === "string" ? ai : di;
    const name = [typeof id === "string" ? `(${id})` : typeof title === "string" ? null : "(?)", title]
      .filter((one) => typeof one === "string")
      .join(" ");
    const known = typeof decoded === "number" || typeof decoded === "string" ? ` = ${decoded}` : "";
    const mark =
      checked === true ? "✓" : checked === false ? `✗ ${texts(`problem.${String(problem)}`)}` : "?";
    return `${name}: ${String(value)}${known} ${mark}`;
  });
}

function carrierLines({ carriers }: Record<string, unknown>, texts: Texts): string[] {
  return recordsIn(carriers).map(({ carrier, service, number, checkDigit }) => {
    const name = String(service);
    return texts("trial.carrier", {
      carrier: name.startsWith(String(carrier)) ? name : `${String(carrier)}, ${name}`,
      number: String(number),
      mark: checkDigit === true ? "✓" : checkDigit === false ? `✗ ${texts("problem.checkDigit")}` : "–",
    });
  });
}

function recordsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
