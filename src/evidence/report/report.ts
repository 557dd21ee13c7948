import { createHash } from "node:crypto";
import type { PackageFinding, PackageTime } from "../../model/archive-reports.ts";
import { customReferenceNames } from "../../model/local-measurement.ts";
import type { VerifyResult } from "../../model/shapes.ts";
import { byContent, captionsOf } from "../../rules/media-kinds.ts";
import { visibleText } from "../../rules/visible-text.ts";
import { nameOfWork, usualWork } from "../../rules/works.ts";
import { type Manifest, figureOf, unitOf } from "../../vault/packages/manifest.ts";
import type { EventOf, LogEvent } from "../../vault/log/events.ts";
import { commandOf } from "../../vault/export-proof.ts";
import type { StampProof } from "../../vault/log/package-proof.ts";
import type { ExportedFile, ExportedPackage } from "./exported-package.ts";
import type { ReadHeading } from "./heading.ts";
import type { ReportTextKey, ReportTexts } from "./report-texts.ts";

/** The style sheet of a report: for a screen of any width, and for paper of A4 and Letter size. */
const styles = `
:root { --ink: #1b2430; --soft: #56616f; --line: #d9dee5; --tint: #f5f7f9; --good: #1d7a46; --bad: #b3261e; --warn: #8a5a00; }
* { box-sizing: border-box; }
html { color-scheme: light; background: #fff; -webkit-text-size-adjust: 100%; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
body { max-width: 64rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; color: var(--ink); background: #fff; font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", sans-serif; overflow-wrap: anywhere; }
h1, h2, h3 { margin: 0; line-height: 1.25; font-weight: 600; text-wrap: balance; }
h1, .only > h2 { font-size: 2rem; }
h2 { font-size: 1.5rem; }
h3, h2.small { margin: 2rem 0 .6rem; font-size: .95rem; color: var(--soft); }
p { margin: .4rem 0; max-width: 46rem; }
a { color: #14539a; }
pre, .hash { font: .85em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.hash { color: var(--soft); overflow-wrap: anywhere; }
.shop { display: flex; flex-wrap: wrap; align-items: center; gap: .8rem 1.5rem; margin: 0 0 2rem; padding: 0 0 1.2rem; border-bottom: 1px solid var(--line); break-inside: avoid; }
.shop img { display: block; max-width: min(100%, 16rem); max-height: 5rem; }
.shop div { flex: 1; min-width: min(100%, 14rem); }
.shop p { margin: 0; }
.shop .name { font-weight: 600; font-size: 1.1rem; }
.shop .name + p { color: var(--soft); }
.kind { margin: 0 0 .3rem; color: var(--soft); font-size: 1rem; }
.about { color: var(--soft); }
.parcel { margin-top: 3.5rem; padding-top: 2rem; border-top: 2px solid var(--ink); }
.banner { margin: 1.25rem 0; padding: .8rem 1.1rem; border: 1px solid var(--line); border-left: 5px solid var(--good); border-radius: 4px; background: var(--tint); }
.banner strong { color: var(--good); font-size: 1.05rem; }
.banner.bad { border-left-color: var(--bad); }
.banner.bad strong, .bad-text { color: var(--bad); }
.banner.warn { border-left-color: var(--warn); }
.banner.warn strong { color: var(--warn); }
.good-text { color: var(--good); }
.warn-text { color: var(--warn); }
.banner p { margin: .15rem 0 0; }
.banner ul { margin: .3rem 0 0; padding-left: 1.2rem; }
.figures { display: grid; grid-template-columns: 1.7fr 1fr 1.5fr 1fr; gap: 1px; margin: 0; border: 1px solid var(--line); border-radius: 4px; background: var(--line); overflow: hidden; }
.figures div { padding: .8rem 1rem; background: #fff; }
.figures dt { color: var(--soft); font-size: .85rem; }
.figures dd { margin: .1rem 0 0; font-size: 1.3rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.figures dd.said { font-size: 1rem; padding-top: .2rem; }
.figures small { display: block; color: var(--soft); font-size: .8rem; font-weight: 400; line-height: 1.35; }
.media { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 18rem), 1fr)); gap: 1rem; align-items: start; }
.media:has(> :only-child) { grid-template-columns: minmax(0, 40rem); }
figure { margin: 0; border: 1px solid var(--line); border-radius: 4px; overflow: hidden; break-inside: avoid; }
figure img, figure video { display: block; width: 100%; max-height: 30rem; object-fit: contain; background: var(--tint); }
figcaption { padding: .5rem .8rem; font-size: .85rem; }
.beside { padding: 1.2rem .8rem .4rem; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 18rem), 1fr)); gap: 0 2.5rem; }
.facts { margin: 0; }
.facts > div { padding: .35rem 0; border-bottom: 1px solid var(--line); }
.facts dt { color: var(--soft); font-size: .85rem; }
.facts dd { margin: 0; }
.local { display: inline-block; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
th { color: var(--soft); font-weight: 400; text-align: left; }
th, td { padding: .4rem .8rem .4rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.size { white-space: nowrap; overflow-wrap: normal; }
pre { margin: .5rem 0; padding: .7rem 1rem; border-radius: 4px; background: var(--tint); white-space: pre-wrap; }
.end { margin-top: 3.5rem; padding-top: 1rem; border-top: 2px solid var(--ink); }
@media (max-width: 40rem) {
  body { padding: 1.25rem 1rem 3rem; }
  h1, .only > h2 { font-size: 1.6rem; }
  .kind { font-size: 1rem; }
  .figures { grid-template-columns: 1fr 1fr; }
  .figures div:first-child, .figures div:last-child { grid-column: 1 / -1; }
  .files, .files tbody, .files tr, .files td { display: block; }
  .files thead { display: none; }
  .files tr { padding: .4rem 0; border-bottom: 1px solid var(--line); }
  .files td { padding: 0; border: 0; }
}
@page { margin: 16mm 14mm 18mm; @bottom-right { content: counter(page) " / " counter(pages); color: #56616f; font: 9px system-ui, sans-serif; } }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  h1, .only > h2 { font-size: 20pt; }
  .kind { font-size: 11pt; }
  .shop { margin-bottom: 1rem; padding-bottom: .6rem; }
  .shop img { max-height: 16mm; }
  h2 { font-size: 15pt; }
  h3, h2.small { margin-top: 1.4rem; font-size: 10pt; break-after: avoid; }
  a { color: inherit; text-decoration: none; }
  .parcel { margin-top: 0; padding-top: 0; border: 0; break-before: page; }
  h2 { break-after: avoid; }
  .banner, .figures, .columns, .end .facts, .facts > div, tr, pre { break-inside: avoid; }
  .figures { grid-template-columns: 1.7fr 1fr 1.5fr 1fr; }
  .media { grid-template-columns: 1fr 1fr; }
  .columns { grid-template-columns: 1fr 1fr 1fr; gap: 0 1.5rem; }
  .facts > div { padding: .15rem 0; }
  th, td { padding: .25rem .6rem .25rem 0; }
  pre, .hash { font-size: 7.5pt; }
  figure img { max-height: 95mm; }
  figure video { display: none; }
}
`;

