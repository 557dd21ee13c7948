import assert from "node:assert/strict";
import { openEditorEvents } from "../support/run-flow.ts";
import type { NodeRed } from "../support/node-red.ts";

/** An object, an absolute path that is cut before the part that differs, or a value that is not there. */
const unreadable = /^(?:[{[/]|[A-Za-z]:\\|undefined|null|NaN)/;

/** Watches the statuses and the log of a Node-RED, which have to be readable and without errors while flows run. */
export async function watchCanvas({ url, logs }: NodeRed): Promise<{ check(): void; close(): void }> {
  const wrong = new Set<string>();
  const events = await openEditorEvents(
    url,
    (event) => {
      if (event.kind === "status" && unreadable.test(event.text)) {
        wrong.add(`${event.nodeId} shows ${event.text}`);
      }
    },
    () => undefined,
  );
  return {
    /** An error in the log has reached no Catch node: those that do are not logged. */
    check() {
      assert.deepEqual([...wrong], []);
      assert.deepEqual(
        logs.filter((line) => line.includes("[error]")),
        [],
      );
    },
    close: () => events.close(),
  };
}
