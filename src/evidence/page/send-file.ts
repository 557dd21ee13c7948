import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ArchiveFiles } from "../../vault/files/archive-files.ts";
import type { OpenedPackage } from "../hold.ts";
import { Refusal, headersOf } from "./answers.ts";
import { readRange } from "./byte-range.ts";

/** What a browser shows on its own. Everything else is only saved, because it could be a page with scripts. */
const shown = new Set(["image/bmp", "image/gif", "image/jpeg", "image/png", "image/webp", "video/mp4"]);

/** A file that a package's manifest lists. */
type Item = OpenedPackage["manifest"]["items"][number];

/**
 * Sends a file of a package, or the part of it that a player asks for. The name comes from the manifest, which accepts only
 * names without folders, and links are not followed. The file is sent as it is; whether it is unchanged is what Verify says.
 */
export async function sendPackageFile(
  request: IncomingMessage,
  response: ServerResponse,
  { folder }: OpenedPackage,
  item: Item,
  files: ArchiveFiles,
): Promise<void> {
  const isWhole = request.method === "GET" && request.headers.range === undefined;
  const file = await files.openToSend(join(folder, item.path), isWhole);
  if (file === undefined) {
    throw new Refusal(404, "fileGone");
  }
  // A reader that has left does not wait for a bucket that sends nothing.
  response.once("close", () => void file.close().catch(() => undefined));
  try {
    const { bytes: size } = file;
    const etag = `"${item.sha256}"`;
    const isSame = request.headers["if-range"] === undefined || request.headers["if-range"] === etag;
    const range = isSame ? readRange(request.headers.range, size) : "whole";
    if (range === "none") {
      throw new Refusal(416, "badRequest", { "content-range": `bytes */${size}` });
    }
    const part = range === "whole" ? { first: 0, last: size - 1 } : range;
    response.writeHead(range === "whole" ? 200 : 206, {
      ...headersOf(typeHeaders(item)),
      "accept-ranges": "bytes",
      "content-length": String(part.last - part.first + 1),
      etag,
      ...(range === "whole" ? {} : { "content-range": `bytes ${part.first}-${part.last}/${size}` }),
    });
    if (request.method === "HEAD") {
      response.end();
      return;
    }
    await pipeline(Readable.from(file.read(part.first, part.last), { objectMode: false }), response);
  } finally {
    await file.close();
  }
}

function typeHeaders({ contentTypeFound, contentTypeAnnounced }: Item): Record<string, string> {
  const type = contentTypeFound ?? contentTypeAnnounced ?? "";
  return shown.has(type)
    ? { "content-type": type }
    : { "content-type": "application/octet-stream", "content-disposition": "attachment" };
}
