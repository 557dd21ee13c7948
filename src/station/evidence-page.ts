import type { EvidenceOf } from "./types.ts";

/** The files of a package, as a page. Everything in it was said by others. */
export function evidencePage(
  reference: string,
  { id, summary, location, files }: EvidenceOf,
  language: string,
): string {
  const safe = (text: string | number | null): string =>
    String(text ?? "").replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
  const shown = (contentType: string, url: string): string => {
    if (contentType.startsWith("image/")) {
      return `<img src="${url}" alt="">`;
    }
    return contentType.startsWith("video/") ? `<video src="${url}" controls></video>` : "";
  };
  const rows = files.map(({ path, bytes, sha256, contentType }, index) => {
    const url = `${id}/${index}`;
    const name = path.split(/[\\/]/).pop() ?? "";
    return `<li><a href="${url}">${safe(name)}</a> ${safe(bytes)} B<br><small>SHA-256 ${safe(sha256)}</small><br>${shown(contentType, url)}</li>`;
  });
  return `<!doctype html><html lang="${safe(language)}"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${safe(reference)}</title><style>:root{color-scheme:light dark}body{font:1rem system-ui;margin:2rem auto;max-width:60rem;padding:0 1rem}
img,video{max-width:100%;max-height:24rem}li{margin:1rem 0}small{overflow-wrap:anywhere}</style>
<h1>${safe(reference)}</h1><p>${safe(summary)}</p><p>${safe(location)}</p><ul>${rows.join("")}</ul></html>`;
}
