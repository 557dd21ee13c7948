/** The thread of a ToolDatabase: SQLite's calls wait for the disk, and the program goes on meanwhile. */
import { isMainThread, parentPort, workerData, type MessagePort } from "node:worker_threads";
import { describeOpenFailure, resultCodeOf, resultCodes } from "./sqlite-errors.ts";
import type { Failure } from "./sqlite-messages.ts";
import { ToolFile } from "./tool-file.ts";
import type { ToolAnswer, ToolRequest, ToolTransaction } from "./tool-messages.ts";

if (!isMainThread && parentPort !== null) {
  serve(parentPort, workerData as ToolRequest);
}

function serve(port: MessagePort, request: ToolRequest): void {
  const file = new ToolFile(request);
  const answer = ({ id, statements }: ToolTransaction): ToolAnswer => {
    try {
      return { id, rows: file.run(statements) };
    } catch (error) {
      return { id, failure: failureOf(error, request) };
    }
  };
  port.on("message", (message: ToolTransaction | "close") => {
    if (message === "close") {
      file.close();
      port.close();
    } else {
      port.postMessage(answer(message));
    }
  });
}

function failureOf(error: unknown, { as, file }: ToolRequest): Failure {
  return as === "lock" && resultCodeOf(error) === resultCodes.busy
    ? { reason: "in-use" }
    : describeOpenFailure(error, file);
}
