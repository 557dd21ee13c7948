import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defaults as webhook } from "../../nodes/transaction-in/transaction-in.shared.ts";
import { defaultQueueRules } from "../../src/http/transport.ts";
import { listLimits, recordLimits } from "../../src/model/parse-json.ts";

const root = join(import.meta.dirname, "../..");

/** A number that a source gives a name, which no other source needs. */
function numberIn(file: string, name: string): number {
  const source = readFileSync(join(root, "src", file), "utf8");
  const [, digits] = new RegExp(`\\b${name}(?: =|:) ([\\d_]+)`).exec(source) ?? [];
  assert.ok(digits !== undefined, `${file} has no ${name}: name here what SECURITY.md speaks of`);
  return Number(digits.replaceAll("_", ""));
}

const say = (count: number): string => count.toLocaleString("en-US");
const megabytes = (bytes: number): string => `${bytes / 1_000_000} MB`;

describe("the limits in SECURITY.md", () => {
  const page = readFileSync(join(root, "SECURITY.md"), "utf8").replace(/ +/g, " ");

  const levels = `${recordLimits.depth} levels`;
  const waiting = megabytes(numberIn("webhook/record-intake.ts", "mostWaitingBytes"));
  const budget = "webhook/body-budget.ts";
  const openJobs = "jobs/table/open-jobs.ts";
  const listsASecond =
    (numberIn("jobs/run/job-scheduler.ts", "listsAtOnce") * 1_000) / numberIn("jobs/job-runner.ts", "paceMs");
  for (const [what, sentence] of Object.entries({
    responses:
      `| ${numberIn("http/response.ts", "jsonLimitBytes")} MB; ${levels}; ${say(recordLimits.entries)} entries in one list or object; ` +
      `${say(recordLimits.values)} values, or ${say(listLimits.values)} in a list response |`,
    posts:
      `| ${megabytes(numberIn("webhook/receiver.ts", "longestBodyBytes"))}; ${levels}; ${say(recordLimits.values)} values; ` +
      `IDs of ${numberIn("webhook/posted-record.ts", "longestId")} characters; ` +
      `${numberIn("webhook/receiver.ts", "bodyWithinMs") / 1_000} s for the body |`,
    bodies: `| ${numberIn(budget, "bodies")}, and ${megabytes(numberIn(budget, "bytes"))} |`,
    "queued records":
      `| Queue limit (${say(Number(webhook.queueLimit))}), and ${waiting}: the bodies, ` +
      `and ${numberIn("webhook/posted-record.ts", "markBytes")} bytes for each value |`,
    "records of an earlier run": `| ${numberIn("runtime/webhook/left-over-records.ts", "pageSize")} at a time;`,
    "remembered IDs": `| ${say(numberIn("webhook/recent-ids.ts", "mostIds"))} IDs of at most 200 characters:`,
    commands: `| Queue limit (${defaultQueueRules.queueLimit}) and Queue timeout (${defaultQueueRules.maxWaitMs / 1_000} s)`,
    messages:
      `| ${say(numberIn("runtime/action/serve.ts", "mostAtWork"))}; ` +
      `in **evidence** ${numberIn("../nodes/evidence/evidence.ts", "mostAtWork")}, ` +
      `in **archive** ${say(numberIn("runtime/archive/archive-messages.ts", "mostMessages"))} | ERR_QUEUE_FULL |`,
    "data of messages": `| ${say(numberIn("runtime/action/message-memory.ts", "mostBytes") / 1e6)} MB; a single message may have more |`,
    "credentials of a bucket": `| 64 KB; ${numberIn("vault/s3/metadata-credentials.ts", "answerWithinSeconds")} s, or AWS_METADATA_SERVICE_TIMEOUT |`,
    nesting: `| ${numberIn("runtime/action/message-depth.ts", "deepestCopied")} levels | ERR_INPUT`,
    "texts of an archived message":
      `| ${say(numberIn("runtime/archive/short-texts.ts", "longestText"))} characters; ` +
      `${say(numberIn("runtime/archive/archive-intent.ts", "longestExpected"))} | ERR_INPUT, before anything is stored |`,
    media: `| ${say(numberIn("runtime/archive/archive-facts.ts", "mostMedia"))} | ERR_INPUT`,
    buffers: `| ${numberIn("media/read-to-buffer.ts", "defaultLimitBytes")} MB | ERR_TOO_LARGE |`,
    statuses:
      `| ${numberIn("runtime/status/node-status.ts", "burst")} at once, ` +
      `then ${numberIn("runtime/status/node-status.ts", "updatesPerSecond")} a second;`,
    "open archive jobs":
      `at most ${say(numberIn(openJobs, "jobs"))} open archive jobs, with ${megabytes(numberIn(openJobs, "bytes"))} of their data, ` +
      `and each node asks the cloud again for lists at most ${listsASecond} times a second`,
  })) {
    it(`are those of the code: ${what}`, () => {
      assert.ok(page.includes(sentence), `it does not say “${sentence}”`);
    });
  }
});
