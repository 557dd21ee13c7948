import type { Size, WeightLimit, WeightRule } from "./rule.ts";

/** A fact about a carrier, the day from which it applies, and its source. */
interface Dated {
  /** The first day on which it applies (YYYY-MM-DD); null if that is not known. */
  readonly since: string | null;
  /** The last day on which it applies; null as long as no newer one is known. */
  readonly validUntil: string | null;
  readonly source: string;
}

/** A carrier's rule from one day on. */
export interface DatedRule extends Dated, WeightRule {
  readonly id: string;
  /** False if a part of it was found in one secondary source only. */
  readonly isVerified: boolean;
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

/** The day on which all of the table was compared with its sources (YYYY-MM-DD). */
export const tableDate = "2026-11-27";

/**
 * Carriers' rules and surcharge limits, collected from public sources. They are facts with a source
 * and a date, not a promise: a contract with a carrier takes precedence. Limits of length plus girth are not included:
 * since August 2025 the volume has replaced them in a part of the tariffs, and no source says in which.
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
        isVerified: true,
      },
    ],
    surcharges: [
      {
        since: "2026-01-26",
        validUntil: null,
        source: "rates of UPS for 2026",
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
        isVerified: true,
      },
    ],
    surcharges: [
      {
        since: "2026-01-12",
        validUntil: null,
        source: "rates of FedEx for 2026",
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
        source: "pages of DPD; differs by country",
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

/** Whether the table was compared with its sources more than a year before a day: carriers change their rules every year. */
export function isTableOld(day: string): boolean {
  return day > `${Number(tableDate.slice(0, 4)) + 1}${tableDate.slice(4)}`;
}
