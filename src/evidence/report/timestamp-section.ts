import type { ReportTexts } from "./catalogs.ts";
import type { ExportedTimestamp } from "./exported-timestamps.ts";
import { html, type Html } from "./html.ts";
import { sayTime } from "./say-time.ts";

/** When a package was time-stamped, by whom, and how anybody can check it. Null if no time stamp covers it. */
export function timestampSection(timestamp: ExportedTimestamp | null, texts: ReportTexts): Html | null {
  if (timestamp === null) {
    return null;
  }
  const { found, folder, roots } = timestamp;
  const { links: count, kept } = found;
  const where = count === 0 ? texts.text("timestampOwn") : texts.text("timestampLater", { count });
  const trust =
    roots === null ? texts.text("timestampNoRoots") : texts.text("timestampRoots", { name: roots });
  return html`${sayTimestamp(timestamp, texts)}
    <p>${where} ${texts.text("timestampCheck")}</p>
    <pre>
openssl ts -verify -digest ${kept.about.manifestSha256} -in ${folder}response.tsr -CAfile ${roots ?? "roots.pem"}</pre>
    <p>${trust}</p>`;
}

function sayTimestamp({ found: { at, signer, root } }: ExportedTimestamp, texts: ReportTexts): string {
  const signed =
    root === null
      ? texts.text("timestampUnchecked", { name: signer })
      : texts.text("timestampChecked", { name: signer, root });
  return `${sayTime(at.toISOString())}: ${signed}`;
}
