import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The Node.js of this major version that `npm ci` has installed for the tests; only on Linux. */
export function bundledNode(major: 22 | 24): string | undefined {
  const folder = `node-${major}-${process.platform}-${process.arch}`;
  const path = join(dirname(import.meta.dirname), "node_modules", folder, "bin", "node");
  return existsSync(path) ? path : undefined;
}
