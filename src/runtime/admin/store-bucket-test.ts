import { probeBucket } from "../../vault/s3/probe.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { isOpenHttp } from "../../rules/addresses.ts";
import type { BucketLocation } from "../../vault/files-location.ts";
import { line, lineOfError, orLate, type TestLine } from "./connection-test.ts";

/** Somebody is waiting, and all tries have to fit into the time limit. */
const shortPauseMs = 50;

/** Options of one test of a bucket. */
interface BucketTest {
  readonly signal: AbortSignal;
  /** The time limit of the signal, for the sentence that mentions it. */
  readonly withinMs: number;
}

/** Tests the bucket of a store with an object that it removes again. */
export async function testBucket(
  location: BucketLocation,
  { signal, withinMs }: BucketTest,
): Promise<readonly TestLine[]> {
  try {
    const lines = await orLate(linesOf(location, signal), signal);
    if (lines === "late") {
      const values = { host: location.address.origin, seconds: withinMs / 1000 };
      throw new DimensionerError("bucketUnanswered", { surface: "store", operation: "test" }, values);
    }
    return lines;
  } catch (error) {
    return [lineOfError(error)];
  }
}

async function linesOf(location: BucketLocation, signal: AbortSignal): Promise<readonly TestLine[]> {
  const { address, credentials, retainDays } = location;
  const { openBucketFiles } = await import("../../vault/files/open-files.ts");
  const files = await openBucketFiles(location, { signal, firstPauseMs: shortPauseMs });
  try {
    const prefix = address.prefix === "" ? "" : `${address.prefix}/`;
    const { isConditional, hasLock } = await probeBucket(files.bucket, `${prefix}.dimensioner-archive/`);
    return [
      line("good", "bucket", { path: address.name, host: address.origin }),
      ...(credentials === null ? [line("good", "bucketEnvironment")] : []),
      line("good", isConditional ? "bucketConditional" : "bucketUnconditional"),
      lineOfLock(hasLock, retainDays),
      ...(isOpenHttp(address.origin) ? [line("warning", "bucketOpen")] : []),
    ];
  } finally {
    await files.close();
  }
}

function lineOfLock(hasLock: boolean | null, retainDays: number): TestLine {
  if (hasLock === null) {
    return line(retainDays === 0 ? "good" : "warning", "bucketLockUnknown");
  }
  if (retainDays === 0) {
    return line("good", hasLock ? "bucketLock" : "bucketLockNone");
  }
  return hasLock ? line("good", "bucketLocked", { count: retainDays }) : line("bad", "bucketLockMissing");
}
