import type { Surface } from "../../errors/dimensioner-error.ts";
import type { MediaItem } from "../../model/shapes.ts";
import type { Download } from "../../model/download.ts";

/** What the archive asks of a cloud. */
export interface MediaSource {
  readonly peer: { readonly origin: string; readonly host: string; readonly surface: Surface };
  /** Lists what there is, once, with what is missing from it; ERR_NOT_FOUND for a transaction that is not known. */
  waitForMedia(
    transactionId: string,
    options: {
      readonly contentType?: string | undefined;
      readonly expect?: readonly string[];
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<{ readonly items: MediaItem[]; readonly missing: readonly string[] }>;
  media(
    transactionId: string,
    contentId: string,
    options: {
      readonly signal?: AbortSignal | undefined;
      readonly onProgress?: ((doneBytes: number, totalBytes: number | null) => void) | undefined;
    },
  ): Promise<Download>;
}

/** What of `expect` is not among these media. */
export type FindMissing = (items: readonly MediaItem[], expect: readonly string[]) => string[];

/** Where a medium is on the cloud (spec 4.1), for the manifest. */
export function mediaPath(transactionId: string, contentId: string): string {
  return `/api/transactionmedia/${encodeURIComponent(transactionId)}/${encodeURIComponent(contentId)}`;
}
