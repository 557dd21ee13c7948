import { Worker } from "node:worker_threads";
import { packageModule } from "../package/package-files.ts";

/** Starts a thread that uses SQLite, by the name of its module in this folder; nothing listens to it yet. */
export function startThread(module: "sqlite-thread" | "tool-thread", workerData?: unknown): Worker {
  return new Worker(packageModule(`src/store/${module}`), {
    workerData,
    // Node.js 22 calls its SQLite experimental, once for each process that uses it. The process's own options are not passed on: a
    // thread refuses those of V8, such as --max-old-space-size.
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
}
