import { join } from "node:path";
import { sha256Of } from "../../model/sha256.ts";
import { stateFolderName } from "../archive-disk.ts";
import type { ArchiveFiles } from "../files/archive-files.ts";
import {
  filesOfTimestamp,
  timestampLogName,
  timestampsName,
  type KeptTimestamp,
  type LoggedTimestamp,
} from "./timestamp-folder.ts";

/**
 * Keeps a time stamp in the archive's own folder; resolves when that is durable. Throws ERR_STORE or the system's error; then
 * nothing is kept, or in a bucket what `isUnfinished` finds.
 */
export async function keepTimestamp(files: ArchiveFiles, kept: KeptTimestamp): Promise<void> {
  const { name, about, response } = kept;
  const state = join(files.root, stateFolderName);
  await files.writeFolder(join(state, timestampsName, name), filesOfTimestamp(kept));
  // Only now: a line without its time stamp is reported as a loss.
  const line = {
    at: about.received,
    timestamp: name,
    package: about.package,
    response: sha256Of(response),
  };
  await files.addToLog(join(state, timestampLogName), [line satisfies LoggedTimestamp]);
}
