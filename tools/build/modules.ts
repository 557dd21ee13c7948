/** Turns the sources into the modules that ship: one for one, each with a map that leads back to its source. */
import { readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { decode, encode } from "@jridgewell/sourcemap-codec";
import { transform } from "esbuild";
import { namesTaken, vendorModule, vendored } from "./vendor.ts";

/** Its sources do not ship: the simulator is no part of what runs in production, and they would be a twentieth of it all. */
const untraced = /^src\/simulator\//;

/** Not bundled, so that a stack trace names the file that one would open, also without maps. */
export async function modules(root: string, sources: readonly string[]): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const code: string[] = [];
  for (const source of sources) {
    const { js, map } = await compile(source, await readFile(join(root, source), "utf8"));
    const file = jsOf(source);
    if (js === "") {
      // A source of types alone is still a module, and needs no map.
      files.set(file, Buffer.from("export {};\n"));
      continue;
    }
    code.push(js);
    if (untraced.test(source)) {
      files.set(file, Buffer.from(js));
      continue;
    }
    files.set(file, Buffer.from(`${js}//# sourceMappingURL=${posix.basename(file)}.map\n`));
    files.set(`${file}.map`, Buffer.from(map));
  }
  for (const library of vendored) {
    files.set(`vendor/${library}.js`, await vendorModule(root, library, namesTaken(library, code)));
  }
  for (const [file, content] of files) {
    if (file.endsWith(".js")) {
      files.set(file, Buffer.from(withPaths(file, content.toString())));
    }
  }
  return files;
}

function jsOf(source: string): string {
  return source.replace(/\.ts$/, ".js");
}

async function compile(source: string, text: string): Promise<{ js: string; map: string }> {
  const { code, map } = await transform(text, {
    loader: "ts",
    format: "esm",
    target: "es2023",
    charset: "utf8",
    sourcefile: source,
    sourcemap: "external",
    sourcesContent: false,
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  });
  const { mappings } = JSON.parse(map) as { mappings: string };
  // Where each line of the source begins, and no columns within it: that is what a trace needs, at a fifth of the size.
  const lines = decode(mappings).map((line) =>
    line.filter(([, , sourceLine], at) => sourceLine !== line[at - 1]?.[2]),
  );
  // From dist/ to the sources, which ship as well.
  const path = posix.relative(posix.join("dist", posix.dirname(source)), source);
  return {
    js: code,
    map: JSON.stringify({ version: 3, sources: [path], names: [], mappings: encode(lines) }),
  };
}

/** What a module imports, by the paths that are there once it is installed. */
function withPaths(file: string, code: string): string {
  return code.replace(/\b(from |import |import\()"([^"]+)"/g, (whole, keyword: string, specifier: string) => {
    if (vendored.includes(specifier)) {
      return `${keyword}"${posix.relative(posix.dirname(file), `vendor/${specifier}.js`)}"`;
    }
    return specifier.startsWith(".") ? `${keyword}"${jsOf(specifier)}"` : whole;
  });
}
