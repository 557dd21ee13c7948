/** The simulator in a process of its own, which responds at once; started by `startSimulatorProcess`. */
import { startSimulator } from "../src/simulator/index.ts";

process.on("disconnect", () => process.exit());
const simulator = await startSimulator({
  measureMs: 0,
  encodingMs: 0,
  mediaDelayMs: 0,
  webhooks: [{ url: process.argv[2] ?? "" }],
});
const { newer, earlier, cloud } = simulator;
process.send?.({
  origins: { newer: newer.origin, earlier: earlier.origin, cloud: cloud.origin },
  token: cloud.token,
});
