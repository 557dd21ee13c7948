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
 * The folder for a file: `parts` under `root`, created one by one. Throws ERR_FILE where a link leads out of the root.
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
    // It exists, so what can't be followed is a link that leads nowhere or in a circle.
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

/** What systems answer that open no folders as files (Windows) or not this one. */
const cannotOpen: ReadonlySet<string> = new Set(["EACCES", "EBADF", "EISDIR", "EPERM"]);

/** Makes new names in a folder last through a loss of power, where the system can do that; says whether it can. */
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
