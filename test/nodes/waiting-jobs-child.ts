import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { NodeMessage } from "node-red";
import { TestFlow } from "../support/flow.ts";
import { storeNode } from "../support/store-node.ts";

/**
 * Lets jobs of an archive node wait for media in a Node-RED of its own, and tells how much memory each of them takes.
 */
const [baseUrl = "", token = "", folder = ""] = process.argv.slice(2);
/** The first jobs load what every job needs. */
const firstJobs = 200;
const allJobs = 1_400;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const flow = await TestFlow.start(
  [
    { id: "cloud", type: "dimensioner-cloud", baseUrl, timeout: 600 },
    storeNode(folder, "store"),
    { id: "archive", z: "tab", type: "dimensioner-archive", cloud: "cloud", store: "store", settle: 0 },
  ],
  { cloud: { token } },
);
const firstBytes = await bytesWith(0, firstJobs);
const allBytes = await bytesWith(firstJobs, allJobs);
process.send?.({ bytesPerJob: (allBytes - firstBytes) / (allJobs - firstJobs) });
await flow.stop();
process.disconnect();

/** The memory in use when all jobs up to a number wait. */
async function bytesWith(from: number, to: number): Promise<number> {
  for (let number = from; number < to; number += 1) {
    const message: NodeMessage & { transactionId: string } = { transactionId: `waiting-${number}` };
    flow.node("archive").receive(message);
  }
  await flow.untilStatus("archive", ({ text }) => text === `${to} open, awaiting media`);
  const amounts: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    amounts.push(heapUsed + external);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return Math.min(...amounts);
}
