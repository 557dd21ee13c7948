import { createHash } from "node:crypto";
import type { VerifyResult } from "../../model/shapes.ts";
import type { ExportedPackage } from "./exported-package.ts";
import type { ReportTexts } from "./catalogs.ts";
import { html, type Html } from "./html.ts";
import { knownFacts } from "./known-facts.ts";
import { EmbeddedBytes, mediaSection } from "./media-section.ts";
import { banners, chainOf, facts, figuresOf, fileTable, stateOf, titleOf } from "./package-section.ts";
import { sayTime } from "./say-time.ts";
import { styles } from "./styles.ts";

/** What a report is about. */
export interface ReportSubject {
  readonly packages: readonly ExportedPackage[];
  readonly verification: VerifyResult;
  readonly texts: ReportTexts;
  /** From the page to the folder of the ZIP: "" or "../". */
  readonly base: string;
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
  const { packages, texts, base } = subject;
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
  yield isCase
    ? html`<header>
        <h1>${title}</h1>
        ${overview(packages, texts)}
      </header>`.text
    : html`<header>
        <h1 class="kind">${texts.text("title")}</h1>
      </header>`.text;
  yield "<main>";
  const embedded = new EmbeddedBytes();
  for (const [index, one] of packages.entries()) {
    // Not with the html tag: the formatter would close the element here, although it ends further below.
    yield `<section class="${isCase ? "parcel" : "only"}" id="package-${index + 1}">`;
    yield html`<h2><bdi>${titleOf(one)}</bdi></h2>`.text;
    yield html`${banners(one, texts)}${figuresOf(one, texts)}`.text;
    yield* mediaSection(one, texts, { base, embedded });
    yield html`${knownFacts(one, texts)}${fileTable(one, texts, base)}${chainOf(one, texts)}`.text;
    yield "</section>";
  }
  yield "</main>";
  yield end(subject).text;
  yield "</body>\n</html>\n";
}

const colors = { isWhole: "good-text", isWrong: "bad-text", isIncomplete: "warn-text" } as const;

function overview(packages: readonly ExportedPackage[], texts: ReportTexts): Html {
  const rows = packages.map((one, index) => {
    const state = stateOf(one);
    return html`<tr>
      <td>
        <a href="#package-${index + 1}"><bdi>${titleOf(one)}</bdi></a>
      </td>
      <td>${sayTime(one.indexed.archivedAt)}</td>
      <td class="${colors[state]}">${texts.text(state)}</td>
    </tr>`;
  });
  return html`<h2 class="small">${texts.text("overview")}</h2>
    <table>
      <thead>
        <tr>
          <th>${texts.text("package")}</th>
          <th>${texts.text("archived")}</th>
          <th>${texts.text("result")}</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>`;
}

/** What was verified when and by which version, and how anybody can do it again. */
function end({ verification, texts }: ReportSubject): Html {
  const { verdict, verifiedAtUtc, software, files, packages, bytes } = verification;
  const state = verdict === "ok" ? "isWhole" : "isWrong";
  const checked = texts.text("verifiedFilesHelp", { files, packages, size: texts.size(bytes) });
  return html`<footer class="end">
    <h2>${texts.text("verification")}</h2>
    ${facts([
      [texts.text("result"), html`<span class="${colors[state]}">${texts.text(state)}</span>`],
      [texts.text("verifiedAt"), sayTime(verifiedAtUtc)],
      [texts.text("verifiedBy"), software],
      [texts.text("verifiedFiles"), checked],
    ])}
    <h3>${texts.text("check")}</h3>
    <p>${texts.text("checkHelp")}</p>
    <pre>
Linux    sha256sum -c SHA256SUMS
macOS    shasum -a 256 -c SHA256SUMS
Windows  certutil -hashfile manifest.json SHA256   (${texts.text("checkOneFile")})</pre>
    <p>${texts.text("checkManifest")}</p>
    <p>${texts.text("checkLimits")}</p>
  </footer>`;
}
