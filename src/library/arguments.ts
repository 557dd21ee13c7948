import {
  aDate,
  aFunction,
  aListOfTexts,
  aSignal,
  aText,
  aTextOrTexts,
  aWholeNumber,
  aProxyUrl,
  anObject,
  atLeastOne,
  milliseconds,
  oneOf,
  trueOrFalse,
} from "../errors/check.ts";
import { languages } from "../rules/languages.ts";

/** A download as the clients return it. */
const download = anObject(
  { body: anObject({ pipe: aFunction, destroy: aFunction }, ["pipe", "destroy"]), source: anObject({}) },
  ["body", "source"],
);

const mediaOptions = { suggestedName: aText, signal: aSignal };

export const saveArguments = {
  download,
  options: anObject(
    {
      ...mediaOptions,
      folder: aText,
      filename: aText,
      ifExists: oneOf(["error", "rename", "replace"]),
    },
    ["folder"],
  ),
};

export const readArguments = {
  download,
  options: anObject({ ...mediaOptions, limitBytes: aWholeNumber }),
};

const archiveOptions = { onProgress: aFunction, signal: aSignal };

export const verifyArguments = {
  folder: aText,
  options: anObject({
    ...archiveOptions,
    database: aTextOrTexts,
    timestampRoots: aText,
    checkpoints: aListOfTexts,
    allowIncomplete: trueOrFalse,
    forMs: milliseconds(1),
    onFinding: aFunction,
  }),
};

const pruneOptions = {
  ...archiveOptions,
  before: aDate,
  keepFree: atLeastOne,
  useAtMost: atLeastOne,
  despiteClock: trueOrFalse,
  dryRun: trueOrFalse,
  database: aText,
  onPackage: aFunction,
};

/** Without a rule about space, the age has to be there. */
export function pruneArguments({ keepFree, useAtMost }: Readonly<Record<string, unknown>>) {
  const isForSpace = keepFree !== undefined || useAtMost !== undefined;
  return {
    folder: aText,
    options: anObject(pruneOptions, isForSpace ? ["database"] : ["before", "database"]),
  };
}

export const rebuildArguments = {
  folder: aText,
  options: anObject(
    { ...archiveOptions, database: aText, log: aText, newLog: trueOrFalse, onNotIndexed: aFunction },
    ["database"],
  ),
};

const findOptions = {
  database: aText,
  by: oneOf(["reference", "transactionId", "barcode", "packageId", "text", "size", "period", "all"]),
  value: aText,
  filter: anObject({
    device: aText,
    work: aText,
    period: aText,
    film: trueOrFalse,
    onHold: trueOrFalse,
    incomplete: trueOrFalse,
  }),
  limit: atLeastOne,
};

export const findArguments = { folder: aText, options: anObject(findOptions, ["database", "by"]) };

export const holdArguments = {
  folder: aText,
  options: anObject({ ...findOptions, reason: aText, person: aText }, ["database", "by", "reason"]),
};

const { filter: _filter, limit: _limit, ...findOne } = findOptions;

export const nameArguments = {
  folder: aText,
  options: anObject({ ...findOne, numbers: aListOfTexts, reason: aText, person: aText }, [
    "database",
    "by",
    "numbers",
  ]),
};

export const exportArguments = {
  folder: aText,
  options: anObject(
    {
      ...findOptions,
      ...archiveOptions,
      to: aText,
      filename: aText,
      ifExists: oneOf(["error", "rename", "replace"]),
      language: oneOf(languages),
      timestampRoots: aText,
      heading: anObject({ name: aText, address: aText, logo: aText }, ["name"]),
      claim: aText,
    },
    ["database", "by", "to"],
  ),
};

export const missingArguments = {
  folder: aText,
  options: anObject({ database: aText, period: aText, limit: atLeastOne }, ["database", "period"]),
};

export const timestampArguments = {
  folder: aText,
  options: anObject(
    {
      database: aText,
      server: aText,
      user: aText,
      password: aText,
      roots: aText,
      timeoutMs: milliseconds(1),
      tls: anObject({}),
      proxyUrl: aProxyUrl,
      signal: aSignal,
    },
    ["database", "server"],
  ),
};
