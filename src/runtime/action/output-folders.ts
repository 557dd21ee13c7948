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
 * Where the nodes of one type save files, for whoever asks over Node-RED's events. Node types know nothing of each other, and
 * nodes inside of subflows are found in no list.
 */
export class OutputFolders implements SaveFolders {
  /** What the saves of these nodes share. */
  readonly media = createMediaFolders();
  readonly #RED: NodeAPI;
  /** The deployed nodes, with how to read the folder of each. */
  readonly #nodes = new Map<Node, () => Promise<string | undefined>>();
  readonly #saved = new Set<string>();
  readonly #onQuestion = (ask: Question): void => {
    ask({ deployed: this.#deployed(), saved: this.#saved });
  };

  constructor(RED: NodeAPI) {
    this.#RED = RED;
  }

  /** Takes in a node that has just been made, until it is closed. */
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

  /** A file was saved below this folder: messages may name it for as long as Node-RED runs. */
  remember(folder: string): void {
    this.#saved.add(folder);
  }

  async #deployed(): Promise<string[]> {
    const folders = await Promise.all(
      // A node whose folder is not set, or not yet, saves nowhere.
      [...this.#nodes.values()].map((read) => read().catch(() => undefined)),
    );
    return folders.filter((folder) => folder !== undefined);
  }
}

/** The folders that messages may name files in: those of all deployed nodes, and those that were saved in since the start. */
export class KnownOutputFolders {
  readonly #RED: NodeAPI;
  /** Also of nodes that are gone: a file that was saved before a deploy may come after it. */
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