/** What a report is about. */
export interface ReportSubject {
  readonly packages: readonly ExportedPackage[];
  readonly verification: VerifyResult;
  readonly heading: ReadHeading;
  readonly texts: ReportTexts;
  /** From the page to the folder of the ZIP: "" or "../". */
  readonly base: string;
  /** The file in the ZIP with the root certificates that the signers of time stamps were checked against; null if none were given. */
  readonly roots: string | null;
}

/** Nothing is loaded from anywhere, nothing runs, and no other style than this one counts. */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(styles).digest("base64")}'`,
  "img-src data:",
  "media-src data:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** Writes a self-contained page about one package or a case of several, in pieces. */
export async function* writeReport(subject: ReportSubject): AsyncGenerator<string> {
  const { packages, heading, texts, base, roots } = subject;
  const [first, ...others] = packages;
  if (first === undefined) {
    return;
  }
  const isCase = others.length > 0;
  const title = isCase ? texts.text("caseTitle", { count: packages.length }) : titleOf(first);
  yield "<!doctype html>\n";
  yield `<html lang="${texts.language}">\n<head>\n`;
  yield html`<meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${policy}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="referrer" content="no-referrer" />
    <title>${title} · ${texts.text("title")}</title>`.text;
  yield `<style>${styles}</style>\n</head>\n<body>\n`;
  yield "<header>";
  yield shopOf(heading).text;
  yield isCase
    ? html`<h1>${title}</h1>
        ${claimOf(heading, texts)} ${overview(packages, texts)}`.text
    : html`<h1 class="kind">${texts.text("title")}</h1>
        ${claimOf(heading, texts)}`.text;
  yield "</header>\n";
  yield "<main>";
  const embedded = new EmbeddedBytes();
  for (const [index, one] of packages.entries()) {
    // Not with the html tag: the formatter would close the element here, although it ends further below.
    yield `<section class="${isCase ? "parcel" : "only"}" id="package-${index + 1}">`;
    yield html`<h2><bdi>${titleOf(one)}</bdi></h2>`.text;
    yield html`${coverOf(one, texts)}${banners(one, texts)}${figuresOf(one, texts)}`.text;
    yield* mediaSection(one, texts, { base, embedded });
    yield html`${knownFacts(one, texts)}${laterEvents(one, texts)}${fileTable(one, texts, base)}${proofOf(one, texts, roots)}`
      .text;
    yield "</section>";
  }
  yield "</main>";
  yield end(subject).text;
  yield "</body>\n</html>\n";
}

