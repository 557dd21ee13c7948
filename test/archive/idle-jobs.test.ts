import assert from "node:assert/strict";
import { IdleJobs } from "../../src/jobs/table/open-jobs.ts";
import type { OpenJob } from "../../src/jobs/table/open-job.ts";

const jobOf = (id: string, key: string | null): OpenJob => ({ id, key }) as OpenJob;

describe("archive: jobs without a node", () => {
  it("are found by their key until they are taken", () => {
    const idle = new IdleJobs();
    const [one, same, other, keyless] = [jobOf("1", "a"), jobOf("2", "a"), jobOf("3", "b"), jobOf("4", null)];
    for (const job of [one, same, other, keyless, one]) {
      idle.add(job);
    }
    assert.deepEqual([...idle.ids], ["2", "3", "4", "1"]);
    assert.deepEqual(idle.ofKey("a"), [same, one]);
    idle.delete(same);
    assert.deepEqual([idle.ofKey("a"), idle.has("2")], [[one], false]);
    idle.delete(one);
    assert.deepEqual([idle.ofKey("a"), idle.all], [[], [other, keyless]]);
  });

  it("are not found any more when they are taken with another key than the one they came with", () => {
    const idle = new IdleJobs();
    const job = jobOf("1", "a");
    idle.add(job);
    job.key = "b";
    idle.delete(job);
    assert.deepEqual([idle.ofKey("a"), idle.ofKey("b"), idle.all], [[], [], []]);
  });
});
