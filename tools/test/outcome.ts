/** What came of a gate or a suite; a gate counts as one test. */
export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** One text for each failure. */
  readonly details: readonly string[];
}

export interface Step {
  readonly name: string;
  readonly run: () => Promise<Outcome>;
}

export const passedOnce: Outcome = { passed: 1, failed: 0, skipped: 0, details: [] };

export function failedOnce(detail: string): Outcome {
  return { passed: 0, failed: 1, skipped: 0, details: [detail] };
}

/** Something that this machine cannot do, with the reason; it counts neither as passed nor as failed. */
export function skippedOnce(reason: string): Outcome {
  return { passed: 0, failed: 0, skipped: 1, details: [`skipped: ${reason}`] };
}

/** Runs steps, `atOnce` of them at the same time, says what comes of each and adds it up. */
export async function runSteps(steps: readonly Step[], atOnce: number): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  const waiting = [...steps];
  const work = async () => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      outcomes.push(await runStep(step));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return sum(outcomes);
}

export function sum(outcomes: readonly Outcome[]): Outcome {
  const add = (count: (outcome: Outcome) => number) => outcomes.reduce((all, one) => all + count(one), 0);
  return {
    passed: add(({ passed }) => passed),
    failed: add(({ failed }) => failed),
    skipped: add(({ skipped }) => skipped),
    details: outcomes.flatMap(({ details }) => details),
  };
}

async function runStep({ name, run }: Step): Promise<Outcome> {
  const startedAt = performance.now();
  const outcome = await run().catch((error: unknown) =>
    failedOnce(error instanceof Error ? (error.stack ?? error.message) : String(error)),
  );
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const { passed, failed, skipped, details } = outcome;
  const mark = failed > 0 ? "FAIL" : passed > 0 ? "ok  " : "--  ";
  const counts = passed + failed > 1 ? `  ${passed} passed, ${failed} failed, ${skipped} skipped` : "";
  console.log(`${mark} ${name}${counts}  (${seconds} s)`);
  for (const detail of details) {
    console.log(`\n${detail.trim().replace(/^/gm, "       ")}\n`);
  }
  return outcome;
}
