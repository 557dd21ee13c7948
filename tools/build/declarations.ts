/** The declarations that ship: of what can be imported from the package, and of what those lead to. */
import { readFile } from "node:fs/promises";
import { join, posix } from "node:path";

/** Reads them from `folder`, where the compiler has written all, and follows each import. */
export async function declarations(folder: string, entries: readonly string[]): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const open = [...entries];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (files.has(file)) {
      continue;
    }
    const text = await readFile(join(folder, file), "utf8");
    const at = posix.dirname(file);
    const withPaths = text.replace(
      /\b(from |import\()"(\.[^"]+)\.ts"/g,
      (_, keyword: string, path: string) => {
        open.push(posix.join(at, `${path}.d.ts`));
        return `${keyword}"${path}.js"`;
      },
    );
    files.set(file, Buffer.from(withPaths));
  }
  return files;
}