/** The letterhead of the shop; nothing if it has set none. */
function shopOf({ name, address, logo }: ReadHeading): Html {
  if (name === "" && address === "" && logo === null) {
    return html``;
  }
  const picture =
    logo === null
      ? null
      : html`<img alt="" src="data:${logo.contentType};base64,${logo.content.toString("base64")}" />`;
  return html`<div class="shop">
    ${picture}
    <div>
      ${name === "" ? null : html`<p class="name"><bdi>${short(name)}</bdi></p>`}
      ${address === "" ? null : html`<p><bdi>${short(address)}</bdi></p>`}
    </div>
  </div>`;
}

function claimOf({ claim }: ReadHeading, texts: ReportTexts): Html {
  return claim === "" ? html`` : html`<p class="claim">${texts.text("claim")}: <bdi>${claim}</bdi></p>`;
}

const colors = { isWhole: "good-text", isWrong: "bad-text", isIncomplete: "warn-text" } as const;

function overview(packages: readonly ExportedPackage[], texts: ReportTexts): Html {
  const rows = packages.map((one, index) => {
    const state = stateOf(one);
    return html`<tr>
      <td>
        <a href="#package-${index + 1}"><bdi>${titleOf(one)}</bdi></a>
      </td>
      <td>${timeOf(one.indexed.archivedAt, texts)}</td>
      <td class="${colors[state]}">${texts.text(state)}</td>
    </tr>`;
  });
  return html`<h2 class="small">${texts.text("overview")}</h2>
    ${tableOf([texts.text("package"), texts.text("archived"), texts.text("result")], rows)}`;
}

