import {
  type CheckedLimit,
  type Parcel,
  type Words,
  calculate,
  explain,
  readLimits,
  unitOf,
} from "../billing/tariffs/calculate.ts";
import { readParcelText } from "../billing/tariffs/parcel-text.ts";
import { type DatedRule, presetNames, presets, ruleOn, surchargesOn } from "../billing/tariffs/presets.ts";
import {
  type WeightLimit,
  type WeightRule,
  ruleUnits,
  sideRoundings,
  toNumber,
} from "../billing/tariffs/rule.ts";
import { dayHere } from "../rules/instants.ts";
import { type Form, button as makeButton } from "./form.ts";
import type { Texts } from "./texts.ts";
import { addTrialField } from "./try-scan.ts";

/** The properties of a custom rule. */
const own = ["unit", "divisor", "sideRounding", "productRounding", "threshold", "minimum"] as const;

/** The sample parcel for a rule: in its units, and large enough for its size to count. */
function sampleFor({ unit, threshold }: WeightRule): string {
  if (unit === "cm-kg") {
    return "40 × 30 × 20 cm, 2 kg";
  }
  return Number(threshold) > 0 ? "18.4 × 12 × 9.1 in, 3.2 lb" : "11.1 × 8.5 × 6.2 in, 2 lb";
}

/**
 * Shows the billable weight of a sample parcel by the chosen rule, and the rule's source, and updates both with every
 * change in the dialog. Another parcel can be typed in. A rule of the table can be copied into the fields of the custom
 * rule.
 */
export function tryWeightRule(form: Form, texts: Texts): void {
  const { input, answer } = addTrialField(form, texts, {
    id: "dimensioner-weight-trial",
    behind: "minimum",
    label: "trial.parcel",
  });
  const copy = makeButton("pencil", texts("trial.copy")).addClass("dimensioner-copy").insertAfter(answer);

  let sample = "";
  const show = () => {
    const rules = rulesIn(form);
    const [first] = rules;
    // Only as long as nobody has typed in another parcel.
    if (input.val() === sample && first !== undefined) {
      sample = sampleFor(first.rule);
      input.val(sample);
    }
    copy.toggle(rules.length === 1 && form.value("preset") !== "own");
    const lines = linesOf(String(input.val()), rules, form, texts);
    answer.empty().append($("<ul>").append(...lines.map((line) => $("<li>").text(line))));
  };
  input.val("").on("input", show);
  form.follow(["preset", "weight", "extras", ...own], show);
  copy.on("click", () => {
    const [first] = rulesIn(form);
    if (first !== undefined) {
      for (const name of own) {
        form.field(name).val(first.rule[name]);
      }
      form.field("preset").val("own").trigger("change").trigger("focus");
    }
  });
}

/** A rule as the dialog shows it: one of the table with its carrier, or the custom one. */
interface Shown {
  readonly rule: WeightRule;
  readonly dated?: DatedRule;
  /** The carrier's rules for measurements of earlier days, the newest first. */
  readonly earlier?: readonly DatedRule[];
  readonly carrier?: string;
  readonly limits: readonly WeightLimit[];
}

/**
 * The rules that apply today: the selected one, or all if the message selects it; none if the custom rule is incomplete.
 */
function rulesIn(form: Form): Shown[] {
  const preset = form.value("preset");
  if (preset === "own") {
    const rule = ownRule(form);
    return rule === null ? [] : [{ rule, limits: [] }];
  }
  const today = dayHere(new Date());
  return presetNames
    .filter((name) => preset === "msg" || name === preset)
    .flatMap((name) => {
      const dated = ruleOn(presets[name], today);
      if (dated === undefined) {
        return [];
      }
      const { rules } = presets[name];
      const limits = surchargesOn(presets[name], today)?.limits ?? [];
      return [{ rule: dated, dated, earlier: rules.slice(rules.indexOf(dated) + 1), carrier: name, limits }];
    });
}

