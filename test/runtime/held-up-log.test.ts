import assert from "node:assert/strict";
import type { NodeAPI } from "node-red";
import { DimensionerError, type FailureFacts } from "../../src/errors/dimensioner-error.ts";
import type { SentenceKey } from "../../src/errors/sentences.ts";
import { ArchiveStatus, HeldUpLog } from "../../src/runtime/archive/status.ts";

interface Job {
  trouble: DimensionerError | undefined;
  hasEnded: boolean;
}

const minuteMs = 60_000;
const full = (path: string): DimensionerError => errorOf("fileFull", { path });
const denied = errorOf("fileDenied", { path: "/other" });

function errorOf(sentence: SentenceKey, values: Record<string, string>): DimensionerError {
  const facts: FailureFacts = { surface: "disk", operation: "archive" };
  return new DimensionerError(sentence, facts, values);
}

describe("the log of jobs that are held up", () => {
  let log: HeldUpLog;
  let nowMs: number;
  let open: number;
  /** What was written, each with the minute at which it was. */
  let lines: string[];

  const after = (minutes: number): void => void (nowMs += minutes * minuteMs);
  const update = (job: Job, trouble: DimensionerError | undefined, hasEnded = false): void => {
    job.trouble = trouble;
    job.hasEnded = hasEnded;
    log.update(job);
  };
  const newJob = (): Job => ({ trouble: undefined, hasEnded: false });
  const says = (kind: string) => (text: string) =>
    void lines.push(`${nowMs / minuteMs} ${kind} ${text.split(/[.:(]/, 1)[0]?.trim()}`);

  beforeEach(() => {
    nowMs = 0;
    open = 1;
    lines = [];
    // Without catalogs, as Node-RED answers then.
    const RED = { _: (key: string) => key } as unknown as NodeAPI;
    const node = { warn: says("warn"), log: says("log") };
    log = new HeldUpLog(
      RED,
      node,
      new ArchiveStatus(RED, () => []),
      () => open,
      () => nowMs,
    );
  });

  const delayed = "Archive jobs are delayed and retried automatically";
  const goesOn = "Archive jobs continue after a delay of";

  it("warns at once, again after each hour, and not in between, however often a job is tried", () => {
    const job = newJob();
    for (let minute = 0; minute <= 150; minute++) {
      update(job, full("/archive/a"));
      after(1);
    }
    assert.deepEqual(lines, [`0 warn ${delayed}`, `60 warn ${delayed}`, `120 warn ${delayed}`]);
  });

  it("counts the hour from the last reminder, also where a job was not tried for longer", () => {
    const job = newJob();
    for (const pause of [0, 90, 30, 29, 1]) {
      after(pause);
      update(job, denied);
    }
    assert.deepEqual(lines, [`0 warn ${delayed}`, `90 warn ${delayed}`, `150 warn ${delayed}`]);
  });

  it("takes the same cause at another path for the same, and another cause for one of its own", () => {
    const jobs = [newJob(), newJob(), newJob()] as const;
    update(jobs[0], full("/archive/a"));
    after(10);
    update(jobs[1], full("/archive/b"));
    update(jobs[2], denied);
    after(50);
    jobs.forEach((job) => update(job, job.trouble));
    after(10);
    jobs.forEach((job) => update(job, job.trouble));
    assert.deepEqual(lines, [
      `0 warn ${delayed}`,
      `10 warn ${delayed}`,
      `60 warn ${delayed}`,
      `70 warn ${delayed}`,
    ]);
  });

  it("says that jobs go on when the last one does, and begins anew after that", () => {
    const [first, second] = [newJob(), newJob()];
    update(first, denied);
    update(second, denied);
    after(30);
    update(first, undefined);
    assert.deepEqual(lines, [`0 warn ${delayed}`]);
    after(15);
    update(second, undefined);
    assert.deepEqual(lines, [`0 warn ${delayed}`, `45 log ${goesOn} 45 min`]);
    update(second, denied);
    assert.equal(lines.at(-1), `45 warn ${delayed}`);
  });

  it("says nothing of going on where a job has ended without", () => {
    const job = newJob();
    update(job, denied);
    after(5);
    update(job, denied, true);
    assert.deepEqual(lines, [`0 warn ${delayed}`]);
    // It is forgotten: the next job with this cause is told of at once.
    update(newJob(), denied);
    assert.deepEqual(lines, [`0 warn ${delayed}`, `5 warn ${delayed}`]);
  });

  it("reminds of a store that cannot be used as it does of jobs, and says when it is open", () => {
    for (let minute = 0; minute <= 61; minute++) {
      log.cannotOpen(full("/archive"));
      after(1);
    }
    log.opened();
    const unusable = "The disk is full";
    assert.deepEqual(lines, [`0 warn ${unusable}`, `60 warn ${unusable}`, `62 log ${goesOn} 62 min`]);
  });

  it("says what is wrong with a setting, and nothing of trying again, because only a deploy corrects it", () => {
    log.cannotOpen(errorOf("configFolder", {}));
    log.opened();
    assert.deepEqual(lines, ["0 warn The folder to save files in is not set"]);
  });
});
