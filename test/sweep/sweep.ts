import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import { sweptArchives } from "./archive-operations.ts";
import { faultPoints, sayPoint, type Density, type FaultPoint } from "./fault-points.ts";
import { sweptCalls, type End, type SweptOperation } from "./operations.ts";
import { assertPromises } from "./promises.ts";
import { Testbed } from "./testbed.ts";
import type { StepWatch } from "./steps.ts";
import { runTrial } from "./trial.ts";
import { sweptWebhook } from "./webhook-operation.ts";

/** Everything that the package does over a network or on a disk. */
export const sweptOperations: readonly SweptOperation[] = [...sweptCalls, ...sweptArchives, sweptWebhook];

/** So many tell enough: a run that does not end takes its time. */
const mostFailures = 6;

export interface SweepReport {
  readonly cases: number;
  /** How the cases ended, and how many so. */
  readonly ends: ReadonlyMap<string, number>;
  readonly failures: readonly string[];
}

/**
 * Runs an operation untroubled and, with each point that it passed struck, once more; every run has to keep every
 * promise. Several at a time: most of them only wait.
 */
export async function sweep(
  watch: StepWatch,
  operation: SweptOperation,
  density: Density,
  atOnce: number,
): Promise<SweepReport> {
  const testbeds = await Promise.all(Array.from({ length: atOnce }, () => Testbed.open(watch)));
  const ends = new Map<string, number>();
  const failures: string[] = [];
  let cases = 0;
  try {
    const [first] = testbeds;
    if (first === undefined) {
      throw new Error("no testbed");
    }
    const good = await runTrial(first, operation, null);
    await assertPromises(good);
    if (good.ends.some((end) => "error" in end)) {
      throw new Error(`${operation.name} fails without any fault`);
    }
    const points = faultPoints(
      good.recording,
      density,
      operation.kind === "read" || operation.kind === "download",
    );
    const work = async (testbed: Testbed): Promise<void> => {
      for (const point of points) {
        if (failures.length >= mostFailures) {
          return;
        }
        cases += 1;
        const end = await tryPoint(testbed, operation, point);
        if (typeof end === "object") {
          failures.push(end.failure);
        } else {
          ends.set(end, (ends.get(end) ?? 0) + 1);
        }
      }
    };
    await Promise.all(testbeds.map(work));
  } finally {
    await Promise.all(testbeds.map((testbed) => testbed.close()));
  }
  return { cases, ends, failures };
}

async function tryPoint(
  testbed: Testbed,
  operation: SweptOperation,
  point: FaultPoint,
): Promise<string | { readonly failure: string }> {
  try {
    const result = await runTrial(testbed, operation, point);
    await assertPromises(result);
    const [end] = result.ends;
    return end === undefined ? "no end" : sayEnd(end);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const where = `${operation.name}, ${sayPoint(point)}`;
    return { failure: problem.startsWith(where) ? problem : `${where}: ${problem}` };
  }
}

function sayEnd(end: End): string {
  if ("value" in end) {
    return "success";
  }
  if (!isDimensionerError(end.error)) {
    return "not answered";
  }
  const { code, details } = end.error;
  return details.outcome === null ? code : `${code} ${details.outcome}`;
}
