import { DimensionerError } from "../errors/dimensioner-error.ts";
import type { Values } from "../errors/interpolation.ts";
import type { SentenceKey } from "../errors/sentences.ts";
import { type Fields, fieldsOf } from "../model/containers.ts";
import type { BillableWeight, LabelDeviation } from "../model/shapes.ts";
import {
  type LengthUnit,
  type WeightUnit,
  lengthUnits,
  readLengthUnit,
  readWeightUnit,
  weightUnits,
} from "../rules/units.ts";
import { dayHere, isUnset, knownInstantOf } from "../rules/instants.ts";
import { areTooFar } from "../time/clocks.ts";
import {
  type Calculation,
  type CheckedLimit,
  calculate,
  english,
  explain,
  unitOf,
  weightStep,
} from "./tariffs/calculate.ts";
import { type Preset, ruleOn, surchargesOn } from "./tariffs/presets.ts";
import {
  type Fraction,
  type WeightLimit,
  type WeightRule,
  compare,
  decimalsOf,
  dividedBy,
  fraction,
  minus,
  readFraction,
  ruleUnits,
  times,
  toDecimal,
  toLength,
  toNumber,
  toWeight,
} from "./tariffs/rule.ts";

/** Where the actual weight comes from: the measurement, the label, a separate scale, or nowhere. */
export type WeightSource = "measured" | "label" | "given" | "none";

/** What a billable weight is calculated from. */
export interface BillingTask {
  /** A carrier of a table, or a custom rule. */
  readonly rule: Preset | WeightRule;
  readonly weightFrom: WeightSource;
  /** The weight from a separate scale. */
  readonly given: Weight | null;
  /** The scan of the label: `msg.scan`. */
  readonly scan: unknown;
  readonly mustBeLegal: boolean;
  /** Limits in addition to those of the carrier. */
  readonly extras: readonly WeightLimit[];
  /** Today by this computer's clock (YYYY-MM-DD): the day for a measurement that has none. */
  readonly today: string;
  /** When this computer has asked the device for the measurement, by its own clock; null if it has not, or it is not known. */
  readonly askedAt: Date | null;
}

/** A rule and its source. */
interface ChosenRule {
  readonly rule: WeightRule;
  readonly ruleId: string;
  readonly ruleDate: string | null;
  readonly source: string | null;
  readonly ruleVerified: boolean | null;
  readonly ruleChecked: string | null;
  readonly limits: readonly WeightLimit[];
  readonly limitsDate: string | null;
  /** The carrier has limits, but the table does not have those of that day. */
  readonly hasUnknownLimits: boolean;
}

/** The billable weight of a measurement. Throws ERR_NOT_BILLABLE where it must not be billed, and ERR_INPUT. */
export function billableWeightOf(measurement: unknown, task: BillingTask): BillableWeight {
  const measured = readMeasured(measurement);
  if (task.mustBeLegal && measured.isManual) {
    throw billingError("billManual");
  }
  const clocks = compareClocks(measured, task);
  const chosen = choose(task.rule, clocks.day);
  const label = readLabel(task.scan);
  const weight = weightOf(task, measured, label);
  const calculation = calculate({ ...measured, weight }, chosen.rule, [...chosen.limits, ...task.extras]);
  const { billed, dimensional, actual, sides, volume, rule, checked } = calculation;
  if (billed === null) {
    throw billingError("billNoWeight");
  }
  const legalForTrade = legalityOf(calculation, measured, task.weightFrom);
  if (task.mustBeLegal && legalForTrade !== true) {
    throw billingError(legalForTrade === false ? "billNotLegal" : "billLegalUnknown");
  }
  const units = ruleUnits[rule.unit];
  return {
    weight: toNumber(billed.weight),
    unit: units.weight,
    basis: billed.basis,
    minimumFrom: billed.minimumFrom,
    explanation: explain(calculation, english),
    dimensionalWeight: dimensional && toNumber(weightStep(dimensional, rule)),
    actualWeight: actual && toNumber(actual),
    weightFrom: weight === null ? null : sourceNames[task.weightFrom],
    sides: sides.map(toNumber),
    dimsUnit: units.length,
    volume: toNumber(volume),
    divisor: Number(rule.divisor),
    ruleId: chosen.ruleId,
    ruleDate: chosen.ruleDate,
    source: chosen.source,
    ruleVerified: chosen.ruleVerified,
    ruleChecked: chosen.ruleChecked,
    over: isOverAny(checked, chosen.hasUnknownLimits),
    limitsDate: chosen.limitsDate,
    thresholds: checked.map(({ limit, value, isOver }) => ({
      name: limit.name,
      over: isOver,
      quantity: limit.quantity,
      value: value && toNumber(value),
      limit: Number(limit.limit),
      unit: unitOf(limit),
    })),
    roundingNote: roundingNoteOf(measured, calculation),
    note: noteOf(
      clocks,
      (day) => {
        const other = chooseIfKnown(task.rule, day);
        return (
          other && calculate({ ...measured, weight }, other.rule, [...other.limits, ...task.extras]).billed
        );
      },
      { rule, billed },
    ),
    deviation: deviationOf(measured, label),
    legalForTrade,
    computed: true,
  };
}

