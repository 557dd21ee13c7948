import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { readPage, type CodeBlock, type Page } from "./markdown.ts";

export const root = join(import.meta.dirname, "../..");

export interface NamedPage extends Page {
  /** Its path in the repository, with slashes. */
  readonly path: string;
  readonly text: string;
}

export interface NamedBlock extends CodeBlock {
  /** "docs/archive.md:19" */
  readonly at: string;
}

/** Every Markdown page of the repository, wherever it lies. */
export function readPages(): NamedPage[] {
  const paths = [
    ...markdownIn(root, false),
    ...["docs", ".github", "bench", "nodes", "src", "test", "tools", "examples"].flatMap((folder) =>
      markdownIn(join(root, folder), true),
    ),
  ];
  return paths.toSorted().map((path) => {
    const text = readFileSync(path, "utf8");
    return { path: relative(root, path), text, ...readPage(text) };
  });
}

/** Every code block in one of these languages. */
export function blocksIn(pages: readonly NamedPage[], ...languages: string[]): NamedBlock[] {
  return pages.flatMap(({ path, codeBlocks }) =>
    codeBlocks
      .filter(({ language }) => languages.includes(language))
      .map((block) => ({ ...block, at: `${path}:${block.line}` })),
  );
}

function markdownIn(folder: string, isDeep: boolean): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      return isDeep && entry.name !== "node_modules" ? markdownIn(path, true) : [];
    }
    return entry.name.endsWith(".md") ? [path] : [];
  });
}
