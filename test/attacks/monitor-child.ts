/**
 * Runs inside a Node-RED (`node --import … --expose-gc`) and says again and again, on a line of its own, how many bytes on the heap and
 * in buffers are left when the garbage is gone.
 */
function report(): void {
  const since = performance.now();
  // What the first one has freed of buffers, it counts until another thread has swept them: the second one waits for that.
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  process.stdout.write(`monitor ${heapUsed + arrayBuffers}\n`);
  // A collection takes long on a busy computer, and most of the time is to be Node-RED's own.
  setTimeout(report, 250 + 9 * (performance.now() - since)).unref();
}

setTimeout(report, 250).unref();
