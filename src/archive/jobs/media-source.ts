import type { Surface } from "../../errors/dimensioner-error.ts";
import type { MediaItem } from "../../model/shapes.ts";
import type { Download } from "../../model/download.ts";
import type { Picture } from "../packages/intent.ts";

interface SourcePeer {
  readonly origin: string;
  readonly host: string;
  readonly surface: Surface;
}

export interface TransferOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((doneBytes: number, totalBytes: number | null) => void) | undefined;
}

/** What the archive asks of a cloud. */
export interface MediaSource {
  readonly peer: SourcePeer;
  /** Lists what there is, once; ERR_NOT_FOUND for a transaction that is not known. */
  waitForMedia(
    transactionId: string,
    options: { readonly contentType?: string | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<{ readonly items: MediaItem[] }>;
  media(transactionId: string, contentId: string, options: TransferOptions): Promise<Download>;
}

/** What the archive asks of a device on the local network. */
export interface DeviceSource {
  readonly peer: SourcePeer;
  /** ERR_NOT_FOUND for an image that it does not have. */
  image(picture: Picture, imageIdentifier: string, options: TransferOptions): Promise<Download>;
  /** Whether the video that it keeps is of this reference's recording, as far as this process has seen. */
  keepsVideoOf(reference: string | null): boolean;
  /** The video that it keeps; ERR_NO_VIDEO while there is none. */
  video(options: TransferOptions): Promise<Download>;
}

/** What of `expect` is not among these media. */
export type FindMissing = (items: readonly MediaItem[], expect: readonly string[]) => string[];

/** Where a medium is on the cloud (spec 4.1), for the manifest. */
export function mediaPath(transactionId: string, contentId: string): string {
  return `/api/transactionmedia/${encodeURIComponent(transactionId)}/${encodeURIComponent(contentId)}`;
}
