import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { folderInMemory } from "./folder-in-memory.ts";
import { bundledNode, runningNode, type NodeBinary } from "./node-binaries.ts";
import type { Step } from "./steps.ts";

/** Makes steps of npm scripts, each on a Node.js of its own. */
export class TestScripts {
  /** The Node.js that runs this. */
  readonly own: NodeBinary;
  /** The other one of the two that are supported; undefined on a platform for which `npm ci` installs none. */
  readonly other: NodeBinary | undefined;
  readonly #npm: string;
  readonly #reporter: string;
  readonly #compileCache: string;
  readonly #stripTypesOnce: string;
  readonly #temporaryFiles: NonNullable<Step["env"]>;

  private constructor(root: string, npm: string, compileCache: string) {
    this.own = runningNode();
    this.other = bundledNode(root, this.own.major >= 24 ? 22 : 24);
    this.#npm = npm;
    this.#reporter = join(root, "tools", "test", "reporter.ts");
    this.#compileCache = compileCache;
    const folder = folderInMemory();
    this.#temporaryFiles = folder === undefined ? {} : { TMPDIR: folder };
    this.#stripTypesOnce = pathToFileURL(join(root, "tools", "test", "strip-types-once.mjs")).href;
  }

  /** Finds each Node.js below `root`, and makes a folder for compiled code that is there until this process ends. */
  static async in(root: string): Promise<TestScripts> {
    const npm = process.env["npm_execpath"];
    if (npm === undefined) {
      throw new Error("Run this as an npm script: it starts npm scripts.");
    }
    // Hundreds of processes and threads begin with the same sources, which are stripped of their types and compiled once.
    const compileCache = await mkdtemp(join(tmpdir(), "compile-cache-"));
    process.once("exit", () => rmSync(compileCache, { recursive: true, force: true }));
    return new TestScripts(root, npm, compileCache);
  }

  /** A script that checks something and counts nothing. */
  check(name: string): Step {
    return this.#step(name, this.own);
  }

  /** A script that runs mocha; what `npm run <name> -- <args>` would run, with a reporter that counts. */
  suite(name: string, env: Step["env"] = {}): Step {
    return this.#step(name, this.own, env, `--reporter=${this.#reporter}`);
  }

  /** The same on the other Node.js, where there is one. */
  suiteOnOther(name: string, ...args: readonly string[]): Step[] {
    return this.other === undefined
      ? []
      : [this.#step(name, this.other, {}, `--reporter=${this.#reporter}`, ...args)];
  }

  /** tools/with-node.mjs takes the Node.js that npm runs on. */
  #step(name: string, node: NodeBinary, env: Step["env"] = {}, ...args: readonly string[]): Step {
    // Node.js 22 does not keep in the cache what it has removed the types from.
    const options = node.major < 24 ? { NODE_OPTIONS: `--import=${this.#stripTypesOnce}` } : {};
    return {
      name: `${name}, Node.js ${node.version}`,
      command: [node.path, this.#npm, "run", "--silent", name, "--", ...args],
      env: { NODE_COMPILE_CACHE: this.#compileCache, ...this.#temporaryFiles, ...options, ...env },
      // Far more than a slow machine needs.
      timeoutMs: 1_800_000,
    };
  }
}
