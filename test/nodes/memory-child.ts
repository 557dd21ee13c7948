import { TestFlow } from "../support/flow.ts";

/** Fetches one medium to a file in a Node-RED of its own, and tells how far the process's memory grew meanwhile. */
const [baseUrl = "", token = "", contentId = "", folder = ""] = process.argv.slice(2);
const flow = await TestFlow.start(
  [
    { id: "cloud", type: "dimensioner-cloud", baseUrl, timeout: 30 },
    { id: "node", z: "tab", type: "dimensioner-fetch-media", cloud: "cloud", output: "file", folder },
  ],
  { cloud: { token } },
);
// The first small download loads what every download needs.
const first = await flow.run("node", { transactionId: "small", payload: { contentId: "small" } });
const beforeBytes = process.memoryUsage().rss;
let peakBytes = beforeBytes;
const sampler = setInterval(() => (peakBytes = Math.max(peakBytes, process.memoryUsage().rss)), 10);
const { error, sent } = await flow.run("node", { transactionId: "905865", payload: { contentId } });
clearInterval(sampler);
process.send?.({
  warmedUp: first.error?.code,
  error: error?.message,
  saved: sent[0]?.msg["payload"],
  grownBytes: peakBytes - beforeBytes,
});
await flow.stop();
process.disconnect();
