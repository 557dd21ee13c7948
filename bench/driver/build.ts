import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

/** Writes the driver node as a package that Node-RED finds in this folder of modules. */
export async function buildDriver(modules: string): Promise<void> {
  const folder = join(modules, "bench-driver");
  await mkdir(folder, { recursive: true });
  await build({
    entryPoints: [join(import.meta.dirname, "driver.ts")],
    outfile: join(folder, "driver.js"),
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["undici"],
    logLevel: "error",
  });
  await copyFile(join(import.meta.dirname, "driver.html"), join(folder, "driver.html"));
  const manifest = {
    name: "bench-driver",
    version: "1.0.0",
    type: "module",
    "node-red": { nodes: { "bench-driver": "driver.js" } },
  };
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
}
