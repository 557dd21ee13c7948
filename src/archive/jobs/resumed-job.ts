import type { Intent, IntentFacts } from "../packages/intent.ts";
import { answerOf } from "./job-keys.ts";
import type { StoredJob } from "./job-rows.ts";
import type { OpenJob } from "./open-job.ts";
import { textBytesOf } from "./open-jobs.ts";

/** An open job as an earlier process has left it. */
export function resumed(job: StoredJob): OpenJob {
  const { openMs, intent, ...rest } = job;
  return {
    ...rest,
    intent: factsOf(intent),
    answer: answerOf(intent),
    textBytes: textBytesOf(intent),
    // Without the wall clock, which may be wrong by years, then or now.
    sinceMs: performance.now() - openMs,
    earlier: null,
    isResumed: true,
  };
}

/** What memory keeps of an intent: its long texts are in the database. */
export function factsOf({
  measurement: _measurement,
  raw: _raw,
  keep: _keep,
  ...facts
}: Intent): IntentFacts {
  return facts;
}
