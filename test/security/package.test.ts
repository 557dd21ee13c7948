import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const root = dirname(dirname(import.meta.dirname));
const mostDependencies = 6;
/** With all that they depend on themselves. */
const mostInstalled = 20;

interface Manifest {
  readonly name?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly bundleDependencies?: readonly string[];
  readonly gypfile?: boolean;
  readonly binary?: unknown;
}

interface Locked {
  readonly hasInstallScript?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const readJson = async <T>(path: string): Promise<T> => JSON.parse(await readFile(path, "utf8")) as T;

/** The scripts that npm runs on the computer of whoever installs a package. */
const runsOnInstall = /^(?:(?:pre|post)?install|prepare|preprepare|postprepare)$/;

describe("what an installation of the package runs and brings", () => {
  let manifest: Manifest;
  let locked: ReadonlyMap<string, Locked>;

  before(async () => {
    manifest = await readJson<Manifest>(join(root, "package.json"));
    const { packages } = await readJson<{ packages: Record<string, Locked> }>(
      join(root, "package-lock.json"),
    );
    locked = new Map(Object.entries(packages));
  });

  /** All that npm installs with the package, by name. */
  const installed = (): string[] => {
    const found = new Set(Object.keys(manifest.dependencies ?? {}));
    for (const name of found) {
      const { dependencies, optionalDependencies } = locked.get(`node_modules/${name}`) ?? {};
      for (const next of Object.keys({ ...dependencies, ...optionalDependencies })) {
        found.add(next);
      }
    }
    return [...found];
  };

  it("runs nothing when it is installed", () => {
    const scripts = Object.keys(manifest.scripts ?? {}).filter((name) => runsOnInstall.test(name));
    assert.deepEqual(scripts, []);
    assert.equal(manifest.gypfile, undefined);
    assert.equal(existsSync(join(root, "binding.gyp")), false);
  });

  it(`has at most ${mostDependencies} dependencies, none of them optional, of its users' or brought along`, () => {
    const {
      dependencies = {},
      optionalDependencies = {},
      peerDependencies = {},
      bundleDependencies = [],
    } = manifest;
    assert.ok(Object.keys(dependencies).length <= mostDependencies);
    assert.deepEqual([optionalDependencies, peerDependencies, bundleDependencies], [{}, {}, []]);
  });

  it("brings nothing native and nothing that runs when it is installed, to the last dependency", async () => {
    const names = installed();
    assert.ok(names.length >= Object.keys(manifest.dependencies ?? {}).length);
    assert.ok(names.length <= mostInstalled, names.join(", "));
    for (const name of names) {
      const entry = locked.get(`node_modules/${name}`);
      assert.ok(entry !== undefined, `${name} is not in package-lock.json`);
      assert.equal(entry.hasInstallScript, undefined, `${name} has an install script`);
      assert.deepEqual([entry.os, entry.cpu], [undefined, undefined], `${name} is for some systems alone`);
      const folder = join(root, "node_modules", name);
      const { scripts = {}, gypfile, binary } = await readJson<Manifest>(join(folder, "package.json"));
      const onInstall = Object.keys(scripts).filter((script) => /^(?:pre|post)?install$/.test(script));
      assert.deepEqual([onInstall, gypfile, binary], [[], undefined, undefined], name);
      const files = await readdir(folder, { recursive: true });
      const native = files.filter((file) => /\.(?:node|gyp|so|dll|dylib)$/.test(file));
      assert.deepEqual(native, [], name);
    }
  });

  it("takes every dependency from the registry, by its checksum", async () => {
    const { packages } = await readJson<{
      packages: Record<string, { resolved?: string; integrity?: string; link?: boolean }>;
    }>(join(root, "package-lock.json"));
    for (const [path, { resolved, integrity, link }] of Object.entries(packages)) {
      if (path.includes("node_modules/") && link !== true && resolved !== undefined) {
        assert.match(resolved, /^https:/, path);
        assert.match(integrity ?? "", /^sha512-/, path);
      }
    }
  });

  it("has as many dependencies as SECURITY.md says", async () => {
    const words = ["no", "one", "two", "three", "four", "five", "six"];
    const count = words[Object.keys(manifest.dependencies ?? {}).length];
    const text = await readFile(join(root, "SECURITY.md"), "utf8");
    assert.ok(text.includes(`; ${count} runtime dependencies (${mostInstalled} packages at most`), count);
  });

  it("SECURITY.md names each limit that a hostile peer tries, and says so", async () => {
    const text = await readFile(join(root, "SECURITY.md"), "utf8");
    const lines = text.split("\n").filter((line) => line.includes("(test/attacks/peers.slow.test.ts)"));
    const named = lines.flatMap((line) => [...line.matchAll(/`([\w-]+)`/g)].map(([, name = ""]) => name));
    const rows = await readFile(join(root, "test/attacks/peers.slow.test.ts"), "utf8");
    const [, table = ""] = /^const limits = \{\n(.+?)^\}/ms.exec(rows) ?? [];
    const tried = [...table.matchAll(/^ {2}"?([\w-]+)"?: \{/gm)].map(([, name = ""]) => name);
    assert.deepEqual(tried.toSorted(), [...new Set(named)].toSorted());
    for (const name of tried) {
      assert.match(rows, new RegExp(`"${name}",`), `no row has the limit ${name}`);
    }
  });

  it("SECURITY.md names a test that is there for each thing that it promises", async () => {
    const text = await readFile(join(root, "SECURITY.md"), "utf8");
    const named = [...text.matchAll(/\]\((test\/[^)#]+)\)/g)].map(([, path = ""]) => path);
    assert.ok(named.length > 10, `${named.length}`);
    for (const path of named) {
      assert.ok(existsSync(join(root, path)), `${path} is not there`);
    }
    const numbers = ["no", "one", "two", "three", "four", "five", "six"];
    const count = numbers[Object.keys(manifest.dependencies ?? {}).length];
    assert.ok(text.includes(`${count} runtime dependencies (${mostInstalled} packages at most`), count);
    assert.match(text, /https:\/\/github\.com\/dimflow\/node-red-dimensioner\/security\/advisories\/new/);
  });
});
