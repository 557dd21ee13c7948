import type { Node, NodeAPI } from "node-red";
import type { Peer } from "../../http/call.ts";
import type { OnProgress } from "../../http/download.ts";
import { type MediaFolders, createMediaFolders } from "../../media/place-file.ts";
import { readToBuffer } from "../../media/read-to-buffer.ts";
import { saveToFile } from "../../media/save-to-file.ts";
import type { Download } from "../../model/download.ts";
import { outputProperties } from "../../properties/common-properties.ts";
import { folderTypes } from "../../properties/property-table.ts";
import { type Operation, errorBeforeSending, type Outputs } from "../messages.ts";
import type { NodeStatus } from "../status/node-status.ts";
import type { Job } from "./serve.ts";
import { ValueReader, readSetting } from "./values.ts";

/** The output group of a node's properties. */
export interface OutputProperties {
  readonly output: string;
  readonly folder: string;
  readonly folderType: string;
  readonly filename: string;
  readonly filenameType: string;
  readonly ifExists: string;
}

/** The state that the saves of one node type share, and the function to call with folders that were saved into. */
export interface SaveFolders {
  readonly media: MediaFolders;
  remember(folder: string): void;
}

interface FileOutput {
  readonly folder: string;
  readonly filename: string | undefined;
  readonly ifExists: "rename" | "replace" | "error";
}

/** Reads where the medium of a message goes: onto the message or into a file. Called before anything is sent. */
export async function readOutput(
  values: ValueReader,
  properties: OutputProperties,
  operation: Operation,
): Promise<FileOutput | "buffer"> {
  const output = readSetting(operation, "output", properties.output, outputProperties.output.of);
  if (output === "buffer") {
    return output;
  }
  // The root folder must never come from the message.
  const type = readSetting(operation, "folder", properties.folderType, folderTypes);
  const folder = await values.optional({ field: "folder", value: properties.folder, type });
  if (folder === undefined || folder.trim() === "") {
    throw errorBeforeSending(operation, "configFolder");
  }
  return {
    folder,
    filename: await values.optional({
      field: "filename",
      value: properties.filename,
      type: properties.filenameType,
    }),
    ifExists: readSetting(operation, "ifExists", properties.ifExists, outputProperties.ifExists.of),
  };
}

/** Downloads a medium to its output, and puts the result on the message. */
export async function deliverMedium(
  job: Job,
  output: FileOutput | "buffer",
  download: (onProgress: OnProgress) => Promise<Download>,
  facts: { operation: Operation; peer: Peer; suggestedBase: string; folders: SaveFolders },
): Promise<Outputs> {
  const { msg, signal, status, memory } = job;
  const { suggestedBase, folders } = facts;
  const { operation, surface } = facts.operation;
  const transfer = { operation, surface, host: facts.peer.host, signal };
  const onProgress = showProgress(status);
  const start = (): Promise<Download> => download(onProgress);
  if (output === "buffer") {
    const onBytes = (bytes: number): void => memory.hold(job, bytes);
    const read = await readToBuffer(start, { suggestedBase, onBytes, ...transfer });
    const { payload, contentType, filename } = read;
    Object.assign(msg, { payload, contentType, filename });
    sayRecognized(msg, read);
    status.say("done", "fetched", { size: { bytes: payload.length } });
    return [msg];
  }
  const saved = await saveToFile(
    start,
    { ...output, suggestedBase },
    { ...transfer, folders: folders.media },
  );
  folders.remember(output.folder);
  msg.payload = saved;
  msg["filename"] = saved.path;
  sayRecognized(msg, saved);
  status.say("done", "saved", { size: { bytes: saved.bytes } });
  return [msg];
}

/** `recognized` is on the message only of what is no medium as far as its bytes show; it may be there of an earlier medium. */
function sayRecognized(msg: Job["msg"], { recognized }: { readonly recognized?: false }): void {
  if (recognized === false) {
    msg["recognized"] = false;
  } else {
    delete msg["recognized"];
  }
}

const progressEveryMs = 250;

function showProgress(status: NodeStatus): OnProgress {
  let shownAt = performance.now();
  return (doneBytes, totalBytes) => {
    const now = performance.now();
    if (now - shownAt < progressEveryMs) {
      return;
    }
    shownAt = now;
    const done = { bytes: doneBytes };
    if (totalBytes === null) {
      status.say("working", "downloadingUnknown", { done });
    } else {
      status.say("working", "downloading", { done, total: { bytes: totalBytes } });
    }
  };
}

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
