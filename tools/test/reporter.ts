import { appendFileSync } from "node:fs";
import { inspect } from "node:util";

/** One line of the report, written as it happens: when the tests never end, it says where they are. */
export type ReportLine =
  | { readonly event: "start" | "pass" | "pending"; readonly title: string }
  | { readonly event: "fail"; readonly title: string; readonly error: string }
  | { readonly event: "end" };

/** Mocha's reporter for tools/test.ts: writes lines of JSON to the file in `--reporter-option output=…`. */
export default function LineReporter(
  runner: Mocha.Runner,
  options: { readonly reporterOptions: { readonly output: string } },
): void {
  const write = (line: ReportLine) =>
    appendFileSync(options.reporterOptions.output, `${JSON.stringify(line)}\n`);
  runner.on("test", (test) => write({ event: "start", title: test.fullTitle() }));
  runner.on("pass", (test) => write({ event: "pass", title: test.fullTitle() }));
  runner.on("pending", (test) => write({ event: "pending", title: test.fullTitle() }));
  runner.on("fail", (test, error: Error) => {
    // With its causes.
    write({ event: "fail", title: test.fullTitle(), error: inspect(error, { depth: 3 }) });
  });
  runner.on("end", () => write({ event: "end" }));
}
