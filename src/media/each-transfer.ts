import type { Download } from "../model/download.ts";

/**
 * Calls `begun` now and at each restart of the download, when its headers have arrived: what is told then holds for the bytes
 * that follow. If `begun` throws, the transfer is ended and the download fails with that error.
 */
export function eachTransfer(download: Download, begun: () => void): Download {
  const { contentType, contentLength, framing, suggestedName, source, body } = download;
  try {
    begun();
  } catch (error) {
    body.destroy();
    throw error;
  }
  return {
    contentType,
    contentLength,
    framing,
    suggestedName,
    source,
    body,
    restart: async () => eachTransfer(await download.restart(), begun),
  };
}
