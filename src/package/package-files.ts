/** Where the files of this package are, and what its package.json says. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import * as v from "valibot";

const require = createRequire(import.meta.url);
const packageJson = "@dimflow/node-red-dimensioner/package.json";

/** A build puts modules together: then what a module needs is not beside it, but below dist/. */
const isBuilt = import.meta.url.endsWith(".js");

/** The path of a file that is beside the sources and, when they are built, at the same place below dist/. */
export function packageFile(path: string): string {
  return join(packageFolder(), isBuilt ? "dist" : "", path);
}

/** The path of a module that a process or a thread starts with, given without its extension. */
export function packageModule(path: string): string {
  return packageFile(`${path}.${isBuilt ? "js" : "ts"}`);
}

/** The folder of package.json. */
export function packageFolder(): string {
  return dirname(require.resolve(packageJson));
}

/** Name and version, as package.json has them. */
export function packageVersion(): { name: string; version: string } {
  const found: unknown = require(packageJson);
  return v.parse(v.object({ name: v.string(), version: v.string() }), found);
}
