import { join } from "node:path";
import { isS3Url } from "../s3/bucket-address.ts";
import type { ArchivedFile } from "../../model/shapes.ts";
import type { Manifest } from "./manifest.ts";

/** The path of something in a folder; in a bucket, whose folders begin with `s3://`, its address. */
function addressIn(folder: string, name: string): string {
  return isS3Url(folder) ? `${folder.replace(/\/$/, "")}/${name}` : join(folder, name);
}

/** The images and videos of a package, as messages name them: with absolute paths, or addresses in a bucket. */
export function archivedFiles(folder: string, { items }: Manifest): ArchivedFile[] {
  return items.map(({ path, source, ...item }) => ({
    path: addressIn(folder, path),
    source: source ?? null,
    contentId: item.contentId,
    description: item.description,
    contentType: item.contentTypeFound ?? item.contentTypeAnnounced,
    bytes: item.bytes,
    sha256: item.sha256,
    ...(item.contentTypeFound === null && { recognized: false }),
  }));
}
