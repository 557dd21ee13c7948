import { billingFacts } from "../../billing/billable-weight.ts";
import { readLimits } from "../../billing/tariffs/calculate.ts";
import type { RuleUnit, WeightLimit, WeightRule } from "../../billing/tariffs/rule.ts";
import type { Preset } from "../../billing/tariffs/presets.ts";
import { readWeightTable } from "../../billing/weight-table.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { ProblemError, problemOf } from "../../errors/interpolation.ts";
import { JsonLimitError, findJsonFault, parseJson, recordLimits } from "../../model/parse-json.ts";
import { readNamedFile } from "../../vault/packages/package-files.ts";
import type { SettingsReader } from "../config/settings.ts";

/** A table has a few kilobytes. */
const mostBytes = 1024 * 1024;

/**
 * Reads the carriers of a table of one's own from its file. No link is followed. Throws ERR_CONFIG if there is no such file, or it is not
 * what the schema says.
 */
export async function readTableFile(path: string): Promise<ReadonlyMap<string, Preset>> {
  try {
    const content = await readNamedFile(path, mostBytes);
    return readWeightTable(parseTable(content.toString().replace(/^\uFEFF/, "")));
  } catch (cause) {
    throw new DimensionerError("billTable", { ...billingFacts, cause }, { path, problem: problemOf(cause) });
  }
}

function parseTable(text: string): unknown {
  try {
    return parseJson(text, recordLimits);
  } catch (error) {
    throw error instanceof JsonLimitError ? error : new ProblemError(findJsonFault(text));
  }
}

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