/** What the clocks of the device and of this computer say of the day of a measurement. */
interface Clocks {
  /** The day whose rule is used. */
  readonly day: string;
  /** The day by the device's clock; null if it says none. */
  readonly device: string | null;
  /** The day by this computer's clock, if it is further away than time zones explain; otherwise null. */
  readonly other: string | null;
  /** The device's clock was never set. */
  readonly isUnset: boolean;
  /** It is known that the measurement was made on that other day, so that one of the two clocks is wrong. */
  readonly isOneWrong: boolean;
}

/**
 * The day whose rule is used: that of the device's clock. Where this computer has asked for the measurement on another one, one of the
 * two clocks is wrong, and the later day counts: a clock that has stopped is behind. A clock that was never set says nothing.
 */
function compareClocks(
  { day: given, at }: Pick<MeasuredParcel, "at" | "day">,
  { today, askedAt }: BillingTask,
): Clocks {
  const wasNeverSet = given !== null && isUnset(given);
  const device = wasNeverSet ? null : given;
  const own = askedAt === null ? today : dayHere(askedAt);
  // Between two days that follow each other may be two hours or two days.
  const isTooFar =
    askedAt === null || Number.isNaN(at)
      ? areTooFar(Date.parse(own), Date.parse(device ?? ""))
      : areTooFar(askedAt.getTime(), at);
  const isApart = device !== null && device !== own && isTooFar;
  const isOneWrong = isApart && askedAt !== null;
  const day = device === null || (isOneWrong && own > device) ? own : device;
  return { day, device: given, other: isApart ? own : null, isUnset: wasNeverSet, isOneWrong };
}

/** What is to be known of the clocks, and what the rule of the other day would bill. */
function noteOf(
  { day, device, other, isUnset, isOneWrong }: Clocks,
  billedOn: (day: string) => Calculation["billed"] | undefined,
  used: Pick<Calculation, "billed" | "rule">,
): string | null {
  if (isUnset) {
    return `The device's clock is not set (${device}): the rule is that of ${day}, by this computer's clock. Set the device's clock.`;
  }
  if (device === null || other === null) {
    return null;
  }
  const unused = day === device ? other : device;
  const billed = billedOn(unused) ?? null;
  const unit = ruleUnits[used.rule.unit].weight;
  const isSame = billed !== null && used.billed !== null && compare(billed.weight, used.billed.weight) === 0;
  if (isSame && !isOneWrong) {
    // An older measurement is billed, and it does not matter when it was made.
    return null;
  }
  const would =
    billed === null
      ? `No rule is known for ${unused}.`
      : `With the rule of ${unused}, ${isSame ? "the same" : `${toDecimal(billed.weight, 4)} ${unit}`} would be billed.`;
  const said = isOneWrong
    ? `The device's clock says that this was measured on ${device}, and this computer's that it was on ${other}. The rule is that of the later day.`
    : `The device's clock says that this was measured on ${device}, and today is ${other} by this computer's. The rule is that of the measurement.`;
  return `${said} ${would} ${isOneWrong ? "Check both clocks." : "If it was not measured then, check both clocks."}`;
}

/** Undefined where the table has no rule of that day. */
function chooseIfKnown(rule: BillingTask["rule"], day: string): ChosenRule | undefined {
  return "rules" in rule && ruleOn(rule, day) === undefined ? undefined : choose(rule, day);
}

const sourceNames = { measured: "measured", label: "label", given: "given", none: null } as const;

