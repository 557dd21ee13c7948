/**
 * The thread that owns one SQLite database at a time. SQLite's calls wait for the disk; in this thread nothing else
 * waits with them, and they use none of the four threads in which Node.js runs file operations and name look-ups.
 */
import { isMainThread, parentPort, receiveMessageOnPort, type MessagePort } from "node:worker_threads";
import { SqliteFile } from "./sqlite-file.ts";
import type { ThreadMessage, ThreadRequest, TransactionRequest } from "./sqlite-messages.ts";

/**
 * How many transactions share one commit: their results arrive together, and a thousand at once would block the event
 * loop.
 */
const mostTogether = 200;

if (!isMainThread && parentPort !== null) {
  serve(parentPort);
}

function serve(port: MessagePort): void {
  const say = (message: ThreadMessage): void => port.postMessage(message);
  let file: SqliteFile | undefined;
  port.on("message", (first: ThreadRequest) => {
    if (first !== "close" && "open" in first) {
      const opened = SqliteFile.open(first.open);
      if ("reason" in opened) {
        say({ failure: opened });
      } else {
        file = opened;
        say({ opened: file.opened });
      }
      return;
    }
    // It was sent before its sender knew that the file is closed.
    if (file === undefined) {
      return;
    }
    // Requests that arrived meanwhile share one commit, and so one sync of the disk.
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
      file.close();
      file = undefined;
      say("closed");
    }
  });
}
