import { statSync } from "node:fs";
import { tmpdir } from "node:os";

/**
 * A folder on another file system than the temporary folder, in which everybody can write; undefined if there is none, as on most computers
 * without Linux.
 */
export function otherDisk(): string | undefined {
  const { dev } = statSync(tmpdir());
  return ["/dev/shm", "/var/tmp"].find((folder) => {
    const found = statSync(folder, { throwIfNoEntry: false });
    return found !== undefined && found.dev !== dev;
  });
}
