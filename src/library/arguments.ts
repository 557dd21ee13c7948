import { aFunction, aSignal, aText, aWholeNumber, anObject, oneOf } from "../errors/check.ts";

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
