import type { Surface } from "../../errors/dimensioner-error.ts";
import type { MediaItem } from "../../model/shapes.ts";
import type { Download } from "../../model/download.ts";
import type { Picture } from "../../vault/packages/intent.ts";

interface SourcePeer {
  readonly origin: string;
  readonly host: string;
  readonly surface: Surface;
}

export interface TransferOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((doneBytes: number, totalBytes: number | null) => void) | undefined;
}

/** A cloud as the archive uses it. */
export interface MediaSource {
  readonly peer: SourcePeer;
  /** Lists the media once; ERR_NOT_FOUND for an unknown transaction. */
  waitForMedia(
    transactionId: string,
    options: { readonly contentType?: string | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<{ readonly items: MediaItem[] }>;
  media(transactionId: string, contentId: string, options: TransferOptions): Promise<Download>;
}

/** A device on the local network as the archive uses it. */
export interface DeviceSource {
  readonly peer: SourcePeer;
  /** Downloads an image; ERR_NOT_FOUND if the device does not have it. */
  image(picture: Picture, imageIdentifier: string, options: TransferOptions): Promise<Download>;
  /** Whether the video that it keeps is of this reference's recording, as far as this process knows. */
  keepsVideoOf(reference: string | null): boolean;
  /** Downloads the video that it keeps; ERR_NO_VIDEO if there is none. */
  video(options: TransferOptions): Promise<Download>;
}

/** Returns the entries of `expect` that are not among these media. */
export type FindMissing = (items: readonly MediaItem[], expect: readonly string[]) => string[];

/** The path of a medium in the cloud (spec 4.1), for the manifest. */
export function mediaPath(transactionId: string, contentId: string): string {
  return `/api/transactionmedia/${encodeURIComponent(transactionId)}/${encodeURIComponent(contentId)}`;
}