function choose(rule: BillingTask["rule"], day: string): ChosenRule {
  if (!("rules" in rule)) {
    const unknown = { ruleDate: null, source: null, ruleVerified: null, ruleChecked: null, limitsDate: null };
    return { rule, ruleId: "own", ...unknown, limits: [], hasUnknownLimits: false };
  }
  const dated = ruleOn(rule, day);
  if (dated === undefined) {
    throw billingError("billNoRule", { name: rule.name, value: day });
  }
  const { id, since, source, checked, isVerified } = dated;
  const surcharges = surchargesOn(rule, day);
  return {
    rule: dated,
    ruleId: id,
    ruleDate: since,
    source,
    ruleVerified: isVerified,
    ruleChecked: checked,
    limits: surcharges?.limits ?? [],
    limitsDate: surcharges?.since ?? null,
    hasUnknownLimits: surcharges === undefined && rule.surcharges.length > 0,
  };
}

/** Null where nothing was compared, or it is over none of those that could be compared, and one could not be. */
function isOverAny(checked: readonly CheckedLimit[], hasUnknown: boolean): boolean | null {
  if (checked.length === 0) {
    return null;
  }
  if (checked.some(({ isOver }) => isOver === true)) {
    return true;
  }
  return hasUnknown || checked.some(({ isOver }) => isOver === null) ? null : false;
}

function weightOf(
  { weightFrom, given }: BillingTask,
  { weight: ofMeasurement, otherWeightUnit }: MeasuredParcel,
  { weight: ofLabel }: Label,
): Weight | null {
  if (weightFrom === "none") {
    return null;
  }
  if (weightFrom === "measured" && otherWeightUnit !== null) {
    throw billingError("billWeightUnit", { value: otherWeightUnit, choices: weightUnits });
  }
  const weight = { measured: ofMeasurement, label: ofLabel, given }[weightFrom];
  if (weight === null) {
    throw billingError(weightFrom === "label" ? "billNoLabelWeight" : "billNoWeight");
  }
  return weight;
}

/**
 * Whether the billed weight is legal for trade. If the actual weight is billed, the device has to state it of the
 * weight too.
 */
function legalityOf({ billed }: Calculation, measured: MeasuredParcel, weightFrom: WeightSource): Legality {
  const { legality, weightLegality } = measured;
  if (legality !== true || billed?.basis !== "actual") {
    return legality;
  }
  return weightFrom === "measured" ? weightLegality : "unknown";
}

const two = fraction("2");

/**
 * Says where the step of a measurement in another unit than the rule's may cost a whole unit: a side of 12 in that is measured as
 * 30.5 cm is rounded up to 13 in. Null where it does not. No figure is corrected by it.
 */
function roundingNoteOf(measured: MeasuredParcel, { rule, sides, checked }: Calculation): string | null {
  const { lengthUnit, step, weight } = measured;
  const { length: unit, weight: weightUnit } = ruleUnits[rule.unit];
  const isInches = lengthUnit === "in" || lengthUnit === "ft";
  if (rule.sideRounding === "none" || isInches === (unit === "in")) {
    return null;
  }
  const least = (side: Fraction): Fraction => {
    const less = minus(side, dividedBy(step, two));
    return less.numerator > 0n ? less : side;
  };
  const [length, width, height] = measured.sides;
  const parcel = { sides: [least(length), least(width), least(height)], lengthUnit, weight } as const;
  const limits = checked.map(({ limit }) => limit);
  const other = calculate(parcel, rule, limits);
  const costly = measured.sides.flatMap((side, index) => {
    const [is, maybe] = [sides[index] ?? side, other.sides[index] ?? side];
    const text = `${toDecimal(side, 4)} ${lengthUnit} is ${toDecimal(toLength(side, lengthUnit, unit), 4)} ${unit} and counts as`;
    return compare(maybe, is) < 0
      ? [`${text} ${toDecimal(is, 4)} ${unit}, but may be ${toDecimal(maybe, 4)} ${unit}`]
      : [];
  });
  if (costly.length === 0) {
    return null;
  }
  const billed = other.billed === null ? "nothing" : `${toDecimal(other.billed.weight, 4)} ${weightUnit}`;
  const product = other.sides.map((side) => toDecimal(side, 4)).join(" × ");
  return [
    `The measurement has steps of ${toDecimal(step, 4)} ${lengthUnit}, which may cost a whole ${unit}: ${costly.join("; ")}.`,
    `With ${product} ${unit}, ${billed} would be billed. Set the device to ${unit}.`,
  ].join(" ");
}

