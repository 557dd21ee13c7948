/**
 * Runs inside a Node-RED (`node --import`) and says, on a line of its own, how much memory is in use and how long the event
 * loop was held up since the last line. With --expose-gc the memory is what is left when the garbage is gone.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
setInterval(() => {
  const p99Ms = delay.percentile(99) / 1e6;
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  delay.reset();
  process.stdout.write(`monitor ${JSON.stringify({ usedBytes: heapUsed + arrayBuffers, p99Ms })}\n`);
}, 250).unref();
