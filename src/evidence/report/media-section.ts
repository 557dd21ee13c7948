import type { ExportedFile, ExportedPackage } from "./exported-package.ts";
import type { Manifest } from "../../vault/packages/manifest.ts";
import type { ReportTexts } from "./catalogs.ts";
import { addressOf, html } from "./html.ts";

/** A longer video is beside the page: a browser has to decode the whole page before it shows anything. */
const longestVideoBytes = 8 * 1024 * 1024;
/** All media that are in one page. */
const mostEmbeddedBytes = 48 * 1024 * 1024;

const pictureTypes: ReadonlySet<string> = new Set([
  "image/jpeg",
  "image/png",
  "image/bmp",
  "image/webp",
  "image/gif",
]);
const videoTypes: ReadonlySet<string> = new Set(["video/mp4"]);

type Item = Manifest["items"][number];

/** How many bytes of media may still be put into a page. */
export class EmbeddedBytes {
  #left = mostEmbeddedBytes;

  /** Whether a file is put into the page; then its bytes are counted. */
  take({ measured }: ExportedFile, type: string): boolean {
    const longest = videoTypes.has(type) ? Math.min(longestVideoBytes, this.#left) : this.#left;
    const isKnown = pictureTypes.has(type) || videoTypes.has(type);
    if (!isKnown || measured.bytes > longest) {
      return false;
    }
    this.#left -= measured.bytes;
    return true;
  }
}

/** The pictures and videos of a package. A file that is not what was archived is named, and not shown. */
export async function* mediaSection(
  { manifest, files }: ExportedPackage,
  texts: ReportTexts,
  { base, embedded }: { readonly base: string; readonly embedded: EmbeddedBytes },
): AsyncGenerator<string> {
  yield html`<h3>${texts.text("media")}</h3>`.text;
  const items = [...(manifest?.items ?? [])].sort((a, b) => Number(isAnnotated(b)) - Number(isAnnotated(a)));
  if (items.length === 0) {
    yield html`<p>${texts.text("noMedia")}</p>`.text;
    return;
  }
  yield '<div class="media">';
  for (const item of items) {
    yield "<figure>";
    yield* medium(
      item,
      files.find(({ path }) => path === item.path),
      texts,
      { base, embedded },
    );
    yield html`<figcaption>
      <bdi>${item.description ?? item.path}</bdi> · ${texts.size(item.bytes)}
    </figcaption>`.text;
    yield "</figure>";
  }
  yield "</div>";
}

async function* medium(
  item: Item,
  file: ExportedFile | undefined,
  texts: ReportTexts,
  { base, embedded }: { readonly base: string; readonly embedded: EmbeddedBytes },
): AsyncGenerator<string> {
  if (file === undefined || !file.isWhole) {
    yield html`<div class="beside bad-text">${texts.text("notShown")}</div>`.text;
    return;
  }
  const type = item.contentTypeFound ?? "";
  if (!embedded.take(file, type)) {
    yield html`<div class="beside">
      ${texts.text("linked")} <a href="${base}${addressOf(file.name)}"><bdi>${item.path}</bdi></a>
    </div>`.text;
    return;
  }
  const isVideo = videoTypes.has(type);
  const name = html`${item.description ?? item.path}`.text;
  yield isVideo
    ? `<video controls preload="metadata" aria-label="${name}" src="data:${type};base64,`
    : `<img alt="${name}" src="data:${type};base64,`;
  yield* base64(file);
  yield isVideo ? '"></video>' : '">';
}

/** In pieces of whole groups of three bytes, so that no piece ends with padding but the last. */
async function* base64({ content }: ExportedFile): AsyncGenerator<string> {
  let rest = Buffer.alloc(0);
  for await (const block of content()) {
    const all = Buffer.concat([rest, block]);
    const whole = all.length - (all.length % 3);
    yield all.toString("base64", 0, whole);
    rest = all.subarray(whole);
  }
  yield rest.toString("base64");
}

/** The picture into which the device has drawn the outline and the dimensions comes first. */
function isAnnotated({ description, path }: Item): boolean {
  return /annotated/i.test(description ?? path);
}
