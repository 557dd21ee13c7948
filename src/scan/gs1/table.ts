import { rows } from "./application-identifiers.ts";
import { isDigits } from "./check-digits.ts";
import { ruleNamed } from "./rules.ts";

/** Which characters a component may have: digits, or set 82, 39 or 64 of the GS1 General Specifications. */
const characterSets = {
  N: /^\d*$/,
  X: /^[!"%-?A-Z_a-z]*$/,
  Y: /^[#\-/0-9A-Z]*$/,
  Z: /^[\w-]*={0,2}$/,
} as const;

interface Component {
  readonly characters: RegExp;
  readonly least: number;
  readonly most: number;
  readonly isOptional: boolean;
  readonly rules: readonly string[];
  readonly checks: readonly NonNullable<ReturnType<typeof ruleNamed>>[];
}

/** One application identifier, and what its value has to be. */
export interface Identifier {
  readonly ai: string;
  readonly title: string | null;
  /** Of a value whose length is predefined: no separator has to follow it. */
  readonly predefinedLength: number | null;
  /** How many digits of the value stand behind the decimal point; null where it is no such number. */
  readonly decimals: number | null;
  /** Whether a GS1 Digital Link URI can begin with it. */
  readonly isKey: boolean;
  readonly components: readonly Component[];
}

/** All application identifiers of the table. */
export const identifiers: ReadonlyMap<string, Identifier> = new Map(
  rows.flatMap(([range, flag, format, title, isKey]) => {
    const components = format.split(" ").map(readComponent);
    const predefinedLength = flag === "*" ? components.reduce((sum, { most }) => sum + most, 0) : null;
    return identifiersIn(range).map((ai): [string, Identifier] => [
      ai,
      {
        ai,
        title: title === "" ? null : title,
        predefinedLength,
        decimals:
          range.startsWith("3") && range.includes("-") && components.length === 1 ? Number(ai[3]) : null,
        isKey,
        components,
      },
    ]);
  }),
);

/** How many digits an application identifier has, by its first two: all that begin with the same two have as many. */
const lengths: ReadonlyMap<string, number> = new Map(
  [...identifiers.keys()].map((ai) => [ai.slice(0, 2), ai.length]),
);

/**
 * The application identifier at this place as it stands there; null where not even its length is known, which is a text
 * of its own. One that GS1 has not assigned yet has the length of those with the same beginning.
 */
export function identifierAt(data: string, position: number): string | null {
  const length = lengths.get(data.slice(position, position + 2));
  const ai = length === undefined ? "" : data.slice(position, position + length);
  return ai.length === length && isDigits(ai) ? ai : null;
}

/** "00", or all of "91-99". */
function identifiersIn(range: string): string[] {
  const [first = "", last = first] = range.split("-");
  const count = Number(last) - Number(first) + 1;
  return Array.from({ length: count }, (_, index) =>
    String(Number(first) + index).padStart(first.length, "0"),
  );
}

/** "N6,yymmdd", "X..20" or "[N..12]". */
function readComponent(written: string): Component {
  const [, open, set, isUpTo, digits, names = ""] =
    /^(\[?)([NXYZ])(\.\.)?(\d+)\]?(?:,(.+))?$/.exec(written) ?? [];
  if (set === undefined) {
    throw new Error(`The table of application identifiers has a format that is not known: ${written}`);
  }
  const rules = names === "" ? [] : names.split(",");
  const most = Number(digits);
  return {
    characters: characterSets[set as keyof typeof characterSets],
    least: isUpTo === undefined ? most : 1,
    most,
    isOptional: open === "[",
    rules,
    checks: rules.map(ruleNamed).filter((check) => check !== undefined),
  };
}
