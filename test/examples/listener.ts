import { EventEmitter, once } from "node:events";
import { openEditorEvents, type EditorEvents } from "../support/run-flow.ts";
import type { FlowNode } from "../support/examples.ts";

/** What the debug nodes of an example print, as “name: text”. */
export class Listener {
  readonly #heard: string[] = [];
  readonly #events = new EventEmitter();
  #editorEvents: EditorEvents | undefined;

  async open(url: string, nodes: readonly FlowNode[]): Promise<void> {
    // Warnings of the log arrive in the same way, but not from a debug node.
    const debugNodes = nodes.filter(({ type }) => type === "debug");
    const names = new Map(debugNodes.map(({ id, name = id }) => [id, name]));
    this.#editorEvents = await openEditorEvents(
      url,
      (event) => {
        if (event.kind === "debug" && names.has(event.nodeId)) {
          this.#heard.push(`${names.get(event.nodeId)}: ${event.text}`);
          this.#events.emit("heard");
        }
      },
      () => undefined,
    );
  }

  /** The next output of a debug node. */
  async next(): Promise<string> {
    while (this.#heard.length === 0) {
      await once(this.#events, "heard");
    }
    return this.#heard.shift() ?? "";
  }

  get isQuiet(): boolean {
    return this.#heard.length === 0;
  }

  close(): void {
    this.#editorEvents?.close();
  }
}
