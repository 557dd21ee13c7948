import { rows } from "./application-identifiers.ts";
import { ruleNamed } from "./rules.ts";

/** Which characters a component may have: digits, or set 82, 39 or 64 of the GS1 General Specifications. */
const characterSets = {
  N: /^\d*$/,
  X: /^[!"%-?A-Z_a-z]*$/,
  Y: /^[#\-/0-9A-Z]*$/,
  Z: /^[\w-]*={0,2}$/,
} as const;

export interface Component {
  readonly characters: RegExp;
  readonly least: number;
  readonly most: number;
  readonly isOptional: boolean;
  readonly rules: readonly string[];
  readonly checks: readonly NonNullable<ReturnType<typeof ruleNamed>>[];
}

/** One application identifier, and the rules for its value. */
export interface Identifier {
  readonly ai: string;
  readonly title: string | null;
  /** The length of a value if it is predefined, so that no separator has to follow it. */
  readonly predefinedLength: number | null;
  /** The number of decimals of the value; null if it is not such a number. */
  readonly decimals: number | null;
  /** Whether a GS1 Digital Link URI can begin with it. */
  readonly isKey: boolean;
  /** Null for one that GS1 has not assigned. */
  readonly components: readonly Component[] | null;
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

/** The length of an application identifier by its first two digits, which is the same for all that begin with them. */
const lengths: ReadonlyMap<number, number> = new Map(
  [...identifiers.keys()].map((ai) => [Number(ai.slice(0, 2)), ai.length]),
);

/** The application identifiers by their number, which no two of them share. */
const byNumber: ReadonlyMap<number, Identifier> = new Map(
  [...identifiers].map(([ai, identifier]) => [Number(ai), identifier]),
);

/** The application identifier of a code, whether GS1 has assigned it or not. */
export function identifierNamed(ai: string): Identifier {
  return identifiers.get(ai) ?? unassigned(ai);
}

/**
 * The application identifier at this place; null where not even its length is known, which is a text of its own. One that GS1 has
 * not assigned yet has the length of those with the same beginning.
 */
export function identifierAt(data: string, position: number): Identifier | null {
  const length = lengths.get(numberAt(data, position, 2));
  if (length === undefined) {
    return null;
  }
  const number = numberAt(data, position, length);
  return number < 0 ? null : (byNumber.get(number) ?? unassigned(data.slice(position, position + length)));
}

function unassigned(ai: string): Identifier {
  return { ai, title: null, predefinedLength: null, decimals: null, isKey: false, components: null };
}

/** The number that so many digits are; -1 where they are not all digits. Nothing is cut out: this is done for each element. */
function numberAt(data: string, position: number, length: number): number {
  let number = 0;
  for (let index = position; index < position + length; index++) {
    const digit = data.charCodeAt(index) - 48;
    if (!(digit >= 0 && digit <= 9)) {
      return -1;
    }
    number = number * 10 + digit;
  }
  return number;
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
