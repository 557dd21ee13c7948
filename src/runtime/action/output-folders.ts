import type { Node, NodeAPI } from "node-red";
import { createMediaFolders } from "../../media/media-folders.ts";
import { readOutput, type OutputProperties, type SaveFolders } from "./output.ts";
import { ValueReader } from "./values.ts";

interface Answer {
  /** Folders that nodes are deployed with. */
  readonly deployed: Promise<readonly string[]>;
  /** Folders that nodes have saved files in since Node-RED has started. */
  readonly saved: Iterable<string>;
}

type Question = (answer: Answer) => void;

const questionEvent = "dimensioner:output-folders";

/**
 * The folders into which the nodes of one type save files. Other types ask for them by an event of Node-RED, because
 * node types do not know each other, and no list contains the nodes inside subflows.
 */
export class OutputFolders implements SaveFolders {
  /** The state that the saves of these nodes share. */
  readonly media = createMediaFolders();
  readonly #RED: NodeAPI;
  /** The deployed nodes, each with a function that reads its folder. */
  readonly #nodes = new Map<Node, () => Promise<string | undefined>>();
  readonly #saved = new Set<string>();
  readonly #onQuestion = (ask: Question): void => {
    ask({ deployed: this.#deployed(), saved: this.#saved });
  };

  constructor(RED: NodeAPI) {
    this.#RED = RED;
  }

  /** Adds a node that was just created, until it is closed. */
  add(node: Node, properties: OutputProperties): void {
    if (this.#nodes.size === 0) {
      this.#RED.events.on(questionEvent, this.#onQuestion);
    }
    this.#nodes.set(node, async () => {
      const operation = { operation: "save", surface: "config", acts: false } as const;
      const values = new ValueReader(this.#RED, node, { _msgid: "" }, operation);
      const output = await readOutput(values, { ...properties, filename: "" }, operation);
      return output === "buffer" ? undefined : output.folder;
    });
    node.on("close", () => {
      this.#nodes.delete(node);
      if (this.#nodes.size === 0) {
        this.#RED.events.off(questionEvent, this.#onQuestion);
      }
    });
  }

  /** Notes that a file was saved in this folder: messages may name it as long as Node-RED runs. */
  remember(folder: string): void {
    this.#saved.add(folder);
  }

  async #deployed(): Promise<string[]> {
    const folders = await Promise.all(
      // A node without a valid folder saves nothing.
      [...this.#nodes.values()].map((read) => read().catch(() => undefined)),
    );
    return folders.filter((folder) => folder !== undefined);
  }
}

/**
 * The folders in which messages may name files: those of all deployed nodes, and those into which files were saved
 * since the start.
 */
export class KnownOutputFolders {
  readonly #RED: NodeAPI;
  /** Including folders of deleted nodes: a file that was saved before a deploy may be named after it. */
  readonly #saved = new Set<string>();

  constructor(RED: NodeAPI) {
    this.#RED = RED;
  }

  async all(): Promise<string[]> {
    const deployed: Promise<readonly string[]>[] = [];
    const ask: Question = (answer) => {
      deployed.push(answer.deployed);
      for (const folder of answer.saved) {
        this.#saved.add(folder);
      }
    };
    this.#RED.events.emit(questionEvent, ask);
    return [...(await Promise.all(deployed)).flat(), ...this.#saved];
  }
}
