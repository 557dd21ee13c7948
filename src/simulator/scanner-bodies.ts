import * as v from "valibot";

import { symbologies } from "./scanner-types.ts";

const longestCode = 8192;
const longestText = 100;
const longestMs = 60_000;
const mostRepeats = 100;

const text = v.pipe(v.string(), v.maxLength(longestText));
const upTo = (most: number, least = 0) =>
  v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most));

/** The body of `POST /scanner`: the changed settings, and whether the scanner is on. */
export const scannerSettings = v.strictObject({
  on: v.exactOptional(v.boolean()),
  aim: v.exactOptional(v.boolean()),
  prefix: v.exactOptional(text),
  suffix: v.exactOptional(text),
  separator: v.exactOptional(text),
  noRead: v.exactOptional(text),
  repeats: v.exactOptional(upTo(mostRepeats, 1)),
  repeatMs: v.exactOptional(upTo(longestMs)),
  chunkBytes: v.exactOptional(upTo(longestCode)),
  chunkMs: v.exactOptional(upTo(longestMs)),
});

/** The body of `POST /scanner/scan`. */
export const scanCommand = v.strictObject({
  code: v.exactOptional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(longestCode))),
  symbology: v.exactOptional(v.picklist(symbologies)),
  device: v.exactOptional(v.picklist(["newer", "earlier"])),
  noRead: v.exactOptional(v.boolean()),
  cutAtByte: v.exactOptional(upTo(longestCode)),
});