function ownRule(form: Form): WeightRule | null {
  const unit = form.value("unit") === "in-lb" ? "in-lb" : "cm-kg";
  const sideRounding = sideRoundings.find((one) => one === form.value("sideRounding"));
  if (sideRounding === undefined || own.some((name) => form.problem(name) !== "")) {
    return null;
  }
  const numberIn = (name: string, blank: string) => String(Number(form.value(name).trim() || blank));
  return {
    unit,
    sideRounding,
    divisor: numberIn("divisor", "5000"),
    productRounding: numberIn("productRounding", "0.5"),
    threshold: numberIn("threshold", "0"),
    minimum: numberIn("minimum", "0"),
  };
}

function linesOf(text: string, rules: readonly Shown[], form: Form, texts: Texts): string[] {
  const parcel = readParcelText(text);
  if (parcel === null) {
    return [texts("trial.unreadable")];
  }
  const weighed: Parcel = form.value("weight") === "none" ? { ...parcel, weight: null } : parcel;
  const read = readLimits(form.value("extras"));
  const extras = "limits" in read ? read.limits : [];
  return rules.flatMap(({ rule, dated, earlier = [], carrier, limits }) => {
    const calculation = calculate(weighed, rule, [...limits, ...extras]);
    const isBilled = calculation.billed !== null;
    const explanation = isBilled ? explain(calculation, wordsOf(texts)) : texts("trial.nothing");
    const over = calculation.checked.filter(({ isOver }) => isOver === true);
    const name = carrier !== undefined && rules.length > 1 ? `${texts(`preset.${carrier}`)}: ` : "";
    const isOnly = rules.length === 1 && dated !== undefined;
    return [
      `${name}${explanation}`,
      ...over.map((one) => overLine(one, texts)),
      ...(isOnly ? originOf(dated, texts) : []),
      ...(isOnly ? earlierLines(weighed, earlier, dated, texts) : []),
    ];
  });
}

function overLine({ limit, value }: CheckedLimit, texts: Texts): string {
  const number = numbers();
  return texts("trial.over", {
    name: limit.name,
    value: `${value === null ? "" : number(toNumber(value))} ${unitOf(limit)}`,
    limit: `${number(Number(limit.limit))} ${unitOf(limit)}`,
  });
}

/** What the rules for measurements of earlier days make of the parcel, each until the day of the next one. */
function earlierLines(
  parcel: Parcel,
  earlier: readonly DatedRule[],
  current: DatedRule,
  texts: Texts,
): string[] {
  return earlier.map((rule, index) => {
    const calculation = calculate(parcel, rule);
    return texts("trial.earlier", {
      date: dayOf((earlier[index - 1] ?? current).since ?? ""),
      explanation:
        calculation.billed === null ? texts("trial.nothing") : explain(calculation, wordsOf(texts)),
      source: texts("trial.source", { source: rule.source }),
    });
  });
}

/** From which day the rule applies, its source, and whether it is verified. */
function originOf({ since, source, isVerified, threshold, unit }: DatedRule, texts: Texts): string[] {
  return [
    ...(threshold === "0"
      ? []
      : [texts("trial.threshold", { volume: `${numbers()(Number(threshold))} ${ruleUnits[unit].length}³` })]),
    since === null ? texts("trial.source", { source }) : texts("trial.since", { date: dayOf(since), source }),
    ...(isVerified !== false ? [] : [texts("trial.unverified")]),
  ];
}

function wordsOf(texts: Texts): Words {
  const number = numbers();
  return {
    number: (decimal) => number(Number(decimal)),
    upTo: (weight) => texts("explain.upTo", { weight }),
    actual: (weight) => texts("explain.actual", { weight }),
    notOver: (volume) => texts("explain.notOver", { volume }),
    atLeast: (weight) => texts("explain.atLeast", { weight }),
  };
}

/** A day as the editor's language writes it. */
function dayOf(day: string): string {
  return new Intl.DateTimeFormat(RED.i18n.lang(), { timeZone: "UTC" }).format(new Date(day));
}

/** Formats numbers in the editor's language. */
function numbers(): (value: number) => string {
  const format = new Intl.NumberFormat(RED.i18n.lang(), { maximumFractionDigits: 6, useGrouping: false });
  return (value) => format.format(value);
}
