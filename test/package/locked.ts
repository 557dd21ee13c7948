import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

interface Locked {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** The versions in package-lock.json of the packages that this one depends on, with what these depend on. */
export function lockedVersions(): ReadonlyMap<string, string> {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Readonly<Record<string, Locked>>;
  };
  const versions = new Map<string, string>();
  const add = ({ dependencies = {} }: Locked): void => {
    for (const name of Object.keys(dependencies)) {
      const locked = packages[`node_modules/${name}`];
      // What is optional for a package is locked only where it was installed.
      if (locked?.version !== undefined && !versions.has(name)) {
        versions.set(name, locked.version);
        add(locked);
      }
    }
  };
  add(packages[""] ?? {});
  return versions;
}
