import type { Origins } from "../test/support/examples.ts";
import { forkAndHear } from "./fork.ts";

export interface SimulatorProcess {
  readonly origins: Origins;
  readonly token: string;
  stop(): Promise<void>;
}

/** Starts the simulator, which posts its transactions to this address; it ends with this process. */
export async function startSimulatorProcess(webhook: string): Promise<SimulatorProcess> {
  const { heard, stop } = await forkAndHear<Pick<SimulatorProcess, "origins" | "token">>("simulator.ts", [
    webhook,
  ]);
  return { ...heard, stop };
}
