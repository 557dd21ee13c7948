import { readFileSync } from "node:fs";
import type * as fsPromises from "node:fs/promises";
import { parse, resolve, sep } from "node:path";

/** File systems that hang when a server or another program does not answer. */
const remoteType = /^(?:9p|afs|ceph|cifs|fuse|glusterfs|lustre|ncpfs|nfs|smb|virtiofs)/;

/**
 * The volume that hangs together with a folder: its network share, or on Windows its drive. Otherwise the folder
 * itself: a local disk is not known to hang as a whole, and a link may lead from it to a share.
 */
export function volumeOf(folder: string): string {
  const path = resolve(folder);
  if (process.platform === "win32") {
    return parse(path).root;
  }
  const shares = remoteMounts().filter((mount) => path === mount || path.startsWith(mount + sep));
  return shares.sort((a, b) => b.length - a.length)[0] ?? path;
}

/** The space on a folder's disk, in bytes; undefined for a share that does not report its size. */
export async function spaceOf(
  folder: string,
  disk: Pick<typeof fsPromises, "statfs">,
): Promise<{ readonly freeBytes: number; readonly totalBytes: number } | undefined> {
  const { bavail, blocks, bsize } = await disk.statfs(folder);
  return blocks > 0 ? { freeBytes: bavail * bsize, totalBytes: blocks * bsize } : undefined;
}

/** Whether a share is mounted at this very folder. */
export function isShareMount(folder: string): boolean {
  return remoteMounts().includes(resolve(folder));
}

/** The mount points of shares. The kernel reads this list from memory, so the call does not block. */
function remoteMounts(): string[] {
  let table: string;
  try {
    table = readFileSync("/proc/self/mountinfo", "utf8");
  } catch {
    return [];
  }
  return table.split("\n").flatMap((line) => {
    const [mount = "", source = ""] = line.split(" - ");
    const point = mount.split(" ")[4];
    return point !== undefined && remoteType.test(source) ? [unescapePoint(point)] : [];
  });
}

/** Decodes a path of the list, in which a space is written as \040. */
function unescapePoint(point: string): string {
  return point.replace(/\\([0-7]{3})/g, (_all, code: string) =>
    String.fromCharCode(Number.parseInt(code, 8)),
  );
}
