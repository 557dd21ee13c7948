import { DimensionerError } from "../errors/dimensioner-error.ts";
import { phrase, type Phrase } from "../errors/interpolation.ts";
import type { DownloadFacts } from "../model/download.ts";
import { errorFacts, type TransferFacts } from "./disk.ts";
import { createFormatEnd, type FormatEnd } from "./format-end.ts";
import { extensionFor, looksLikeHtml, sniffBytes, sniffKind, type ContentKind } from "./sniff.ts";

/** What a body turned out to be. */
export interface CheckedContent {
  contentType: string;
  /** Without the dot. */
  extension: string;
}

/** Looks at a body as it comes by, keeping its first kilobyte at most. */
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

  /** To be called once, after the last byte. Throws ERR_BAD_RESPONSE for what can't be the whole of a medium. */
  verdict(download: DownloadFacts, facts: TransferFacts): CheckedContent {
    if (!this.#sniffed) {
      this.#sniff();
    }
    const announced = download.contentType;
    const { host } = facts;
    if (this.#bytes === 0) {
      throw new DimensionerError("responseEmpty", errorFacts(facts, facts.surface), { host });
    }
    if (announced === "text/html" || announced === "application/xhtml+xml" || looksLikeHtml(this.#head)) {
      throw new DimensionerError("responseHtml", errorFacts(facts, facts.surface), { host });
    }
    const problem = this.#problem(download);
    if (problem !== null) {
      throw new DimensionerError("responseUnfinished", errorFacts(facts, facts.surface), { host, problem });
    }
    return {
      contentType: announced ?? this.#kind?.contentType ?? "application/octet-stream",
      extension: extensionFor(this.#kind, announced),
    };
  }

  #problem(download: DownloadFacts): Phrase | null {
    if (download.bytes !== this.#bytes) {
      return phrase("bytesOf", { bytes: this.#bytes, total: download.bytes });
    }
    if (download.framing !== "close") {
      return null;
    }
    return this.#end === undefined ? phrase("endUnknown") : this.#end.problem();
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
