import type { Size, WeightLimit, WeightRule } from "./rule.ts";

/** A fact about a carrier, the day from which it applies, and its source. */
export interface Dated {
  /** The first day on which it applies (YYYY-MM-DD); null if that is not known. */
  readonly since: string | null;
  /** The last day on which it applies; null as long as no newer one is known. */
  readonly validUntil: string | null;
  readonly source: string;
  /** The day on which it was last compared with its source (YYYY-MM-DD). */
  readonly checked: string;
}

/** A carrier's rule from one day on. */
export interface DatedRule extends Dated, WeightRule {
  readonly id: string;
  /** False if a part of it was found in one secondary source only; null of a table of one's own. */
  readonly isVerified: boolean | null;
}

/** A carrier's surcharge limits from one day on. */
interface DatedLimits extends Dated {
  readonly limits: readonly WeightLimit[];
}

export interface Preset {
  /** The name of the carrier, which is the same in every language. */
  readonly name: string;
  /** The newest first. */
  readonly rules: readonly DatedRule[];
  /** The newest first; none for most carriers. */
  readonly surcharges: readonly DatedLimits[];
}

const pounds = {
  unit: "in-lb",
  divisor: "139",
  sideRounding: "up",
  productRounding: "1",
  threshold: "0",
  minimum: "0",
} as const satisfies WeightRule;

const kilograms = {
  ...pounds,
  unit: "cm-kg",
  sideRounding: "none",
  productRounding: "0",
} as const satisfies WeightRule;

const upToTheInch = "supplychaindive.com, news 756929; atlanticpkg.com, post 16059";

const handling: readonly WeightLimit[] = [
  inches("additional handling", "volume", "10368"),
  inches("additional handling", "longest", "48"),
  inches("additional handling", "second", "30"),
];

function large(name: string): readonly WeightLimit[] {
  return [inches(name, "volume", "17280"), { name, quantity: "weight", limit: "110", unit: "lb" }];
}

function inches(name: string, quantity: Size, limit: string): WeightLimit {
  return { name, quantity, limit, unit: "in" };
}

/**
 * Carriers' rules and surcharge limits, collected from public sources. They are facts with a source
 * and a date, not a promise: a contract with a carrier takes precedence. Figures that no dated public source has for
 * the carrier and the year are left out; docs/billable-weight.md names them.
 */
const table = {
  ups: {
    name: "UPS (US)",
    rules: [
      {
        ...pounds,
        id: "ups-2025",
        since: "2025-08-18",
        validUntil: null,
        source: upToTheInch,
        checked: "2026-11-27",
        isVerified: true,
      },
    ],
    surcharges: [
      {
        since: "2026-01-26",
        validUntil: null,
        source: "shipscience.com, UPS update of 2026-01-26",
        checked: "2026-11-28",
        limits: [...handling, ...large("large package")],
      },
    ],
  },
  fedex: {
    name: "FedEx (US)",
    rules: [
      {
        ...pounds,
        id: "fedex-2025",
        since: "2025-08-18",
        validUntil: null,
        source: upToTheInch,
        checked: "2026-11-27",
        isVerified: true,
      },
    ],
    surcharges: [
      {
        since: "2026-01-12",
        validUntil: null,
        source: "gain.consulting, January 2026; loop.com, 2026-03-20",
        checked: "2026-11-28",
        limits: [...handling, ...large("oversize")],
      },
    ],
  },
  usps: {
    name: "USPS",
    rules: [
      {
        ...pounds,
        id: "usps-2026",
        threshold: "1728",
        since: "2026-07-12",
        validUntil: null,
        source: "Federal Register 2026-09785; thelogisticnews.com, post 18371; cahoot.ai",
        checked: "2026-11-27",
        isVerified: true,
      },
      {
        ...pounds,
        id: "usps-2019",
        divisor: "166",
        sideRounding: "nearest",
        threshold: "1728",
        since: "2019-06-23",
        validUntil: "2026-07-11",
        source: "Domestic Mail Manual; postaladvocate.com, USPS rate change of June 2019",
        checked: "2026-11-27",
        isVerified: true,
      },
    ],
    surcharges: [],
  },
  "dhl-express": {
    name: "DHL Express (cm, kg)",
    rules: [
      {
        ...kilograms,
        id: "dhl-express",
        divisor: "5000",
        sideRounding: "nearest",
        productRounding: "0.5",
        since: null,
        validUntil: null,
        source: "dhl.com, volumetric weight",
        checked: "2026-11-27",
        isVerified: false,
      },
    ],
    surcharges: [],
  },
  "dhl-express-us": {
    name: "DHL Express (in, lb)",
    rules: [
      {
        ...pounds,
        id: "dhl-express-us",
        sideRounding: "nearest",
        since: null,
        validUntil: null,
        source: "dhl.com (US), volumetric weight",
        checked: "2026-11-27",
        isVerified: false,
      },
    ],
    surcharges: [],
  },
  dpd: {
    name: "DPD",
    rules: [
      {
        ...kilograms,
        id: "dpd",
        divisor: "4000",
        since: null,
        validUntil: null,
        source: "dpd.com/ee, volume calculator",
        checked: "2026-11-28",
        isVerified: false,
      },
    ],
    surcharges: [],
  },
  "dpd-express": {
    name: "DPD Express (by air)",
    rules: [
      {
        ...kilograms,
        id: "dpd-express",
        divisor: "5000",
        since: null,
        validUntil: null,
        source: "dpd.com/si, question on volumetric weight; dpd.com/ch, weight and dimensions",
        checked: "2026-11-28",
        isVerified: false,
      },
    ],
    surcharges: [],
  },
} as const satisfies Record<string, Preset>;

export type PresetName = keyof typeof table;

export const presets: Readonly<Record<PresetName, Preset>> = table;

export const presetNames = Object.keys(table) as readonly PresetName[];

/** The rule of a carrier on a day (YYYY-MM-DD), until a newer one is known; undefined if the table has only rules of later days. */
export function ruleOn(preset: Preset, day: string): DatedRule | undefined {
  return newest(preset.rules, day);
}

/** The surcharge limits of a carrier on a day; undefined if the table has none, or only those of later days. */
export function surchargesOn(preset: Preset, day: string): DatedLimits | undefined {
  return newest(preset.surcharges, day);
}

function newest<T extends Dated>(dated: readonly T[], day: string): T | undefined {
  return dated.find(
    ({ since, validUntil }) => (since === null || since <= day) && (validUntil === null || day <= validUntil),
  );
}

/** The day on which the part of the table that was compared longest ago was compared with its source (YYYY-MM-DD). */
export const [tableDate = ""] = Object.values(presets)
  .flatMap(({ rules, surcharges }) => [...rules, ...surcharges].map(({ checked }) => checked))
  .sort();

/** Whether what was compared with its source on a day is more than a year old: carriers change their rules every year. */
export function isTableOld(checked: string, day: string): boolean {
  return day > `${Number(checked.slice(0, 4)) + 1}${checked.slice(4)}`;
}
