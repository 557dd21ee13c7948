import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** What may be in the tarball; whatever else is found there has to be put here, or left out of it. */
const allowed: readonly RegExp[] = [
  /^(?:package\.json|LICENSE|README\.md|CHANGELOG\.md)$/,
  /^docs\/(?!benchmarks|faults|promises)[a-z0-9.-]+\.(?:md|json)$/,
  /^examples\/\d\d [^/]+\.json$/,
  /^dist\/src\/(?:index|simulator\/index|cli\/dimensioner|evidence\/evidence-thread|vault\/hash-thread|database\/sqlite-thread)\.js$/,
  /^dist\/THIRD-PARTY\.txt$/,
  /^dist\/shared\/[A-Z0-9]+\.js$/,
  /^dist\/nodes\/nodes\.js$/,
  /^dist\/src\/[a-z0-9/-]+\.d\.ts$/,
  /^dist\/src\/simulator\/catalogue\/[a-z-]+\.(?:color\.jpg|annotated\.jpg|depth\.bmp\.gz|label\.png|mp4)$/,
  /^dist\/src\/(?:simulator\/page|evidence\/page\/client)\/[^/]+\.(?:html|js|css|svg)$/,
  /^dist\/src\/evidence\/page\/client\/texts\/[a-z]{2}(?:-[A-Z]{2})?\.json$/,
  /^dist\/nodes\/([a-z-]+)\/\1\.js$/,
  /^dist\/nodes\/([a-z-]+)\/\1\.html$/,
  /^dist\/nodes\/([a-z-]+)\/locales\/[a-z]{2}(?:-[A-Z]{2})?\/\1\.(?:html|json)$/,
  /^dist\/nodes\/device\/icons\/[a-z-]+\.svg$/,
];

export function notAllowed(files: readonly string[]): string[] {
  return files.filter((path) => !allowed.some((pattern) => pattern.test(path)));
}

/** The bytes of all files below a folder, as one would count them, not as a disk rounds them up. */
export async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