function tableOf(headings: readonly string[], rows: readonly Html[], name?: string): Html {
  return html`<table${name === undefined ? html`` : html` class="${name}"`}>
      <thead>
        <tr>
          ${headings.map((heading) => html`<th>${heading}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>`;
}

/** What was verified when and by which version, and how anybody can do it again. */
function end({ packages: about, verification, texts }: ReportSubject): Html {
  const { verdict, verifiedAtUtc, software, files, packages, bytes } = verification;
  const state = verdict === "ok" ? "isWhole" : "isWrong";
  const checked = texts.text("verifiedFilesHelp", { files, packages, size: texts.size(bytes) });
  const times = [verifiedAtUtc, ...about.map(({ indexed }) => indexed.archivedAt)];
  const hasLocal = times.some((time) => localTime(time) !== null);
  return html`<footer class="end">
    <h2>${texts.text("verification")}</h2>
    ${facts([
      [texts.text("result"), html`<span class="${colors[state]}">${texts.text(state)}</span>`],
      [texts.text("verifiedAt"), timeOf(verifiedAtUtc, texts)],
      [texts.text("verifiedBy"), software],
      [texts.text("verifiedFiles"), checked],
    ])}
    ${hasLocal ? html`<p class="about">${texts.text("localTimes")}</p>` : null}
    <h3>${texts.text("check")}</h3>
    <p>${texts.text("checkHelp")}</p>
    <pre>
Linux    sha256sum -c SHA256SUMS
macOS    shasum -a 256 -c SHA256SUMS
Windows  certutil -hashfile manifest.json SHA256   (${texts.text("checkOneFile")})</pre>
    <p>${texts.text("checkManifest")}</p>
    <pre>python3 proof/check.py</pre>
    <p>${texts.text("checkLimits")}</p>
  </footer>`;
}

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
function stateOf({ findings, manifest }: ExportedPackage): "isIncomplete" | "isWhole" | "isWrong" {
  if (findings.length > 0 || manifest === null) {
    return "isWrong";
  }
  return manifest.complete ? "isWhole" : "isIncomplete";
}

/** Since when it is shown that the package is as it is. */
function coverOf({ indexed: { proof } }: ExportedPackage, texts: ReportTexts): Html {
  return proof.first === null
    ? html`<div class="banner warn">
        <strong>${texts.text("notCovered")}</strong>
        <p>${texts.text("notCoveredHelp")}</p>
      </div>`
    : html`<div class="banner">
        <strong>${texts.text("covered", { time: sayTime(proof.first.verified.at.toISOString()) })}</strong>
        <p>${saySigner(proof.first, texts)}</p>
      </div>`;
}

/** What the verification has found, and what is missing. */
function banners(one: ExportedPackage, texts: ReportTexts): Html[] {
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
        <p>${texts.text("isIncompleteHelp", { list: manifest.missing.map(texts.missing).join(", ") })}</p>
      </div>`,
    );
  }
  if (one.timesInDoubt.length > 0) {
    const say = (which: PackageTime, at: string): string => `${texts.text(timeTexts[which])}: ${sayTime(at)}`;
    shown.push(
      html`<div class="banner warn">
        <strong>${texts.text("timesInDoubt")}</strong>
        <ul>
          ${one.timesInDoubt.map(
            ({ first, firstAt, second, secondAt }) =>
              html`<li>${say(first, firstAt)}; ${say(second, secondAt)}</li>`,
          )}
        </ul>
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

const timeTexts: Readonly<Record<PackageTime, ReportTextKey>> = {
  recorded: "timeRecorded",
  measured: "deviceUtc",
  measuredLocal: "deviceLocal",
  accepted: "accepted",
  archived: "archived",
  logged: "later",
  stamped: "timeStamped",
  retained: "timeRetained",
};

const findingTexts: Readonly<Record<PackageFinding["kind"], ReportTextKey>> = {
  changed: "foundChanged",
  index: "foundIndex",
  missing: "foundMissing",
  unreadable: "foundUnreadable",
  stray: "foundStray",
  "not-logged": "foundNotLogged",
  retention: "foundRetention",
  document: "foundDocument",
  manifest: "foundManifest",
  "missing-package": "foundPackage",
  timestamp: "foundTimestamp",
};

function sayFinding({ kind, path }: PackageFinding, location: string, texts: ReportTexts): string {
  const name = path.startsWith(`${location}/`) ? path.slice(location.length + 1) : path;
  return texts.text(findingTexts[kind], { name });
}

/** The measured values, the billable weight, and whether they may be used for trade. */
function figuresOf({ manifest, measurement }: ExportedPackage, texts: ReportTexts): Html {
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

const eventTexts = {
  held: "wasHeld",
  released: "wasReleased",
  named: "wasNamed",
  kept: "wasKept",
} as const satisfies Partial<Record<LogEvent["what"], ReportTextKey>>;

function isTold(event: LogEvent): event is EventOf<keyof typeof eventTexts> {
  return event.what in eventTexts;
}

/** What the log says that happened to the package since it was archived. A deletion that did not take place is said by the line that took it back. */
function laterEvents({ indexed: { proof } }: ExportedPackage, texts: ReportTexts): Html {
  const rows = proof.later.flatMap(({ event, first }) => {
    if (!isTold(event)) {
      return [];
    }
    const name = event.what === "named" ? event.number : "";
    const about = ["person" in event ? event.person : null, event.reason];
    return html`<tr>
      <td>${timeOf(event.at, texts)}</td>
      <td>
        <bdi>${texts.text(eventTexts[event.what], { name })}</bdi>
        ${first === null ? html`<br /><small>${texts.text("laterNotCovered")}</small>` : null}
      </td>
      <td>${about.flatMap((text) => given(text, texts) ?? []).map((text) => html`<div>${text}</div>`)}</td>
    </tr>`;
  });
  return rows.length === 0
    ? html``
    : html`<h3>${texts.text("later")}</h3>
        ${tableOf([texts.text("when"), texts.text("what"), texts.text("whoAndWhy")], rows)}`;
}

/** Each file with its length and its SHA-256, as it is in the ZIP. */
function fileTable({ files }: ExportedPackage, texts: ReportTexts, base: string): Html {
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
    ${tableOf([texts.text("file"), texts.text("size"), "SHA-256"], rows, "files")}`;
}

/** The manifest's hash, its line in the log, and how anybody can check the time stamps. */
function proofOf(
  { sha256, indexed: { proof } }: ExportedPackage,
  texts: ReportTexts,
  roots: string | null,
): Html {
  const { line, first, newest } = proof;
  return html`<h3>${texts.text("proof")}</h3>
    <p class="about">${texts.text("proofHelp")}</p>
    ${facts([
      [texts.text("manifestHash"), sha256 === null ? null : html`<span class="hash">${sha256}</span>`],
      [texts.text("logLine"), line === null ? texts.text("noLogLine") : String(line.n)],
      [
        texts.text("timestamp"),
        first === null ? texts.text("notCovered") : timestampSection(first, texts, roots),
      ],
      [
        texts.text("timestampNewest"),
        newest === null || newest.kept.name === first?.kept.name
          ? null
          : timestampSection(newest, texts, roots),
      ],
    ])}`;
}

/** Names and values; what nobody knows is left out. */
function facts(rows: readonly (readonly [string, Html | string | null])[]): Html {
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
function given(text: string | null | undefined, texts: ReportTexts): Html | null {
  if (text === null || text === undefined || text === "") {
    return null;
  }
  const rest =
    text.length > longestText
      ? html` <small>${texts.text("cutOff", { count: text.length })}</small>`
      : html``;
  return html`<bdi>${short(text)}</bdi>${rest}`;
}

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
class EmbeddedBytes {
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
async function* mediaSection(
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
  // What is there twice is shown once, with both names.
  const contents = byContent(items);
  const shown = contents.flatMap(([first]) => first ?? []);
  const described = shown.map(({ contentTypeFound: contentType, description, path: name }) => ({
    contentType,
    description,
    name,
  }));
  const captions = captionsOf(described, (kind) => texts.text(kind));
  yield '<div class="media">';
  for (const [index, item] of shown.entries()) {
    const caption = captions[index] ?? item.path;
    const paths = [...new Set((contents[index] ?? []).map(({ path }) => path))].join(", ");
    yield "<figure>";
    yield* medium({ item, caption, file: files.find(({ path }) => path === item.path) }, texts, {
      base,
      embedded,
    });
    yield html`<figcaption>
      <bdi>${caption}</bdi>${caption === paths ? null : html` · <bdi>${paths}</bdi>`} ·
      ${texts.size(item.bytes)}
    </figcaption>`.text;
    yield "</figure>";
  }
  yield "</div>";
}

interface Medium {
  readonly item: Item;
  readonly caption: string;
  readonly file: ExportedFile | undefined;
}

async function* medium(
  { item, caption, file }: Medium,
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
  const name = html`${caption}`.text;
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

/** When a package was time-stamped, by whom, and how anybody can check it. */
function timestampSection(stamp: StampProof, texts: ReportTexts, roots: string | null): Html {
  const trust =
    roots === null ? texts.text("timestampNoRoots") : texts.text("timestampRoots", { name: roots });
  return html`${sayTime(stamp.verified.at.toISOString())}: ${saySigner(stamp, texts)}
    <p>${texts.text("timestampCheck")}</p>
    <pre>${commandOf(stamp, roots ?? "roots.pem")}</pre>
    <p>${trust}</p>`;
}

function saySigner({ verified: { signer, root } }: StampProof, texts: ReportTexts): string {
  return root === null
    ? texts.text("timestampUnchecked", { name: signer })
    : texts.text("timestampChecked", { name: signer, root });
}

function addedNumbers({ proof }: ExportedPackage["indexed"]): string {
  return proof.later.flatMap(({ event }) => (event.what === "named" ? event.number : [])).join(", ");
}

/** What the manifest says of the parcel, the device and the times. */
function knownFacts({ manifest, indexed }: ExportedPackage, texts: ReportTexts): Html {
  if (manifest === null) {
    const index = facts([
      [texts.text("transactionReference"), given(indexed.transactionReference, texts)],
      [texts.text("transactionId"), given(indexed.transactionId, texts)],
      [texts.text("packageId"), indexed.id],
      [texts.text("archived"), timeOf(indexed.archivedAt, texts)],
    ]);
    return html`<h3>${texts.text("parcel")}</h3>
      ${index}`;
  }
  const { references, times, instrument, measuredBy = null, software } = manifest;
  const parcel = facts([
    [texts.text("transactionReference"), given(references.transactionReference, texts)],
    ...customReferenceNames
      .filter((name) => name !== manifest.tag)
      .map((name) => [texts.text(name), given(references[name], texts)] as const),
    [texts.text("barcodeReference"), given(references.barcodeReference, texts)],
    [texts.text("scan"), given(manifest.scan?.text, texts)],
    [texts.text("transactionId"), given(manifest.transactionId, texts)],
    [texts.text("packageId"), given(manifest.job, texts)],
    [texts.text("supplements"), given(manifest.supplements?.path, texts)],
    [texts.text("addedNumbers"), given(addedNumbers(indexed), texts)],
    [texts.text("operator"), given(manifest.operator, texts)],
    [texts.text("work"), nameOfWork(manifest.work ?? usualWork, (key) => texts.text(key))],
    [texts.text("note"), given(manifest.note, texts)],
  ]);
  const device = facts([
    [texts.text("deviceName"), given(manifest.device ?? measuredBy?.name, texts)],
    [texts.text("serialNumber"), given(instrument?.serialNumber, texts)],
    [texts.text("certificate"), given(instrument?.certificate, texts)],
    [texts.text("cloud"), given(manifest.cloud, texts)],
    [texts.text("software"), given(`${software.name} ${software.version}`, texts)],
  ]);
  const clocks = facts([
    [texts.text("deviceLocal"), timeOf(times.deviceLocal, texts)],
    [texts.text("deviceUtc"), timeOf(times.deviceUtc, texts)],
    [texts.text("accepted"), timeOf(times.accepted, texts)],
    [texts.text("archived"), timeOf(times.archived, texts)],
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

/** HTML that is safe to put into other HTML. */
class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type HtmlValue = Html | number | string | null | readonly Html[];

/** Writes HTML; every text in it is escaped. */
function html(strings: TemplateStringsArray, ...parts: readonly HtmlValue[]): Html {
  return new Html(strings.reduce((all, piece, index) => all + textOf(parts[index - 1] ?? null) + piece));
}

function textOf(part: HtmlValue): string {
  if (part === null) {
    return "";
  }
  if (part instanceof Html) {
    return part.text;
  }
  return typeof part === "object" ? part.map(({ text }) => text).join("") : escape(String(part));
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escape(text: string): string {
  return visibleText(text).replace(/[&<>"']/g, (character) => entities[character] ?? "");
}

/** A relative address of a file beside the page, from its name with slashes. */
function addressOf(name: string): string {
  return name
    .split("/")
    .map((part) => encodeURIComponent(part))
    .join("/");
}

/** A time for a table; no line ends within the one in the time zone of this computer. */
function timeOf(iso: string | null, texts: ReportTexts): Html | null {
  if (iso === null) {
    return null;
  }
  const { written, local } = readTime(iso);
  const own = local === null ? null : html` <span class="local">(${local})</span>`;
  return html`${given(written, texts)}${own}`;
}

/** The same for a sentence. */
function sayTime(iso: string): string {
  const { written, local } = readTime(iso);
  return local === null ? written : `${written} (${local})`;
}

/**
 * A time as it was written, to its last digit, with the name of its zone; one in UTC also in the time zone of this computer. Anything else is
 * shown unchanged.
 */
function readTime(iso: string): { readonly written: string; readonly local: string | null } {
  const [, date, time, zone] = /^(\d{4}-\d\d-\d\d)T([\d:.]+)(Z|[+-]\d\d:\d\d)?$/.exec(iso) ?? [];
  if (date === undefined || time === undefined) {
    return { written: iso, local: null };
  }
  const name = zone === undefined ? "" : zone === "Z" ? " UTC" : ` UTC${zone}`;
  return { written: `${date} ${time}${name}`, local: zone === "Z" ? localTime(iso) : null };
}

/**
 * A time in UTC as it was in the time zone of this computer, to the second: `2026-11-02 10:14:31 UTC+01:00`. Null where that is UTC, and for
 * a time before 1970, when zones were not of whole minutes. Not with Intl, which writes another text with each version of Node.js.
 */
function localTime(iso: string): string | null {
  const at = new Date(iso);
  const east = -at.getTimezoneOffset();
  if (!(at.getTime() >= 0) || east === 0) {
    return null;
  }
  const shifted = new Date(at.getTime() + east * 60_000);
  const [, date, time] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)/.exec(shifted.toISOString()) ?? [];
  if (date === undefined || time === undefined) {
    return null;
  }
  const two = (count: number): string => String(count).padStart(2, "0");
  const minutes = Math.abs(east);
  return `${date} ${time} UTC${east < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
