import { askRuntime, isRecord, sentenceOf } from "./admin.ts";
import type { Form } from "./form.ts";
import { shared } from "./texts.ts";
import { button as makeButton, rowAfter } from "./widgets.ts";

/** What of a config node its test needs, by the names of the saved properties. */
interface Tested {
  readonly type: "dimensioner-device" | "dimensioner-cloud" | "dimensioner-store";
  /** The property behind whose row, and its tips, the button stands. */
  readonly after: string;
  /** Sent as they stand in the dialog; a change of one makes an answer out of date. */
  readonly properties: readonly string[];
  /** A test makes no sense while one of these is wrong. */
  readonly needed: readonly string[];
}

const signs: Readonly<Record<string, string>> = {
  busy: "fa-spinner fa-spin",
  good: "fa-check",
  unsure: "fa-question-circle",
  bad: "fa-times",
};

/** The button that tries the dialog's values, saved or not, from where Node-RED runs. */
export function connectionTest(node: object, form: Form, { type, after, properties, needed }: Tested): void {
  const button = makeButton("plug", shared("test.button")).addClass("dimensioner-test");
  const line = $("<div>", { class: "dimensioner-answer", role: "status" });
  const row = form.row(after);
  rowAfter(row.nextUntil(":not(.dimensioner-tip)").addBack().last(), button, line);
  let running: JQueryXHR | undefined;

  const show = (state: string, sentence: string, facts: readonly string[] = []) => {
    const sign = $("<i>", { class: `fa ${signs[state] ?? ""}`, "aria-hidden": "true" });
    line.attr("data-state", state).empty().append(sign, $("<span>").text(sentence));
    if (facts.length > 0) {
      line.append($("<div>", { class: "dimensioner-note" }).text(facts.join(", ")));
    }
    button.attr("aria-disabled", state === "busy" ? "true" : null);
  };
  const clear = () => {
    running?.abort();
    running = undefined;
    line.removeAttr("data-state").empty();
    button.attr("aria-disabled", null);
  };
  const test = async () => {
    const problem = needed.map((property) => form.problem(property)).find((one) => one !== "");
    if (problem !== undefined) {
      show("bad", problem);
      return;
    }
    show("busy", shared("test.busy"));
    const { id, z } = node as { id: string; z?: string };
    const values = properties.map((property): [string, string | boolean] => [
      property,
      valueOf(form, property),
    ]);
    const body = { id, z: z ?? "", ...Object.fromEntries<string | boolean>(values) };
    const { request, answer } = askRuntime("POST", `${type}/test`, body);
    running = request;
    const said = await answer;
    // Another test or a change has made it out of date.
    if (running !== request) {
      return;
    }
    running = undefined;
    const { state, facts }: Record<string, unknown> = isRecord(said) ? said : {};
    show(
      typeof state === "string" && state in signs ? state : "bad",
      sentenceOf(said),
      Array.isArray(facts) ? facts.map(String) : [],
    );
  };

  form.follow(properties, clear);
  button.on("click", () => {
    // It keeps the focus while it is busy: a button that is disabled would lose it.
    if (running === undefined) {
      void test();
    }
  });
}

function valueOf(form: Form, property: string): string | boolean {
  const value = form.value(property);
  return form.field(property).attr("type") === "checkbox" ? value === "true" : value;
}
