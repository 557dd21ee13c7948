import * as v from "valibot";
import { JsonLimitError, parseJson, type JsonLimits } from "./parse-json.ts";

/** A schema for a JSON text from outside, whose value is then read by the next schema of a pipe. */
export function jsonText(limits: JsonLimits): v.GenericSchema<string, unknown> {
  return v.pipe(
    v.string(),
    v.rawTransform((context) => {
      try {
        return parseJson(context.dataset.value, limits);
      } catch (error) {
        context.addIssue({ message: error instanceof JsonLimitError ? error.message : "must be JSON" });
        return context.NEVER;
      }
    }),
  );
}
