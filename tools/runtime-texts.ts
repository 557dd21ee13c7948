import { reportTexts } from "../src/evidence/report/report-texts.ts";
import { phrases } from "../src/errors/phrases.ts";
import { failedTexts, statusTexts } from "../src/runtime/status/status-texts.ts";
import { nodeWordings } from "../src/errors/sentences.ts";

/** The part of the English catalog that is generated from the sources: errors, statuses and reports. */
export function runtimeTexts() {
  const wordings = [...nodeWordings];
  return {
    status: { ...statusTexts, failed: failedTexts },
    errors: Object.fromEntries(wordings.map(([key, { text }]) => [key, text])),
    hints: Object.fromEntries(wordings.map(([key, { hint }]) => [key, hint])),
    phrases,
    format: { language: "en-US" },
    report: reportTexts,
  };
}
