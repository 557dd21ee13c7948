import type { CloudClient } from "../cloud/client.ts";
import type { DeviceClient } from "../device/client.ts";
import { readToBuffer, type BufferedMedia } from "../media/read-to-buffer.ts";
import { saveToFile, type FileTarget } from "../media/save-to-file.ts";
import type { SavedFile } from "../model/shapes.ts";
import type { Download } from "../model/download.ts";

/** Which client a download runs on: its errors name it. */
type Client = Pick<CloudClient | DeviceClient, "peer">;

export interface SaveOptions extends Omit<FileTarget, "ifExists"> {
  /** `rename` (a number behind the name), `replace` or `error`; identical content is never written twice. */
  readonly ifExists?: FileTarget["ifExists"];
  readonly signal?: AbortSignal | undefined;
}

export interface ReadOptions {
  /** Of a suggested file name: what stands before the extension. */
  readonly suggestedBase: string;
  /** Over it the download ends in ERR_TOO_LARGE; 256 MB where it is not given. */
  readonly limitBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a download of `client` into a file below `folder`, which has to be there. Under its final name the file is whole and
 * verified, or it is not there at all. Throws a DimensionerError.
 *
 *     await saveMedia(cloud, (sink) => cloud.media(id, contentId, sink), { folder, suggestedBase: id });
 */
export function saveMedia(
  { peer }: Client,
  download: Download,
  { signal, ifExists = "rename", ...target }: SaveOptions,
): Promise<SavedFile> {
  const { surface, host } = peer;
  return saveToFile(download, { ...target, ifExists }, { operation: "save media", surface, host, signal });
}

/** Runs a download of `client` into memory. Throws a DimensionerError. */
export function readMedia(
  { peer }: Client,
  download: Download,
  options: ReadOptions,
): Promise<BufferedMedia> {
  const { surface, host } = peer;
  return readToBuffer(download, { ...options, operation: "read media", surface, host });
}
