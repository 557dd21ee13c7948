import { join } from "node:path";
import type { ArchivedFile } from "../../model/shapes.ts";
import type { Manifest } from "./manifest.ts";

/** The images and videos of a package, as messages name them: with absolute paths. */
export function archivedFiles(folder: string, { items }: Manifest): ArchivedFile[] {
  return items.map(({ path, source, ...item }) => ({
    path: join(folder, path),
    source: source ?? null,
    contentId: item.contentId,
    description: item.description,
    contentType: item.contentTypeFound ?? item.contentTypeAnnounced,
    bytes: item.bytes,
    sha256: item.sha256,
  }));
}
