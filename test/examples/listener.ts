import { EventEmitter, once } from "node:events";
import { openEditorEvents, type EditorEvents } from "../../tools/demo/editor-events.ts";
import type { FlowNode } from "../../tools/demo/examples.ts";

/** What the debug nodes of an example say, as “name: text”. */
export class Listener {
  readonly #heard: string[] = [];
  readonly #events = new EventEmitter();
  #editorEvents: EditorEvents | undefined;

  async open(url: string, nodes: readonly FlowNode[]): Promise<void> {
    // The log's warnings come the same way: they are not of a debug node.
    const speakers = nodes.filter(({ type }) => type === "debug");
    const names = new Map(speakers.map(({ id, name = id }) => [id, name]));
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

  /** The next thing that is said. */
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
