/** The thread of a ToolThread: SQLite's calls wait for the disk, and the program goes on meanwhile. */
import { isMainThread, parentPort, type MessagePort } from "node:worker_threads";
import { describeOpenFailure, resultCodeOf, resultCodes } from "./sqlite-errors.ts";
import type { Failure } from "./sqlite-messages.ts";
import { ToolFile } from "./tool-file.ts";
import type { ToolAnswer, ToolRequest, ToolTask } from "./tool-messages.ts";

if (!isMainThread && parentPort !== null) {
  serve(parentPort);
}

function serve(port: MessagePort): void {
  const files = new Map<number, ToolFile>();
  const rowsOf = ({ database, request, statements }: ToolTask): ReturnType<ToolFile["run"]> => {
    const file = files.get(database) ?? new ToolFile(request);
    files.set(database, file);
    if (statements !== "close") {
      return file.run(statements);
    }
    files.delete(database);
    file.close();
    return [];
  };
  const answer = (task: ToolTask): ToolAnswer => {
    try {
      return { id: task.id, rows: rowsOf(task) };
    } catch (error) {
      return { id: task.id, failure: failureOf(error, task.request) };
    }
  };
  port.on("message", (message: ToolTask) => port.postMessage(answer(message)));
}

function failureOf(error: unknown, { as, file }: ToolRequest): Failure {
  return as === "lock" && resultCodeOf(error) === resultCodes.busy
    ? { reason: "in-use" }
    : describeOpenFailure(error, file);
}
