import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import type { Finding, Unchecked } from "../../model/archive-reports.ts";
import type { IndexReader } from "./index-reader.ts";

/** Reports a database that cannot be read completely: it was damaged meanwhile, or is locked. */
export async function* readDatabase(
  { file }: IndexReader,
  unchecked: Unchecked[],
  findings: AsyncGenerator<Finding>,
): AsyncGenerator<Finding> {
  try {
    yield* findings;
  } catch (error) {
    if (!isDimensionerError(error)) {
      throw error;
    }
    if (error.sentence === "storeDamaged") {
      yield { kind: "database", path: file, problem: error.message };
    }
    unchecked.push({ kind: "database", path: file, problem: error.message });
  }
}