/** A weight in its unit. */
export interface Weight {
  readonly value: Fraction;
  readonly unit: WeightUnit;
}

/** Whether the device states that the measurement may be used for billing; only `true` says that it may. */
export type Legality = boolean | "unknown";

/** The size and weight of one measured parcel. */
export interface MeasuredParcel {
  readonly sides: readonly [Fraction, Fraction, Fraction];
  readonly lengthUnit: LengthUnit;
  /** The step in which the sides were measured: the device's, or that of the last digit. */
  readonly step: Fraction;
  /** Null if there is no weight, it is 0, or its unit is not known. */
  readonly weight: Weight | null;
  /** The text in place of the unit, if that is not a known one. */
  readonly otherWeightUnit: string | null;
  /** The day of the measurement (YYYY-MM-DD), by the device's own clock if it is given; null if there is none. */
  readonly day: string | null;
  /** The instant of the measurement by the same clock; NaN if it is not known. */
  readonly at: number;
  readonly isManual: boolean;
  /** Legality of the sides. */
  readonly legality: Legality;
  /** Legality of the weight: an earlier device makes a statement about the sides only. */
  readonly weightLegality: Legality;
}

/**
 * Reads the result of a measurement or a transaction record. Throws ERR_INPUT if it is neither, and ERR_NOT_BILLABLE
 * unless it is of exactly one parcel.
 */
function readMeasured(given: unknown): MeasuredParcel {
  const fields = fieldsOf(given);
  if (fields === null || !Object.hasOwn(fields, "length")) {
    throw billingError("billNoMeasurement");
  }
  if (fields["ok"] === false) {
    throw billingError("billFailed");
  }
  const objects = fields["measuredObjects"];
  if (Array.isArray(objects) && objects.length > 1) {
    throw billingError("billSeveral", { count: objects.length });
  }
  const { isManualDimension, unreadable, legalForTrade: said } = fields;
  // A text in place of true or false may say that somebody has typed them in; a record keeps it among what it could not read.
  const manual = isManualDimension ?? fieldsOf(unreadable)?.["isManualDimension"] ?? false;
  const isManual = manual === true;
  const isSaid = typeof said === "boolean" && manual === false;
  const legality = isManual ? false : isSaid ? said : "unknown";
  const sides = [sideOf(fields, "length"), sideOf(fields, "width"), sideOf(fields, "height")] as const;
  const fidelity = readFraction(fields["measurementFidelity"]);
  return {
    sides,
    step:
      fidelity !== null && fidelity.numerator > 0n
        ? fidelity
        : fraction(`1e-${Math.max(...sides.map(decimalsOf))}`),
    lengthUnit: lengthUnitOf(fields["dimsUnitOfMeasure"]),
    ...measuredWeight(fields["weight"], fields["weightUnitOfMeasure"]),
    day: dayOfMeasurement(fields),
    at: knownInstantOf(textOf(fields["dateTimeUtc"])),
    isManual,
    legality,
    weightLegality: fields["source"] === "earlier-device" && legality === true ? "unknown" : legality,
  };
}

/** A weight above 0 in a unit that is known; null where there is none. Throws ERR_NOT_BILLABLE for a text with digits that is no number. */
export function readWeight(given: unknown, unit: unknown): Weight | null {
  const value = readFigure(given);
  const known = readWeightUnit(unit);
  return value === null || value.numerator <= 0n || known === null ? null : { value, unit: known };
}

function measuredWeight(given: unknown, unit: unknown): Pick<MeasuredParcel, "weight" | "otherWeightUnit"> {
  const weight = readWeight(given, unit);
  const isOther = weight === null && readWeight(given, "kg") !== null;
  return { weight, otherWeightUnit: isOther ? textOf(unit) : null };
}

/** A number as devices, scales and flows have it; null where it is none. Throws ERR_NOT_BILLABLE for a text with digits that is no number. */
function readFigure(given: unknown): Fraction | null {
  const value = readFraction(given);
  if (value === null && typeof given === "string" && /\d/.test(given)) {
    throw billingError("billComma", { value: textOf(given) });
  }
  return value;
}

