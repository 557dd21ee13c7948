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
import { SqliteFile } from "./sqlite-file.ts";
import type { OpenRequest, ThreadMessage, TransactionRequest } from "./sqlite-messages.ts";

/** Transactions in one commit: their answers arrive together, and a thousand at once would hold up the event loop. */
const mostTogether = 200;

if (!isMainThread && parentPort !== null) {
  serve(parentPort, workerData as OpenRequest);
}

function serve(port: MessagePort, request: OpenRequest): void {
  const say = (message: ThreadMessage): void => port.postMessage(message);
  const file = SqliteFile.open(request);
  if ("reason" in file) {
    say({ failure: file });
    port.close();
    return;
  }
  say({ opened: file.opened });
  let isOpen = true;
  port.on("message", (first: TransactionRequest | "close") => {
    // A closed port still hands out what it had received.
    if (!isOpen) {
      return;
    }
    // What has come meanwhile shares one commit, and with it one sync of the disk.
    const waiting = [first];
    while (waiting.length < mostTogether) {
      const next = receiveMessageOnPort(port);
      if (next === undefined) {
        break;
      }
      waiting.push(next.message as TransactionRequest | "close");
    }
    const requests = waiting.filter((one) => one !== "close");
    if (requests.length > 0) {
      say({ results: file.commit(requests) });
    }
    if (requests.length < waiting.length || file.isLost) {
      isOpen = false;
      file.close();
      port.close();
    }
  });
}
