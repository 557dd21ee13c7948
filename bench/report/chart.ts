import { flowNames } from "../parts/download-flows.ts";
import type { Results } from "../results.ts";
import { find } from "./calls.ts";
import { count, figure, fileSize, unique } from "./table.ts";

interface Bar {
  readonly label: string;
  readonly value: number;
  readonly text: string;
  readonly kind: "ours" | "other";
}

interface Group {
  readonly title: string;
  readonly bars: readonly Bar[];
}

const width = 760;
const labelWidth = 270;
const barHeight = 18;
const barStep = 24;
const longestBar = 380;

/**
 * The chart of the README. It is readable on light and dark pages, because the file follows the reader's color scheme.
 */
export function drawChart(results: Results): string {
  const groups = [...callGroups(results), ...downloadGroups(results)];
  const lines: string[] = [];
  let top = 8;
  for (const { title, bars } of groups) {
    top += 20;
    lines.push(`<text class="title" x="8" y="${top}">${escape(title)}</text>`);
    top += 10;
    const longest = Math.max(...bars.map(({ value }) => value));
    for (const { label, value, text, kind } of bars) {
      const length = Math.max(2, Math.round((value / longest) * longestBar));
      const baseline = top + barHeight - 5;
      lines.push(
        `<text class="label" x="${labelWidth - 8}" y="${baseline}" text-anchor="end">${escape(label)}</text>`,
        `<rect class="${kind}" x="${labelWidth}" y="${top}" width="${length}" height="${barHeight}" rx="2"/>`,
        `<text class="label" x="${labelWidth + length + 6}" y="${baseline}">${escape(text)}</text>`,
      );
      top += barStep;
    }
    top += 8;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top}" role="img" aria-labelledby="title">
<title id="title">Calls a second and seconds a download, against the core nodes and curl</title>
<style>
text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
.title { font-weight: 600 }
.ours { fill: #1a7f37 }
.other { fill: #8c959f }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.ours { fill: #3fb950 }
.other { fill: #6e7681 }
}
</style>
${lines.join("\n")}
</svg>
`;
}

function callGroups({ parts }: Results): Group[] {
  const rows = parts.calls?.rows ?? [];
  const contenders = {
    ours: "this package",
    core: "core http request",
    undici: "undici alone, no node",
  } as const;
  const cases = [
    ["media-list", 16],
    ["measure", 1],
  ] as const;
  return unique(rows.map(({ runtime }) => runtime)).flatMap((runtime) =>
    cases.map(([call, inFlight]) => ({
      title: `${call}, ${inFlight} in flight, calls a second (more is better) – ${runtime}`,
      bars: (["ours", "core", "undici"] as const).flatMap((contender): Bar[] => {
        const row = find(rows, runtime, call, inFlight, contender);
        return row === undefined
          ? []
          : [
              {
                label: contenders[contender],
                value: row.callsPerSecond,
                text: count(row.callsPerSecond),
                kind: contender === "ours" ? "ours" : "other",
              },
            ];
      }),
    })),
  );
}

function downloadGroups({ parts }: Results): Group[] {
  const rows = (parts.downloads?.rows ?? []).filter(({ atOnce }) => atOnce === 1);
  const [first] = rows;
  if (first === undefined) {
    return [];
  }
  const bars = rows
    .filter(({ bytes }) => bytes === first.bytes)
    .flatMap(({ contender, runtime, seconds }): Bar[] =>
      seconds === null
        ? []
        : [
            {
              label:
                runtime === null
                  ? contender
                  : `${contender}, ${/^Node-RED \d/.exec(runtime)?.[0] ?? runtime}`,
              value: seconds,
              text: `${figure(seconds)} s`,
              kind: contender === flowNames.ours ? "ours" : "other",
            },
          ],
    );
  return [{ title: `${fileSize(first.bytes)} to a file, seconds (less is better)`, bars }];
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
