import type { PackageFinding } from "../../model/archive-reports.ts";
import type { ExportedPackage, Neighbour } from "./exported-package.ts";
import { figureOf, unitOf } from "../../vault/packages/measurement-fields.ts";
import type { ReportTexts } from "./catalogs.ts";
import { addressOf, html, type Html } from "./html.ts";
import type { ReportTextKey } from "./report-texts.ts";
import { timestampSection } from "./timestamp-section.ts";

/** A longer text is in the manifest. */
const longestText = 500;
const longestTitle = 120;

/** What a parcel is called in a report: its reference or, without one, an ID. */
export function titleOf({ manifest, indexed }: ExportedPackage): string {
  const { transactionReference, transactionId } = indexed;
  const title = manifest?.references.transactionReference ?? transactionReference ?? transactionId;
  const text = title ?? indexed.id;
  return text.length > longestTitle ? `${text.slice(0, longestTitle).toWellFormed()}…` : text;
}

/** Whether a package is as it was archived, and has all that was expected. */
export function stateOf({ findings, manifest }: ExportedPackage): "isIncomplete" | "isWhole" | "isWrong" {
  if (findings.length > 0 || manifest === null) {
    return "isWrong";
  }
  return manifest.complete ? "isWhole" : "isIncomplete";
}

/** What the verification has found, and what is missing. */
export function banners(one: ExportedPackage, texts: ReportTexts): Html[] {
  const { findings, manifest, indexed } = one;
  const shown: Html[] = [];
  if (stateOf(one) === "isWrong") {
    shown.push(
      html`<div class="banner bad">
        <strong>${texts.text("isWrong")}</strong>
        <p>${texts.text("isWrongHelp")}</p>
        <ul>
          ${findings.map((finding) => html`<li>${sayFinding(finding, indexed.path, texts)}</li>`)}
        </ul>
      </div>`,
    );
  }
  if (manifest !== null && !manifest.complete) {
    shown.push(
      html`<div class="banner warn">
        <strong>${texts.text("isIncomplete")}</strong>
        <p>${texts.text("isIncompleteHelp", { list: manifest.missing.join(", ") })}</p>
      </div>`,
    );
  }
  if (findings.length === 0) {
    shown.push(
      html`<div class="banner">
        <strong>${texts.text("isWhole")}</strong>
        <p>${texts.text("isWholeHelp")}</p>
      </div>`,
    );
  }
  return shown;
}

const findingTexts: Readonly<Record<PackageFinding["kind"], ReportTextKey>> = {
  changed: "foundChanged",
  missing: "foundMissing",
  unreadable: "foundUnreadable",
  stray: "foundStray",
  manifest: "foundManifest",
  "missing-package": "foundPackage",
  "previous-changed": "foundPrevious",
  timestamp: "foundTimestamp",
};

function sayFinding({ kind, path }: PackageFinding, location: string, texts: ReportTexts): string {
  const name = path.startsWith(`${location}/`) ? path.slice(location.length + 1) : path;
  return texts.text(findingTexts[kind], { name });
}

