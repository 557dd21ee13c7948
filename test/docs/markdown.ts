import MarkdownIt from "markdown-it";

export interface CodeBlock {
  /** The word behind the fence; empty where there is none. */
  readonly language: string;
  readonly text: string;
  /** Of its first line, counted from 1. */
  readonly line: number;
}

export interface Link {
  readonly target: string;
  /** Of the paragraph or heading that it stands in, counted from 1. */
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

/** Reads a page as GitHub does. */
export function readPage(text: string): Page {
  const tokens = new MarkdownIt({ html: true }).parse(text, {});
  const codeBlocks: CodeBlock[] = [];
  const links: Link[] = [];
  const tables: { header: string[]; rows: string[][] }[] = [];
  const anchors = new Set<string>();
  for (const [index, { type, content, info, map, children }] of tokens.entries()) {
    const line = (map?.[0] ?? 0) + 1;
    const opened = tokens[index - 1]?.type;
    if (type === "fence") {
      codeBlocks.push({ language: info.trim(), text: content.replace(/\n$/, ""), line: line + 1 });
    } else if (type === "html_block") {
      links.push(...targetsIn(content).map((target) => ({ target, line })));
    } else if (type === "table_open") {
      tables.push({ header: [], rows: [] });
    } else if (type === "tr_open" && opened !== "thead_open") {
      tables.at(-1)?.rows.push([]);
    } else if (type === "inline") {
      for (const child of children ?? []) {
        const target = child.attrGet("href") ?? child.attrGet("src");
        const found =
          target === null ? targetsIn(child.type === "html_inline" ? child.content : "") : [String(target)];
        links.push(...found.map((one) => ({ target: one, line })));
      }
      if (opened === "th_open") {
        tables.at(-1)?.header.push(content);
      } else if (opened === "td_open") {
        tables.at(-1)?.rows.at(-1)?.push(content);
      } else if (opened === "heading_open") {
        const shown = children?.map((child) =>
          ["text", "code_inline"].includes(child.type) ? child.content : "",
        );
        addAnchor(anchors, shown?.join("") ?? "");
      }
    }
  }
  return { codeBlocks, links, tables, anchors };
}

/** What the HTML in a page leads to. */
function targetsIn(html: string): string[] {
  return [...html.matchAll(/\b(?:src|href|srcset)="([^"\s]+)"/g)].map(([, target = ""]) => target);
}

/** As GitHub makes them of headings. */
function addAnchor(anchors: Set<string>, heading: string): void {
  const base = heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");
  let anchor = base;
  for (let count = 1; anchors.has(anchor); count++) {
    anchor = `${base}-${count}`;
  }
  anchors.add(anchor);
}
