/**
 * Why a value is not valid: the key of a phrase in the catalogs, under `phrases`, and the values of its placeholders.
 * It is the same as a phrase in src/errors, defined here again because the rules also run in the browser and import
 * nothing.
 */
export interface Problem {
  readonly phrase: `phrases.${Key}`;
  readonly values?: Values;
}

type Key =
  | "aboveZero"
  | "addressBrackets"
  | "addressCharacters"
  | "addressExtra"
  | "addressInvisible"
  | "addressNumbers"
  | "addressScheme"
  | "addressUnreadable"
  | "addressVariable"
  | "addressWide"
  | "addressZone"
  | "applicationIdentifier"
  | "baseUrlExtra"
  | "baseUrlHttp"
  | "baseUrlScheme"
  | "bucketName"
  | "bucketPrefix"
  | "databaseHost"
  | "empty"
  | "headerName"
  | "hours"
  | "ipAddress"
  | "limitForm"
  | "limitsMany"
  | "milliseconds"
  | "nameNul"
  | "namesNothing"
  | "noneOf"
  | "notRelative"
  | "number"
  | "numberComma"
  | "oneOrMore"
  | "portNumber"
  | "outOfFolder"
  | "pathCharacters"
  | "patternGroup"
  | "patternLong"
  | "patternRepeats"
  | "patternSyntax"
  | "patternUnsupported"
  | "registrationCode"
  | "secondsAbove"
  | "secondsFrom"
  | "serverHttp"
  | "tooLong"
  | "tooManyParts"
  | "wholeNumber"
  | "zeroOrMore";

interface Values {
  readonly address?: string;
  readonly choices?: readonly string[];
  readonly least?: number;
  readonly most?: number;
  readonly value?: string;
}

export function problem(key: Key, values?: Values): Problem {
  return values === undefined ? { phrase: `phrases.${key}` } : { phrase: `phrases.${key}`, values };
}