/** The measured values, the billable weight, and whether they may be used for trade. */
export function figuresOf({ manifest, measurement }: ExportedPackage, texts: ReportTexts): Html {
  const isLost = measurement === null && manifest !== null && manifest.measurement !== null;
  const fields = measurement ?? {};
  const sides = ["length", "width", "height"].map((name) => figureOf(fields, name));
  const weight = figureOf(fields, "weight");
  const missing = isLost ? texts.text("notShown") : texts.text("notMeasured");
  const dimensions = sides.every((side) => side !== null)
    ? `${sides.map((side) => texts.number(side)).join(" × ")} ${unitOf(fields, "dimsUnitOfMeasure") ?? ""}`
    : missing;
  const weighed =
    weight === null ? missing : `${texts.number(weight)} ${unitOf(fields, "weightUnitOfMeasure") ?? ""}`;
  const billable = manifest?.billable ?? null;
  const legal = manifest?.legalForTrade ?? null;
  return html`<h3>${texts.text("measurement")}</h3>
    <dl class="figures">
      <div>
        <dt>${texts.text("dimensions")}</dt>
        <dd><bdi>${dimensions.trim()}</bdi></dd>
      </div>
      <div>
        <dt>${texts.text("weight")}</dt>
        <dd><bdi>${weighed.trim()}</bdi></dd>
      </div>
      <div>
        <dt>${texts.text("billable")}</dt>
        <dd>
          ${
            billable === null
              ? html`–`
              : html`${texts.number(billable.weight)} ${billable.unit}
                  <small>${texts.text("billableHelp")} <bdi>${short(billable.explanation)}</bdi></small>`
          }
        </dd>
      </div>
      <div>
        <dt>${texts.text("legal")}</dt>
        <dd class="said">${texts.text(legal === null ? "legalUnknown" : legal ? "legalYes" : "legalNo")}</dd>
      </div>
    </dl>`;
}

/** Each file with its length and its SHA-256, as it is in the ZIP. */
export function fileTable({ files }: ExportedPackage, texts: ReportTexts, base: string): Html {
  if (files.length === 0) {
    return html``;
  }
  const rows = files.map(
    ({ path, name, measured, isWhole }) =>
      html`<tr>
        <td>
          <a href="${base}${addressOf(name)}"><bdi>${path}</bdi></a>
          ${isWhole ? html`` : html`<div class="bad-text">${texts.text("isWrong")}</div>`}
        </td>
        <td class="size">${texts.size(measured.bytes)}</td>
        <td class="hash">${measured.sha256}</td>
      </tr>`,
  );
  return html`<h3>${texts.text("files")}</h3>
    <table class="files">
      <thead>
        <tr>
          <th>${texts.text("file")}</th>
          <th>${texts.text("size")}</th>
          <th>SHA-256</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>`;
}

/** The manifest's hash, and the packages before and after this one. */
export function chainOf(
  { manifest, sha256, before, after, timestamp }: ExportedPackage,
  texts: ReportTexts,
): Html {
  const none = (key: ReportTextKey): Html => html`${texts.text(key)}`;
  const neighbour = ({ path, state }: Neighbour, fits: ReportTextKey): Html => {
    const key = { fits, gone: "neighbourGone", other: "neighbourOther" } as const;
    return html`<bdi>${short(path)}</bdi> (${texts.text(key[state])})`;
  };
  const previous = manifest?.previous ?? null;
  return html`<h3>${texts.text("chain")}</h3>
    <p class="about">${texts.text("chainHelp")}</p>
    ${facts([
      [texts.text("manifestHash"), sha256 === null ? null : html`<span class="hash">${sha256}</span>`],
      [
        texts.text("before"),
        before === null
          ? none("first")
          : html`${neighbour(before, "beforeFits")}
              <div class="hash">${previous?.sha256 ?? ""}</div>`,
      ],
      [texts.text("after"), after === null ? none("last") : neighbour(after, "afterFits")],
      [texts.text("timestamp"), timestampSection(timestamp, texts)],
    ])}`;
}

/** Names and values; what nobody knows is left out. */
export function facts(rows: readonly (readonly [string, Html | string | null])[]): Html {
  const shown = rows.filter(
    (row): row is readonly [string, Html | string] => row[1] !== null && row[1] !== "",
  );
  return html`<dl class="facts">
    ${shown.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${typeof value === "string" ? html`<bdi>${value}</bdi>` : value}</dd>
        </div>`,
    )}
  </dl>`;
}

function short(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText).toWellFormed()}…` : text;
}

/** A text from outside, in full if it is not too long. */
export function given(text: string | null | undefined, texts: ReportTexts): Html | null {
  if (text === null || text === undefined || text === "") {
    return null;
  }
  const rest =
    text.length > longestText
      ? html` <small>${texts.text("cutOff", { count: text.length })}</small>`
      : html``;
  return html`<bdi>${short(text)}</bdi>${rest}`;
}
