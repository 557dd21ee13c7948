/**
 * Libraries of which the package uses a small part of a lot: that part ships inside, with their licences. valibot alone
 * would be a third of what an installation weighs.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

export const vendored: readonly string[] = ["valibot"];

/** What the modules take from a library: the names of its exports. */
export function namesTaken(library: string, code: readonly string[]): string[] {
  const names = new Set<string>();
  for (const module of code) {
    const imports = new RegExp(`^import (?:\\* as (\\w+)|\\{([^}]*)\\}) from "${library}";$`, "gm");
    for (const [, namespace, list = ""] of module.matchAll(imports)) {
      for (const [, name = ""] of module.matchAll(new RegExp(`\\b${namespace ?? "(?!)"}\\.(\\w+)`, "g"))) {
        names.add(name);
      }
      for (const name of list.split(",").map((one) => one.trim().replace(/ as .*/, ""))) {
        if (name !== "") {
          names.add(name);
        }
      }
    }
  }
  return [...names].toSorted();
}

/** Those exports and what they need, as one module. */
export async function vendorModule(root: string, library: string, names: readonly string[]): Promise<Buffer> {
  const { outputFiles } = await build({
    stdin: { contents: `export { ${names.join(", ")} } from "${library}";`, resolveDir: root },
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "node20",
    charset: "utf8",
    logLevel: "silent",
  });
  const [module] = outputFiles;
  if (module === undefined) {
    throw new Error(`${library} gave no module`);
  }
  return Buffer.from(module.contents);
}

/** The licences of what is inside. */
export async function licences(root: string): Promise<Buffer> {
  const parts = vendored.map(async (library) => {
    const folder = join(root, "node_modules", library);
    const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
      version: string;
    };
    const text = await readFile(join(folder, "LICENSE.md"), "utf8");
    return `## ${library} ${version}\n\n${text.trim()}\n`;
  });
  const head =
    "# Libraries inside this folder\n\nEach file holds the part of its library that is used here.\n";
  return Buffer.from([head, ...(await Promise.all(parts))].join("\n"));
}
