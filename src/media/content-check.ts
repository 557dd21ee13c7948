import { DimensionerError } from "../errors/dimensioner-error.ts";
import { phrase } from "../errors/interpolation.ts";
import type { DownloadSource } from "../model/download.ts";
import { errorFacts } from "./disk.ts";
import { createFormatEnd, type FormatEnd } from "./format-end.ts";
import { extensionFor, looksLikeHtml, sniffBytes, sniffKind, type ContentKind } from "./sniff.ts";

/** What is known of a body after the check. */
export interface CheckedContent {
  /** The announced type, else the one that was found. */
  contentType: string;
  /** The type that the bytes show; null if they show none reliably. */
  found: string | null;
  /** Without the dot. */
  extension: string;
}

/** Checks a body while it arrives, and keeps at most its first kilobyte. */
export class ContentCheck {
  #head = Buffer.alloc(0);
  #kind: ContentKind | undefined;
  #end: FormatEnd | undefined;
  #sniffed = false;
  #bytes = 0;

  update(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength;
    if (this.#sniffed) {
      this.#end?.update(chunk);
      return;
    }
    const wanted = sniffBytes - this.#head.length;
    this.#head = Buffer.concat([this.#head, chunk.subarray(0, wanted)]);
    if (this.#head.length < sniffBytes) {
      return;
    }
    this.#sniff();
    this.#end?.update(chunk.subarray(wanted));
  }

  /** To be called once, after the last byte. Throws ERR_BAD_RESPONSE for what can't be a medium. */
  verdict(announced: string | null, source: DownloadSource): CheckedContent {
    this.#sniffRest();
    const { host } = source;
    if (this.#bytes === 0) {
      throw new DimensionerError("responseEmpty", errorFacts(source, source.surface), { host });
    }
    if (announced === "text/html" || announced === "application/xhtml+xml" || looksLikeHtml(this.#head)) {
      throw new DimensionerError("responseHtml", errorFacts(source, source.surface), { host });
    }
    return {
      contentType: announced ?? this.#kind?.contentType ?? "application/octet-stream",
      found: this.#kind?.contentType ?? null,
      extension: extensionFor(this.#kind, announced),
    };
  }

  /** To be called once, after the last byte. Throws ERR_BAD_RESPONSE where the format of a medium does not end there. */
  refuseUnfinished(source: DownloadSource): void {
    this.#sniffRest();
    if (this.#bytes === 0 || looksLikeHtml(this.#head)) {
      return;
    }
    const problem = this.#end === undefined ? phrase("endUnknown") : this.#end.problem();
    if (problem !== null) {
      const { host } = source;
      throw new DimensionerError("responseUnfinished", errorFacts(source, source.surface), { host, problem });
    }
  }

  #sniffRest(): void {
    if (!this.#sniffed) {
      this.#sniff();
    }
  }

  #sniff(): void {
    this.#sniffed = true;
    this.#kind = sniffKind(this.#head);
    if (this.#kind?.format === undefined) {
      return;
    }
    this.#end = createFormatEnd(this.#kind.format);
    this.#end.update(this.#head);
  }
}
