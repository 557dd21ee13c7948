import { writeQuery } from "../http/call.ts";
import type { References } from "../model/measurement.ts";

/** The references of a measure or a video in the names of the device's query (spec 4.2, rule 3). */
export function writeReferences(references: References): string {
  return writeQuery({
    TransactionReference: references.transactionReference,
    CustomReference1: references.customReference1,
    CustomReference2: references.customReference2,
    CustomReference3: references.customReference3,
  });
}
