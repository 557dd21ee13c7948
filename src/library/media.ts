import { checkArguments } from "../errors/check.ts";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { phrase } from "../errors/interpolation.ts";
import * as buffer from "../media/read-to-buffer.ts";
import * as file from "../media/save-to-file.ts";
import { ShapeError } from "../model/decode.ts";
import type { Download } from "../model/download.ts";
import { JsonLimitError, parseJson, recordLimits } from "../model/parse-json.ts";
import type { SavedFile, TransactionRecord } from "../model/shapes.ts";
import { decodeTransactionRecord } from "../model/transaction-record.ts";
import { readArguments, saveArguments } from "./arguments.ts";

interface MediaOptions {
  /** The suggested file name without its extension; the download's own if it is not given. */
  readonly suggestedName?: string | undefined;
  /** Aborting ends the transfer with ERR_CANCELLED. */
  readonly signal?: AbortSignal | undefined;
}

export interface SaveOptions extends MediaOptions {
  /** The folder must exist; nothing is saved outside it. */
  readonly folder: string;
  /** May contain sub-folders, which are created. If it is not given: `suggestedName`, with an extension by content. */
  readonly filename?: string | undefined;
  /** `rename` (a number behind the name; this where it is not given), `replace` or `error`. */
  readonly ifExists?: "error" | "rename" | "replace";
}

export interface ReadOptions extends MediaOptions {
  /** A larger download ends in ERR_TOO_LARGE; 256 MB if it is not given. */
  readonly limitBytes?: number | undefined;
}

/**
 * Saves a download below a folder. Under its final name the file is whole, checked and on the disk, or it is not there at
 * all; identical content is never written twice. Where the transfer breaks and cannot go on, it begins again.
 *
 * Throws ERR_CONFIG (a blank folder), ERR_INPUT (a filename that cannot be used, a body that was read before), ERR_FILE,
 * ERR_BAD_RESPONSE (empty, a web page, cut short), ERR_CANCELLED, and what the transfer fails with. The body is destroyed
 * then, and its connection ended.
 *
 *     const saved = await saveToFile(await cloud.media(transactionId, contentId), { folder: "/srv/media" });
 */
export async function saveToFile(download: Download, options: SaveOptions): Promise<SavedFile> {
  checkArguments({ surface: "disk", operation: "save media" }, { download, options }, saveArguments);
  const { folder, filename, suggestedName, ifExists = "rename", signal } = options;
  const target = { folder, filename, suggestedBase: suggestedName ?? download.suggestedName, ifExists };
  return unread(download, () =>
    file.saveToFile(() => Promise.resolve(download), target, { ...download.source, signal }),
  );
}

/**
 * Reads a download into memory. Where the transfer breaks and cannot go on, it begins again.
 *
 * Throws ERR_TOO_LARGE, ERR_INPUT (a body that was read before), ERR_BAD_RESPONSE (empty, a web page, cut short),
 * ERR_CANCELLED, and what the transfer fails with. The body is destroyed then, and its connection ended.
 *
 *     const { payload, contentType } = await readToBuffer(await device.image("color", imageIdentifier));
 */
export async function readToBuffer(
  download: Download,
  options: ReadOptions = {},
): Promise<buffer.BufferedMedia> {
  checkArguments({ surface: "disk", operation: "read media" }, { download, options }, readArguments);
  const { suggestedName, limitBytes, signal } = options;
  return unread(download, () =>
    buffer.readToBuffer(() => Promise.resolve(download), {
      ...download.source,
      suggestedBase: suggestedName,
      limitBytes,
      signal,
    }),
  );
}

/** Reads a body that was not read before, and destroys it at the end in every case. */
async function unread<T>({ body, source }: Download, use: () => Promise<T>): Promise<T> {
  if (body.readableDidRead || (body.destroyed && body.errored === null)) {
    const { surface, operation } = source;
    throw new DimensionerError("inputBodyUsed", { surface, operation });
  }
  try {
    return await use();
  } finally {
    body.destroy();
  }
}

/**
 * Reads a record of either version that the cloud's webhook has posted, for applications with a server of their own.
 * Pass the text or the bytes rather than the result of JSON.parse, which rounds ids beyond 2^53. Throws
 * ERR_BAD_RESPONSE if it is not a transaction record.
 */
export function readTransactionRecord(body: unknown): TransactionRecord {
  try {
    return decodeTransactionRecord(parsed(body));
  } catch (error) {
    const isSaid = error instanceof ShapeError || error instanceof JsonLimitError;
    const problem = isSaid ? error.problem : phrase("notJson");
    const facts = { surface: "cloud", operation: "transaction record" } as const;
    throw new DimensionerError("recordShape", facts, { problem });
  }
}

function parsed(body: unknown): unknown {
  if (body instanceof Uint8Array) {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(body), recordLimits);
  }
  return typeof body === "string" ? parseJson(body, recordLimits) : body;
}
