import { dirname, join, resolve, sep } from "node:path";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { cannotSync, diskError, fileError, systemCode, type Disk, type TransferFacts } from "./disk.ts";

/** The root folder as an absolute path. It is never created: it may be a share that is not mounted. */
export async function checkRoot(folder: string, disk: Disk, facts: TransferFacts): Promise<string> {
  if (folder.trim() === "") {
    throw new DimensionerError("configFolder", { surface: "config", operation: facts.operation });
  }
  const root = resolve(folder);
  if (root.includes("\0")) {
    throw fileError("fileNoFolder", root.replaceAll("\0", "�"), facts);
  }
  let isFolder: boolean;
  try {
    isFolder = (await disk.stat(root)).isDirectory();
  } catch (error) {
    throw diskError(error, root, facts);
  }
  if (!isFolder) {
    throw fileError("fileNotFolder", root, facts);
  }
  return root;
}

/**
 * Creates the folder for a file, `parts` under `root`, one by one. Throws ERR_FILE if a link leads out of the root.
 */
export async function makeSubfolders(
  root: string,
  parts: readonly string[],
  disk: Disk,
  facts: TransferFacts,
): Promise<string> {
  if (parts.length === 0) {
    return root;
  }
  const realRoot = await disk.realpath(root).catch((error: unknown) => {
    throw diskError(error, root, facts);
  });
  let folder = root;
  for (const part of parts) {
    folder = join(folder, part);
    const created = await makeFolder(folder, disk, facts);
    await checkInside(folder, realRoot, disk, facts);
    if (created) {
      await syncFolder(dirname(folder), disk, facts);
    }
  }
  return folder;
}

async function makeFolder(folder: string, disk: Disk, facts: TransferFacts): Promise<boolean> {
  try {
    await disk.mkdir(folder);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") {
      return false;
    }
    throw diskError(error, folder, facts);
  }
}

async function checkInside(
  folder: string,
  realRoot: string,
  disk: Disk,
  facts: TransferFacts,
): Promise<void> {
  let real: string;
  let isFolder: boolean;
  try {
    real = await disk.realpath(folder);
    isFolder = (await disk.lstat(real)).isDirectory();
  } catch (error) {
    // The path exists, so it is a link that leads nowhere or in a circle.
    const code = systemCode(error);
    throw code === "ENOENT" || code === "ELOOP"
      ? fileError("fileOutside", folder, facts)
      : diskError(error, folder, facts);
  }
  const inside = real === realRoot || real.startsWith(realRoot.endsWith(sep) ? realRoot : realRoot + sep);
  if (!inside) {
    throw fileError("fileOutside", folder, facts);
  }
  if (!isFolder) {
    throw fileError("fileNotFolder", folder, facts);
  }
}

/** The errors of systems that do not open folders as files (Windows), or not this one. */
const cannotOpen: ReadonlySet<string> = new Set(["EACCES", "EBADF", "EISDIR", "EPERM"]);

/** Syncs a folder, so that its new names survive a loss of power. Returns whether the system supports that. */
export async function syncFolder(folder: string, disk: Disk, facts: TransferFacts): Promise<boolean> {
  try {
    const handle = await disk.open(folder, "r");
    try {
      await handle.sync();
      return true;
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!cannotSync(error) && !cannotOpen.has(systemCode(error) ?? "")) {
      throw diskError(error, folder, facts);
    }
    return false;
  }
}
