import type { CloudClient } from "../../src/cloud/client.ts";
import { type Simulator, type StartOptions, startSimulator } from "../../src/simulator/index.ts";
import type { Intent } from "../../src/vault/packages/intent.ts";
import { clientOf, intentOf } from "./support.ts";

/** A simulated cloud whose media are archived. */
export interface SimulatedCloud {
  readonly sim: Simulator;
  readonly client: CloudClient;
  /** A job for a transaction of this cloud. */
  intentFor(transactionId: string, more?: Partial<Intent>): Intent;
}

/** Starts a simulated cloud and a client before each test of the suite that calls it, and closes both after the test. */
export function simulatedCloudOfSuite(options: StartOptions = {}): SimulatedCloud {
  const running: { sim?: Simulator; client?: CloudClient } = {};
  const opened = <T>(thing: T | undefined): T => {
    if (thing === undefined) {
      throw new Error("The cloud is started before each test, not before.");
    }
    return thing;
  };
  beforeEach(async () => {
    running.sim = await startSimulator(options);
    running.client = clientOf(running.sim);
  });
  afterEach(async () => {
    await running.client?.close();
    await running.sim?.close();
  });
  return {
    get sim() {
      return opened(running.sim);
    },
    get client() {
      return opened(running.client);
    },
    intentFor: (transactionId, more) =>
      intentOf(transactionId, { origin: opened(running.client).peer.origin, ...more }),
  };
}
