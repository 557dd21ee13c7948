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

/** From the worst to the best. */
const states = ["bad", "unsure", "good"] as const;

type State = (typeof states)[number];

const signs = {
  busy: "fa-spinner fa-spin",
  good: "fa-check",
  unsure: "fa-question-circle",
  bad: "fa-times",
} as const;

/** One thing that the test has found out. */
interface Line {
  readonly state: State | "busy";
  readonly sentence: string;
  readonly facts?: readonly string[];
}

/** The button that tries the dialog's values, saved or not, from where Node-RED runs. */
export function connectionTest(node: object, form: Form, { type, after, properties, needed }: Tested): void {
  const button = makeButton("plug", shared("test.button")).addClass("dimensioner-test");
  const answerPlace = $("<div>", { class: "dimensioner-answer", role: "status" });
  const row = form.row(after);
  rowAfter(row.nextUntil(":not(.dimensioner-tip)").addBack().last(), button, answerPlace);
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
    show(linesOf(said));
  };

  form.follow(properties, clear);
  button.on("click", () => {
    // It keeps the focus while it is busy: a button that is disabled would lose it.
    if (running === undefined) {
      void test();
    }
  });
}

/** The lines of an answer; the runtime's answer is from outside, like that of a machine. */
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

function valueOf(form: Form, property: string): string | boolean {
  const value = form.value(property);
  return form.field(property).attr("type") === "checkbox" ? value === "true" : value;
}
