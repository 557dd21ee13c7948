import { mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { Opened } from "../support/opened.ts";
import { fileOf } from "./scripted-server.ts";
import type { DiskRow } from "./tables/disk.ts";

/** A folder as the row describes it, in a parent folder that is inspected as a whole. */
export interface DiskFolder {
  readonly path: string;
  readonly folder: string;
  /** The files that exist before, by their path in the parent folder. */
  readonly before: readonly string[];
}

export async function prepareDiskFolder(
  { folder, there, link, filename = "video.mp4" }: DiskRow,
  opened: Opened,
): Promise<DiskFolder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "matrix-")));
  opened({ close: () => rm(path, { recursive: true }) });
  const inside = join(path, "folder");
  if (folder === "a file") {
    await writeFile(inside, "not a folder");
  } else if (folder === "a link to a folder") {
    await mkdir(join(path, "real"));
    await symlink(join(path, "real"), inside);
  } else if (folder === undefined) {
    await mkdir(inside);
  }
  if (there !== undefined) {
    await writeFile(join(inside, filename), there === "the same content" ? fileOf(1) : "something else");
  }
  if (link !== undefined) {
    await mkdir(join(path, "outside"));
    await symlink(join(path, "outside"), join(inside, link));
  }
  return { path, folder: inside, before: await filesIn(path) };
}

export async function filesIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(path, join(entry.parentPath, entry.name)));
}
