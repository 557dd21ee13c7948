import { phrase, verbatim } from "../../errors/interpolation.ts";
import { isJsonLonger } from "../../model/json-length.ts";
import { errorBeforeSending, type Operation } from "../failure.ts";
import { carriedBy } from "./archive-facts.ts";
import type { ArchiveInput } from "./archive-input.ts";

/** In characters: a device's response has at most 5 MB, and is somewhat longer as measurement.json. */
export const longestMeasured = 16_000_000;

/** Throws ERR_INPUT if the measurement on a message is too large, before it is serialized: that could take minutes. */
export function refuseLongMeasurement(msg: ArchiveInput, operation: Operation): void {
  let isLonger = false;
  try {
    isLonger = isJsonLonger(carriedBy(msg), longestMeasured, 2);
  } catch {
    // It cannot be serialized, which is found at once when that is tried.
  }
  if (isLonger) {
    throw errorBeforeSending(operation, "inputValue", {
      field: verbatim("msg.payload"),
      value: "…",
      problem: phrase("measurementTooLarge"),
    });
  }
}
