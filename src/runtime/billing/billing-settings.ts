import { readLimits } from "../../billing/tariffs/calculate.ts";
import type { RuleUnit, WeightLimit, WeightRule } from "../../billing/tariffs/rule.ts";
import type { SettingsReader } from "../config/settings.ts";

/** The settings of a billable weight node's rule, as they are saved. */
interface RuleSettings {
  readonly unit: RuleUnit;
  readonly divisor: number;
  readonly sideRounding: WeightRule["sideRounding"];
  readonly productRounding: number;
  readonly threshold: number;
  readonly minimum: number;
  readonly extras: string;
}

/** Reads a node's custom rule, whether or not it is selected. */
export function ownRuleOf(settings: RuleSettings): WeightRule {
  const { unit, sideRounding, divisor, productRounding, threshold, minimum } = settings;
  return {
    unit,
    sideRounding,
    divisor: String(divisor),
    productRounding: String(productRounding),
    threshold: String(threshold),
    minimum: String(minimum),
  };
}

/** Reads further limits. Throws ERR_CONFIG if one cannot be read. */
export function extraLimits({ extras }: RuleSettings, reader: SettingsReader): readonly WeightLimit[] {
  const read = readLimits(extras);
  if ("problem" in read) {
    throw reader.invalid("extras", read.problem);
  }
  return read.limits;
}
