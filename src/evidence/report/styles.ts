/** The style sheet of a report: for a screen of any width, and for paper of A4 and Letter size. */
export const styles = `
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
