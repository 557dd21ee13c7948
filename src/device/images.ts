import { startDownload, type DownloadOptions } from "../http/download.ts";
import { encodePart } from "../http/path-part.ts";
import type { Transport } from "../http/transport.ts";
import type { Download } from "../model/download.ts";
import { checkCall } from "./arguments.ts";
import { generations, refuseMissing, type Generation, type ImageKind } from "./generations.ts";

/** Starts the download of an image of an earlier measurement (spec 4.2); resolves with the headers. */
export async function startImage(
  transport: Transport,
  generation: Generation,
  kind: ImageKind,
  imageIdentifier: string,
  options: DownloadOptions,
): Promise<Download> {
  const { peer } = transport;
  const operation = "image";
  checkCall(peer, operation, null, { kind, imageIdentifier, options });
  const paths = generations[generation].imagePaths ?? refuseMissing(generation, "images", operation, null);
  const id = encodePart(peer.surface, operation, "imageIdentifier", imageIdentifier);
  return startDownload(
    transport,
    {
      acts: false,
      operation,
      method: "GET",
      path: `${paths[kind]}/${id}`,
      query: "",
      statuses: { 404: "notFoundImage" },
    },
    `${imageIdentifier}-${kind}`,
    options,
  );
}
