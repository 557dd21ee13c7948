import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { bundledNode, runningNode, type NodeBinary } from "./node-binaries.ts";
import type { Step } from "./steps.ts";

/** Makes steps of npm scripts, each on a Node.js of its own. */
export class TestScripts {
  /** Node.js 24, the one that runs this where it is newer, or the only one that there is. */
  readonly newest: NodeBinary;
  /** Node.js 22; undefined on a platform for which `npm ci` installs none: then everything runs on the newest alone. */
  readonly oldest: NodeBinary | undefined;
  readonly #npm: string;
  readonly #reporter: string;
  readonly #compileCache: string;
  /** For a Node.js that does not keep in the cache what it has removed the types from. */
  readonly #withStrippedTypes: NonNullable<Step["env"]>;

  private constructor(root: string, npm: string, compileCache: string) {
    const running = runningNode();
    const oldest = running.major >= 24 ? bundledNode(root, 22) : running;
    this.newest = running.major >= 24 ? running : (bundledNode(root, 24) ?? running);
    this.oldest = oldest?.path === this.newest.path ? undefined : oldest;
    this.#npm = npm;
    this.#reporter = join(root, "tools", "test", "reporter.ts");
    this.#compileCache = compileCache;
    const preload = pathToFileURL(join(root, "tools", "test", "strip-types-once.mjs"));
    this.#withStrippedTypes = { NODE_OPTIONS: `--import=${preload.href}` };
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
    return this.#step(name, this.newest);
  }

  /** A script that runs mocha; what `npm run <name> -- <args>` would run, with a reporter that counts. */
  suite(name: string, env: Step["env"] = {}): Step {
    return this.#step(name, this.newest, env, `--reporter=${this.#reporter}`);
  }

  /** The same on the oldest Node.js, where there is one. */
  suiteOnOldest(name: string, ...args: readonly string[]): Step[] {
    const node = this.oldest;
    return node === undefined
      ? []
      : [this.#step(name, node, this.#withStrippedTypes, `--reporter=${this.#reporter}`, ...args)];
  }

  /** tools/with-node.mjs takes the Node.js that npm runs on. */
  #step(name: string, node: NodeBinary, env: Step["env"] = {}, ...args: readonly string[]): Step {
    return {
      name: `${name}, Node.js ${node.version}`,
      command: [node.path, this.#npm, "run", "--silent", name, "--", ...args],
      env: { NODE_COMPILE_CACHE: this.#compileCache, ...env },
      // Far more than a slow machine needs.
      timeoutMs: 1_800_000,
    };
  }
}
