import type { ExportedPackage } from "./exported-package.ts";
import type { ReportTexts } from "./catalogs.ts";
import { html, type Html } from "./html.ts";
import { facts, given } from "./package-section.ts";
import { sayTime } from "./say-time.ts";

/** What the manifest says of the parcel, the device and the times. */
export function knownFacts({ manifest, indexed }: ExportedPackage, texts: ReportTexts): Html {
  if (manifest === null) {
    const index = facts([
      [texts.text("transactionReference"), given(indexed.transactionReference, texts)],
      [texts.text("transactionId"), given(indexed.transactionId, texts)],
      [texts.text("packageId"), indexed.id],
      [texts.text("archived"), sayTime(indexed.archivedAt)],
    ]);
    return html`<h3>${texts.text("parcel")}</h3>
      ${index}`;
  }
  const { references, times, instrument, measuredBy = null, software } = manifest;
  const parcel = facts([
    [texts.text("transactionReference"), given(references.transactionReference, texts)],
    [texts.text("customReference1"), given(references.customReference1, texts)],
    [texts.text("customReference2"), given(references.customReference2, texts)],
    [texts.text("customReference3"), given(references.customReference3, texts)],
    [texts.text("barcodeReference"), given(references.barcodeReference, texts)],
    [texts.text("scan"), given(manifest.scan?.text, texts)],
    [texts.text("transactionId"), given(manifest.transactionId, texts)],
    [texts.text("packageId"), given(manifest.job, texts)],
    [texts.text("supplements"), given(manifest.supplements?.path, texts)],
  ]);
  const device = facts([
    [texts.text("deviceName"), given(manifest.device ?? measuredBy?.name, texts)],
    [texts.text("serialNumber"), given(instrument?.serialNumber, texts)],
    [texts.text("certificate"), given(instrument?.certificate, texts)],
    [texts.text("cloud"), given(manifest.cloud, texts)],
    [texts.text("software"), given(`${software.name} ${software.version}`, texts)],
  ]);
  const clocks = facts([
    [texts.text("deviceLocal"), given(sayTime(times.deviceLocal), texts)],
    [texts.text("deviceUtc"), given(sayTime(times.deviceUtc), texts)],
    [texts.text("accepted"), given(sayTime(times.accepted), texts)],
    [texts.text("archived"), given(sayTime(times.archived), texts)],
  ]);
  const column = (heading: string, rows: Html): Html =>
    html`<div>
      <h3>${heading}</h3>
      ${rows}
    </div>`;
  return html`<div class="columns">
    ${column(texts.text("parcel"), parcel)} ${column(texts.text("device"), device)}
    ${column(texts.text("times"), clocks)}
  </div>`;
}
