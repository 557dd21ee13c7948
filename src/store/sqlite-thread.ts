/**
 * The thread that owns one SQLite database. SQLite's calls wait for the disk; here nothing else waits with them, and they
 * take none of the four threads in which Node.js runs file operations and name look-ups.
 */
import {
  isMainThread,
  parentPort,
  receiveMessageOnPort,
  workerData,
  type MessagePort,
} from "node:worker_threads";
import type { OpenRequest, TransactionRequest } from "./sqlite-messages.ts";
import { SqliteFile } from "./sqlite-file.ts";

if (!isMainThread && parentPort !== null) {
  serve(parentPort, workerData as OpenRequest);
}

function serve(port: MessagePort, request: OpenRequest): void {
  const opened = SqliteFile.open(request);
  if ("failure" in opened) {
    port.postMessage({ opened: false, failure: opened.failure });
    port.close();
    return;
  }
  const { file } = opened;
  port.postMessage({ opened: true, schemaVersion: file.schemaVersion, sqliteVersion: file.sqliteVersion });
  port.on("message", (first: TransactionRequest | "close") => {
    // What has come meanwhile shares one commit, and with it one sync of the disk.
    const waiting = [first];
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
      waiting.push(next.message as TransactionRequest | "close");
    }
    const requests = waiting.filter((one) => one !== "close");
    if (requests.length > 0) {
      port.postMessage({ results: file.commit(requests) });
    }
    if (requests.length < waiting.length) {
      file.close();
      port.close();
    }
  });
}