function sideOf(fields: Fields, name: "length" | "width" | "height"): Fraction {
  const side = readFigure(fields[name]);
  if (side === null || side.numerator <= 0n) {
    throw billingError("billSides");
  }
  return side;
}

function lengthUnitOf(given: unknown): LengthUnit {
  const unit = readLengthUnit(given);
  if (unit === null) {
    throw billingError("billLengthUnit", { value: textOf(given), choices: lengthUnits });
  }
  return unit;
}

function textOf(given: unknown): string {
  return typeof given === "string" ? given.slice(0, 60).toWellFormed() : "";
}

/**
 * The day of a measurement where it was made: carriers' rules change at midnight there. A time in UTC alone is taken to have been here. One
 * that a clock says that was never set is the last choice.
 */
function dayOfMeasurement({ dateTimeLocal, dateTimeUtc }: Fields): string | null {
  const at = knownInstantOf(textOf(dateTimeUtc));
  const isTime = textOf(dateTimeUtc).includes(":") && !Number.isNaN(at);
  const days = [dayOf(dateTimeLocal), isTime ? dayHere(new Date(at)) : dayOf(dateTimeUtc)];
  const known = days.filter((day) => day !== null);
  return known.find((day) => !isUnset(day)) ?? known[0] ?? null;
}

/** The date of an ISO 8601 time, in the time zone in which it is written. */
function dayOf(time: unknown): string | null {
  const day = /^\d{4}-\d{2}-\d{2}/.exec(textOf(time))?.[0] ?? "";
  return Number.isNaN(Date.parse(day)) ? null : day;
}

/** The weight and the size that the label states: `labelWeight` and `labelDims` of a scan. */
export interface Label {
  readonly weight: Weight | null;
  readonly sides: readonly Fraction[] | null;
  readonly sidesUnit: "cm" | "in";
}

/** Reads the label's weight and size from a scan; its other fields are ignored. */
function readLabel(scan: unknown): Label {
  const { labelWeight, labelDims } = fieldsOf(scan) ?? {};
  const { weight, unit } = fieldsOf(labelWeight) ?? {};
  const { length, width, height, unit: sidesUnit } = fieldsOf(labelDims) ?? {};
  const sides = [length, width, height].map(readFraction).filter((side) => side !== null);
  const known = readLengthUnit(sidesUnit);
  return {
    weight: readWeight(weight, unit),
    sides: sides.length === 3 && (known === "cm" || known === "in") ? sides : null,
    sidesUnit: known === "in" ? "in" : "cm",
  };
}

/**
 * The differences between the measurement and the label, in the label's units; null if the label states neither size
 * nor weight.
 */
function deviationOf({ sides, lengthUnit, weight }: MeasuredParcel, label: Label): LabelDeviation | null {
  const { sidesUnit } = label;
  const weights =
    label.weight === null || weight === null
      ? null
      : {
          ...difference(toWeight(weight.value, weight.unit, label.weight.unit), label.weight.value),
          unit: label.weight.unit,
        };
  // A parcel can lie on the table in any position, so the longest side is compared with the longest one, and so on.
  const measured = longestFirst(sides.map((side) => toLength(side, lengthUnit, sidesUnit)));
  const stated = label.sides === null ? null : longestFirst(label.sides);
  const bySide = stated?.map((side, index) => difference(measured[index] ?? side, side));
  return weights === null && bySide === undefined
    ? null
    : {
        weight: weights,
        sides: bySide === undefined ? null : bySide.map((one) => ({ ...one, unit: sidesUnit })),
      };
}

function longestFirst(sides: readonly Fraction[]): Fraction[] {
  return sides.toSorted((a, b) => compare(b, a));
}

/** The percentage is null where the label says 0. */
function difference(measured: Fraction, label: Fraction) {
  const more = minus(measured, label);
  return {
    label: toNumber(label),
    measured: toNumber(measured),
    difference: toNumber(more),
    percent:
      label.numerator === 0n ? null : Number(toDecimal(times(dividedBy(more, label), fraction("100")), 1)),
  };
}

/** Calculating a billable weight sends no request: what goes wrong is in the given values. */
export const billingFacts = { surface: "config", operation: "billable weight", outcome: null } as const;

function billingError(sentence: SentenceKey, values: Values = {}): DimensionerError {
  return new DimensionerError(sentence, billingFacts, values);
}
