import { readFileSync } from "node:fs";
import { parse, resolve, sep } from "node:path";

/** File systems that hang when a network or another program does not answer. */
const remoteType = /^(?:9p|afs|ceph|cifs|fuse|glusterfs|lustre|ncpfs|nfs|smb|virtiofs)/;

/**
 * What hangs as one with a folder: the network share that it is on, the drive on Windows. Otherwise the folder itself: a local
 * disk is not known to hang as a whole, and a link may lead from it to a share.
 */
export function volumeOf(folder: string): string {
  const path = resolve(folder);
  if (process.platform === "win32") {
    return parse(path).root;
  }
  const shares = remoteMounts().filter((mount) => path === mount || path.startsWith(mount + sep));
  return shares.sort((a, b) => b.length - a.length)[0] ?? path;
}

/** Whether this very folder is where a share is mounted. */
export function isShareMount(folder: string): boolean {
  return remoteMounts().includes(resolve(folder));
}

/** Where shares are mounted. The kernel answers this from memory, so that it can be asked without waiting. */
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

/** The kernel writes a space as \040. */
function unescapePoint(point: string): string {
  return point.replace(/\\([0-7]{3})/g, (_all, code: string) =>
    String.fromCharCode(Number.parseInt(code, 8)),
  );
}
