/**
 * Runs inside a Node-RED (`node --import`) and says, on a line of its own, how much memory the process has and how long
 * the event loop was held up since the last line.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
setInterval(() => {
  const [p99Ms, longestMs] = [delay.percentile(99) / 1e6, delay.max / 1e6];
  delay.reset();
  process.stdout.write(`monitor ${JSON.stringify({ rss: process.memoryUsage.rss(), p99Ms, longestMs })}\n`);
}, 250).unref();
