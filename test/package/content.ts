import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { SourceMap, type SourceMapPayload } from "node:module";
import { dirname, join, relative, sep } from "node:path";

/** What may be in the tarball; whatever else is found there has to be put here, or left out of it. */
const allowed: readonly RegExp[] = [
  /^(?:package\.json|LICENSE|README\.md|CHANGELOG\.md)$/,
  /^docs\/(?!api-coverage|benchmarks|faults)[a-z0-9.-]+\.(?:md|json)$/,
  /^examples\/\d\d [^/]+\.json$/,
  /^dist\/src\/(?!editor\/|simulator\/)[a-z/-]+\.(?:js|js\.map|d\.ts)$/,
  /^dist\/src\/simulator\/(?!page\/)[a-z/-]+\.(?:js|d\.ts)$/,
  /^dist\/src\/simulator\/catalogue\/[a-z-]+\.(?:color\.jpg|annotated\.jpg|depth\.bmp\.gz|mp4)$/,
  /^dist\/src\/simulator\/page\/[^/]+\.(?:html|js|css|svg)$/,
  /^dist\/nodes\/([a-z-]+)\/\1(?:\.shared)?\.js(?:\.map)?$/,
  /^dist\/nodes\/([a-z-]+)\/\1\.html$/,
  /^dist\/nodes\/([a-z-]+)\/locales\/[a-z]{2}(?:-[A-Z]{2})?\/\1\.(?:html|json)$/,
  /^dist\/nodes\/device\/icons\/[a-z-]+\.svg$/,
  /^dist\/vendor\/(?:LICENSES\.md|[a-z.-]+\.js)$/,
  // What the maps lead to.
  /^src\/(?!editor\/|simulator\/)[a-z/-]+\.ts$/,
  /^nodes\/([a-z-]+)\/\1(?:\.shared)?\.ts$/,
];

export function notAllowed(files: readonly string[]): string[] {
  return files.filter((path) => !allowed.some((pattern) => pattern.test(path)));
}

/** The bytes of all files below a folder, as one would count them, not as a disk rounds them up. */
export async function bytesIn(folder: string): Promise<number> {
  const sizes = (await filesBelow(folder)).map(async (path) => (await stat(join(folder, path))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** One sentence for each module whose map is missing, or leads to a line that is not there. */
export async function brokenMaps(installed: string): Promise<string[]> {
  const modules = (await filesBelow(join(installed, "dist"))).filter(
    (path) => path.endsWith(".js") && !/^(?:vendor|src\/simulator)\//.test(path),
  );
  const found = await Promise.all(modules.map((path) => brokenMap(join(installed, "dist", path))));
  return found.flat();
}

async function brokenMap(file: string): Promise<string[]> {
  const code = await readFile(file, "utf8");
  if (code === "export {};\n") {
    return [];
  }
  const [, name] = /^\/\/# sourceMappingURL=(\S+)$/m.exec(code) ?? [];
  if (name === undefined || !existsSync(join(dirname(file), name))) {
    return [`${file} has no map`];
  }
  const map = new SourceMap(
    JSON.parse(await readFile(join(dirname(file), name), "utf8")) as SourceMapPayload,
  );
  const [source = ""] = map.payload.sources;
  const path = join(dirname(file), source);
  if (!path.endsWith(".ts") || !existsSync(path)) {
    return [`${file} leads to ${path}`];
  }
  const sourceLines = (await readFile(path, "utf8")).split("\n");
  const lines = code.split("\n").slice(0, -2);
  return lines.flatMap((line, at) => {
    if (!/\w/.test(line) || line.startsWith("#!")) {
      return [];
    }
    const entry = map.findEntry(at, line.length);
    const there = "originalLine" in entry ? sourceLines[entry.originalLine] : undefined;
    return there === undefined ? [`${file}:${at + 1} leads nowhere: was it built from these sources?`] : [];
  });
}

/** One sentence for each declaration that nothing exported leads to, and for each import of one that is not there. */
export async function strayDeclarations(installed: string): Promise<string[]> {
  const dist = join(installed, "dist");
  const there = (await filesBelow(dist)).filter((path) => path.endsWith(".d.ts"));
  const manifest = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as {
    exports: Record<string, { types?: string }>;
    dependencies: Record<string, string>;
  };
  const problems: string[] = [];
  const reached = new Set<string>();
  const open = Object.values(manifest.exports).flatMap(({ types }) =>
    types === undefined ? [] : [join(installed, types)],
  );
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (reached.has(file)) {
      continue;
    }
    reached.add(file);
    const text = await readFile(file, "utf8");
    for (const [, specifier = ""] of text.matchAll(/(?:\bfrom |\bimport\()"([^"]+)"/g)) {
      const target = join(dirname(file), specifier.replace(/\.js$/, ".d.ts"));
      if (!specifier.startsWith(".")) {
        if (!specifier.startsWith("node:") && manifest.dependencies[specifier] === undefined) {
          problems.push(`${file} imports ${specifier}, which is not installed`);
        }
      } else if (existsSync(target)) {
        open.push(target);
      } else {
        problems.push(`${file} imports ${specifier}, which does not ship`);
      }
    }
  }
  const stray = there.filter((path) => !reached.has(join(dist, path)));
  return [...problems, ...stray.map((path) => `nothing exported leads to ${path}`)];
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"));
}
