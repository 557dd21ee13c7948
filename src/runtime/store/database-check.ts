import type { NodeAPI } from "node-red";
import type { DatabaseCheck } from "../../database/store-databases.ts";
import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import { translateError, translateStatus } from "../status/node-status.ts";

/** A check that ends sooner is not worth a line in the log. */
const toldAfterMs = 1_000;

/** Says in the log that a database is being checked while the flows run, and how it has ended. */
export async function tellCheck(RED: NodeAPI, file: string, { bytes, ended }: DatabaseCheck): Promise<void> {
  const sinceMs = performance.now();
  let isTold = false;
  const timer = setTimeout(() => {
    isTold = true;
    RED.log.info(translateStatus(RED, "checkingDatabase", { path: file, size: { bytes } }));
  }, toldAfterMs).unref();
  try {
    await ended;
    if (isTold) {
      const seconds = Math.round((performance.now() - sinceMs) / 1_000);
      RED.log.info(translateStatus(RED, "checkedDatabase", { path: file, seconds }));
    }
  } catch (error) {
    if (isDimensionerError(error) && error.sentence !== "storeClosed") {
      RED.log.error(translateError(RED, error).message);
    }
  } finally {
    clearTimeout(timer);
  }
}
