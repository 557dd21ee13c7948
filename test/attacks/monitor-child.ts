/**
 * Runs inside a Node-RED (`node --import … --expose-gc`) and says again and again, on a line of its own, how many bytes on the heap and
 * in buffers are left when the garbage is gone.
 */
setInterval(() => {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  process.stdout.write(`monitor ${heapUsed + arrayBuffers}\n`);
}, 250).unref();
