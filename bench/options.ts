import { parseArgs } from "node:util";
import { partNames, type PartName } from "./results.ts";

export const usage = `Usage: npm run bench [-- options]

Measures the package against what one would use instead, in turn, in the same Node-RED; writes bench/results.json,
docs/benchmarks.md and docs/benchmarks.svg. Takes about twenty minutes on a machine that does nothing else.

Options:
  --only <parts>   separated by commas: ${partNames.join(", ")}; the other parts keep what they had
  --long           the part years also at 100,000 packages, in about half an hour
  --quick          everything with tiny sizes, in under a minute; prints and writes nothing
  --folder <path>  existing folder on the disk to write to (default: the system's temporary folder)
  --report         measure nothing; write the documents from bench/results.json
  --help           this text`;

export interface Options {
  readonly only: readonly PartName[];
  readonly long: boolean;
  readonly quick: boolean;
  readonly folder: string | undefined;
  readonly report: boolean;
  readonly help: boolean;
}

/** Throws an error that says what is wrong with the arguments. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string", default: partNames.join(",") },
      long: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      folder: { type: "string" },
      report: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const only = values.only.split(",").map((name) => {
    const part = partNames.find((one) => one === name.trim());
    if (part === undefined) {
      throw new Error(`There is no part “${name}”.`);
    }
    return part;
  });
  return { ...values, only, folder: values.folder };
}
