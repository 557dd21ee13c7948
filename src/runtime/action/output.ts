import type { OnProgress } from "../../http/download.ts";
import type { Peer } from "../../http/call.ts";
import type { MediaFolders } from "../../media/media-folders.ts";
import { readToBuffer } from "../../media/read-to-buffer.ts";
import { saveToFile } from "../../media/save-to-file.ts";
import type { Download } from "../../model/download.ts";
import { outputProperties } from "../../properties/common-properties.ts";
import { folderTypes } from "../../properties/property-table.ts";
import { errorBeforeSending, type Operation } from "../failure.ts";
import type { Outputs } from "../messages.ts";
import { readSetting } from "./message-choice.ts";
import type { Job } from "./serve.ts";
import type { NodeStatus } from "../status/node-status.ts";
import type { ValueReader } from "./values.ts";

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
  status.say("done", "saved", { size: { bytes: saved.bytes } });
  return [msg];
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
