import { fieldsOf, type Fields } from "../model/containers.ts";
import { readFraction, type Fraction } from "./tariffs/fraction.ts";
import { lengthUnits, readLengthUnit, readWeightUnit } from "../rules/units.ts";
import type { LengthUnit, WeightUnit } from "../rules/units.ts";
import { billingError } from "./billing-error.ts";

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
  /** Null if there is no weight, it is 0, or its unit is not known. */
  readonly weight: Weight | null;
  /** The text in place of the unit, if that is not a known one. */
  readonly otherWeightUnit: string | null;
  /** The day of the measurement (YYYY-MM-DD), by the device's own clock if it is given; null if there is none. */
  readonly day: string | null;
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
export function readMeasured(given: unknown): MeasuredParcel {
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
  const isManual = fields["isManualDimension"] === true;
  const said = fields["legalForTrade"];
  const legality = isManual ? false : typeof said === "boolean" ? said : "unknown";
  return {
    sides: [sideOf(fields, "length"), sideOf(fields, "width"), sideOf(fields, "height")],
    lengthUnit: lengthUnitOf(fields["dimsUnitOfMeasure"]),
    ...measuredWeight(fields["weight"], fields["weightUnitOfMeasure"]),
    day: dayOf(fields["dateTimeLocal"]) ?? dayOf(fields["dateTimeUtc"]),
    isManual,
    legality,
    weightLegality: fields["source"] === "earlier-device" && legality === true ? "unknown" : legality,
  };
}

/** A weight above 0 in a unit that is known; null where there is none. */
export function readWeight(given: unknown, unit: unknown): Weight | null {
  const value = readFraction(given);
  const known = readWeightUnit(unit);
  return value === null || value.numerator <= 0n || known === null ? null : { value, unit: known };
}

function measuredWeight(given: unknown, unit: unknown): Pick<MeasuredParcel, "weight" | "otherWeightUnit"> {
  const weight = readWeight(given, unit);
  const isOther = weight === null && readWeight(given, "kg") !== null;
  return { weight, otherWeightUnit: isOther ? textOf(unit) : null };
}

function sideOf(fields: Fields, name: "length" | "width" | "height"): Fraction {
  const side = readFraction(fields[name]);
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

/** The date of an ISO 8601 time, in the time zone in which it is written. */
function dayOf(time: unknown): string | null {
  return typeof time === "string" ? (/^\d{4}-\d{2}-\d{2}/.exec(time)?.[0] ?? null) : null;
}

/** The day of a date in the time zone of this computer. */
export function dayHere(date: Date): string {
  const month = String(date.getMonth() + 1).padStart(2, "0");
  return `${date.getFullYear()}-${month}-${String(date.getDate()).padStart(2, "0")}`;
}
