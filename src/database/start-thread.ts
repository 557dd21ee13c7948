import { Worker } from "node:worker_threads";
import { packageModule } from "../package/package-files.ts";

/** The modules that run in a thread of their own. */
type ThreadModule = "src/database/sqlite-thread" | "src/evidence/evidence-thread" | "src/vault/hash-thread";

/** Starts a thread; nothing listens to it yet. */
export function startThread(module: ThreadModule, workerData?: unknown): Worker {
  return new Worker(packageModule(module), {
    workerData,
    // Node.js 22 calls its SQLite experimental, once for each process that uses it. The process's own options are not passed on: a
    // thread refuses those of V8, such as --max-old-space-size.
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
}
