import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import { sweptArchives } from "./archive-operations.ts";
import { faultPoints, describePoint, type Density, type FaultPoint } from "./fault-points.ts";
import { sweptCalls, type End, type SweptOperation } from "./operations.ts";
import { assertPromises } from "./promises.ts";
import { SweepEnvironment } from "./environment.ts";
import type { StepWatch } from "./steps.ts";
import { runOperation } from "./run-operation.ts";
import { sweptWebhook } from "./webhook-operation.ts";

/** Everything that the package does over a network or on a disk. */
export const sweptOperations: readonly SweptOperation[] = [...sweptCalls, ...sweptArchives, sweptWebhook];

/** After this many failures an operation is not tried further: a run that does not end takes its time. */
const mostFailures = 6;

export interface SweepReport {
  readonly cases: number;
  /** The number of cases by how they ended. */
  readonly ends: ReadonlyMap<string, number>;
  readonly failures: readonly string[];
}

/**
 * Runs an operation once without a fault, and then once for each point that it passed, which fails. Every run has to
 * keep every promise. Several run at a time, since most of them only wait.
 */
export async function sweep(
  watch: StepWatch,
  operation: SweptOperation,
  density: Density,
  atOnce: number,
): Promise<SweepReport> {
  const environments = await Promise.all(Array.from({ length: atOnce }, () => SweepEnvironment.open(watch)));
  const ends = new Map<string, number>();
  const failures: string[] = [];
  let cases = 0;
  try {
    const [first] = environments;
    if (first === undefined) {
      throw new Error("no environment");
    }
    const good = await runOperation(first, operation, null);
    await assertPromises(good);
    if (good.ends.some((end) => "error" in end)) {
      throw new Error(`${operation.name} fails without any fault`);
    }
    const points = faultPoints(
      good.recording,
      density,
      operation.kind === "read" || operation.kind === "download",
    );
    const work = async (environment: SweepEnvironment): Promise<void> => {
      for (const point of points) {
        if (failures.length >= mostFailures) {
          return;
        }
        cases += 1;
        const end = await tryPoint(environment, operation, point);
        if (typeof end === "object") {
          failures.push(end.failure);
        } else {
          ends.set(end, (ends.get(end) ?? 0) + 1);
        }
      }
    };
    await Promise.all(environments.map(work));
  } finally {
    await Promise.all(environments.map((environment) => environment.close()));
  }
  return { cases, ends, failures };
}

async function tryPoint(
  environment: SweepEnvironment,
  operation: SweptOperation,
  point: FaultPoint,
): Promise<string | { readonly failure: string }> {
  try {
    const result = await runOperation(environment, operation, point);
    await assertPromises(result);
    const [end] = result.ends;
    return end === undefined ? "no end" : describeEnd(end);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const where = `${operation.name}, ${describePoint(point)}`;
    return { failure: problem.startsWith(where) ? problem : `${where}: ${problem}` };
  }
}

function describeEnd(end: End): string {
  if ("value" in end) {
    return "success";
  }
  if (!isDimensionerError(end.error)) {
    return "not answered";
  }
  const { code, details } = end.error;
  return details.outcome === null ? code : `${code} ${details.outcome}`;
}
