/** As much of Markdown as the pages of this repository use. */

export interface CodeBlock {
  /** The word behind the fence; empty where there is none. */
  readonly language: string;
  readonly text: string;
  /** Of its first line, counted from 1. */
  readonly line: number;
}

export interface Link {
  readonly target: string;
  readonly line: number;
}

export interface Table {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface Page {
  readonly codeBlocks: readonly CodeBlock[];
  readonly links: readonly Link[];
  readonly tables: readonly Table[];
  /** What can stand behind a # in a link to this page. */
  readonly anchors: ReadonlySet<string>;
}

export function readPage(text: string): Page {
  const { codeBlocks, prose } = splitCode(text.split("\n"));
  return { codeBlocks, links: findLinks(prose), tables: findTables(prose), anchors: findAnchors(prose) };
}

/** Code blocks, and the lines with theirs left blank. */
function splitCode(lines: readonly string[]): { codeBlocks: CodeBlock[]; prose: string[] } {
  const codeBlocks: CodeBlock[] = [];
  const prose: string[] = [];
  let open: { fence: string; language: string; line: number; text: string[] } | undefined;
  for (const [index, line] of lines.entries()) {
    const [, fence, language = ""] = /^\s*(`{3,}|~{3,})\s*(\S*)/.exec(line) ?? [];
    if (open === undefined) {
      if (fence !== undefined) {
        open = { fence, language, line: index + 2, text: [] };
      }
      prose.push(fence === undefined ? line : "");
      continue;
    }
    prose.push("");
    if (fence !== undefined && line.trim() === open.fence) {
      codeBlocks.push({ language: open.language, text: open.text.join("\n"), line: open.line });
      open = undefined;
    } else {
      open.text.push(line);
    }
  }
  if (open !== undefined) {
    throw new Error(`the code block of line ${open.line} has no end`);
  }
  return { codeBlocks, prose };
}

function findLinks(prose: readonly string[]): Link[] {
  return prose.flatMap((line, index) => {
    const text = withoutCode(line);
    const inline = [...text.matchAll(/\]\(<?([^)>\s]+)>?(?:\s+"[^"]*")?\)/g)];
    const html = [...text.matchAll(/\b(?:src|href|srcset)="([^"\s]+)"/g)];
    const bare = [...text.matchAll(/<(https?:[^>\s]+)>/g)];
    return [...inline, ...html, ...bare].map(([, target = ""]) => ({ target, line: index + 1 }));
  });
}

function findTables(prose: readonly string[]): Table[] {
  const tables: { header: string[]; rows: string[][] }[] = [];
  let last: { header: string[]; rows: string[][] } | undefined;
  for (const [index, line] of prose.entries()) {
    if (!line.startsWith("|")) {
      last = undefined;
    } else if (last !== undefined) {
      if (!/^[|\s:-]+$/.test(line)) {
        last.rows.push(cellsOf(line));
      }
    } else if (/^[|\s:-]+$/.test(prose[index + 1] ?? "")) {
      last = { header: cellsOf(line), rows: [] };
      tables.push(last);
    }
  }
  return tables;
}

function cellsOf(line: string): string[] {
  return line
    .replace(/^\||\|\s*$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** As GitHub makes them of headings. */
function findAnchors(prose: readonly string[]): Set<string> {
  const anchors = new Set<string>();
  for (const line of prose) {
    const [, heading] = /^#{1,6}\s+(.*?)\s*#*$/.exec(line) ?? [];
    if (heading === undefined) {
      continue;
    }
    const base = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-");
    let anchor = base;
    for (let count = 1; anchors.has(anchor); count++) {
      anchor = `${base}-${count}`;
    }
    anchors.add(anchor);
  }
  return anchors;
}

function withoutCode(line: string): string {
  return line.replace(/`[^`]*`/g, "");
}
