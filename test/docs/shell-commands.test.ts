import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { controlRoutes } from "../../src/simulator/control.ts";
import { blocksIn, readPages, root } from "./pages.ts";

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  name: string;
  bin: Record<string, string>;
  scripts: Record<string, string>;
};
/** What a computer has without us. */
const elsewhere = [
  "aws",
  "cd",
  "curl",
  "mkdir",
  "chown",
  "touch",
  "grep",
  "du",
  "openssl",
  "python3",
  "echo",
  "sqlite3",
  "sha256sum",
  // The shell of the object store, in its container.
  "weed",
];
const npmCommands = ["ci", "install", "test", "version", "pack", "audit"];
const pages = readPages();

const verbs = ["simulator", "verify", "export", "prune", "copy", "rebuild", "timestamp", "checkpoint"];

/** What each verb of the command says of itself. */
type Helps = ReadonlyMap<string, string>;

function helpOf(verb: string): string {
  const script = join(root, "src/cli/dimensioner.ts");
  return spawnSync(process.execPath, [script, verb, "--help"], {
    cwd: root,
    encoding: "utf8",
    timeout: 150_000,
  }).stdout;
}

/** The commands of a block, each as its words; comments and redirections are left out. */
function commandsOf(text: string): string[][] {
  const commands: string[][] = [];
  for (const line of text.replace(/\\\n/g, " ").split("\n")) {
    let words: string[] = [];
    const end = (): void => {
      if (words.length > 0) {
        commands.push(words);
      }
      words = [];
    };
    for (const [token] of line.matchAll(/"(?:\\.|[^"])*"|'[^']*'|\s#.*$|^#.*$|&&|\|\||[|;]|[^\s"';|&]+/g)) {
      if (/^\s?#/.test(token)) {
        break;
      }
      if (["&&", "||", "|", ";"].includes(token)) {
        end();
      } else {
        words.push(token.replace(/^(["'])(.*)\1$/s, "$2"));
      }
    }
    end();
  }
  return commands;
}

/** What is wrong with a command; undefined for one that there is. */
function commandProblem(words: readonly string[], helps: Helps): string | undefined {
  const [command = "", first = "", ...rest] = words;
  if (/^[A-Z_]+=/.test(command) || command === "sudo") {
    return commandProblem(words.slice(1), helps);
  }
  if (command === "docker") {
    const exec = words.indexOf("exec");
    const service = words.findIndex((word, place) => place > exec && !word.startsWith("-"));
    return exec < 0 ? undefined : commandProblem(words.slice(service + 1), helps);
  }
  if (command === "npm") {
    return npmProblem(first, rest);
  }
  if (command === "npx") {
    return npxProblem(words.slice(1), helps);
  }
  if (command === "node") {
    return nodeProblem(words.slice(1));
  }
  if (!elsewhere.includes(command)) {
    return `nobody knows ${command}`;
  }
  return command === "curl" ? curlProblem(words) : undefined;
}

function nodeProblem(words: readonly string[]): string | undefined {
  const options = words.filter((word) => word.startsWith("--"));
  const unknown = options.filter((option) => !process.allowedNodeEnvironmentFlags.has(option));
  const script = words.find((word) => /\.[cm]?[jt]s$/.test(word));
  if (unknown.length > 0) {
    return `node has no ${unknown.join()}`;
  }
  return script === undefined || existsSync(join(root, script)) ? undefined : `there is no ${script}`;
}

function npmProblem(first: string, rest: readonly string[]): string | undefined {
  if (first === "run") {
    const [script = "", ...options] = rest;
    if (script === "test:unit") {
      // It hands all that follows to mocha.
      return options.every((option) => !/^--\w/.test(option) || option === "--grep") ? undefined : script;
    }
    const command = manifest.scripts[script];
    if (command === undefined) {
      return `there is no script ${script}`;
    }
    const source = /tools\/[\w/-]+\.ts/.exec(command)?.[0];
    const text = source === undefined ? "" : readFileSync(join(root, source), "utf8");
    const unknown = options.filter((option) => /^--\w/.test(option) && !text.includes(option));
    return unknown.length === 0 || source === undefined ? undefined : `${script} has no ${unknown.join()}`;
  }
  const others = rest.filter((word) => word.includes("node-red") && !word.startsWith(manifest.name));
  return npmCommands.includes(first) && others.length === 0 ? undefined : `npm ${first} ${rest.join(" ")}`;
}

function npxProblem(words: readonly string[], helps: Helps): string | undefined {
  const at = words.findIndex((word) => word in manifest.bin);
  const [verb = "", ...rest] = words.slice(at + 1);
  const help = helps.get(verb);
  if (at < 0 || help === undefined) {
    return `there is no command ${words.join(" ")}`;
  }
  const unknown = rest.filter((word) => word.startsWith("--") && !help.includes(word));
  return unknown.length === 0 ? undefined : `${verb} has no ${unknown.join()}`;
}

/** A body has to be JSON, and what is asked of the simulator's control port has to be there. */
function curlProblem(words: readonly string[]): string | undefined {
  const body = words[words.indexOf("-d") + 1];
  if (words.includes("-d")) {
    try {
      JSON.parse(body ?? "");
    } catch {
      return `the body is no JSON: ${String(body)}`;
    }
    if (!words.some((word) => /^content-type: application\/json$/i.test(word))) {
      return "it does not say that it sends JSON";
    }
  }
  const url = words.find((word) => /^https?:/.test(word)) ?? "";
  if (!url.startsWith("http://127.0.0.1:8100")) {
    return undefined;
  }
  const route = `${words.includes("-d") ? "POST" : "GET"} ${new URL(url).pathname}`;
  return route in controlRoutes ? undefined : `the control port has no ${route}`;
}

describe("the shell commands of the pages", () => {
  const helps = new Map<string, string>();

  before(() => {
    for (const verb of verbs) {
      helps.set(verb, helpOf(verb));
    }
  });

  it("are read as a shell reads them", () => {
    assert.deepEqual(commandsOf("A=1 npm ci && npm test   # all\nnpx x \\\n  --y \"a b\" | grep 'c d'"), [
      ["A=1", "npm", "ci"],
      ["npm", "test"],
      ["npx", "x", "--y", "a b"],
      ["grep", "c d"],
    ]);
  });

  const blocks = blocksIn(pages, "sh");
  for (const { at, text } of blocks) {
    it(`${at} can be run`, () => {
      const problems = commandsOf(text).flatMap((words) => {
        const problem = commandProblem(words, helps);
        return problem === undefined ? [] : [`${words.join(" ")}: ${problem}`];
      });
      assert.deepEqual(problems, []);
    });
  }

  it("and those in the middle of a sentence name scripts, bins and options that there are", () => {
    const inline = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/`((?:npx|npm|node) [^`]+)`/g)].map(([, command = ""]) => ({ path, command })),
    );
    assert.ok(blocks.length > 8 && inline.length > 8, `${blocks.length} blocks, ${inline.length} sentences`);
    const problems = inline.flatMap(({ path, command }) =>
      commandsOf(command.replaceAll(/<[^>]+>/g, "x")).flatMap((words) => {
        const problem = commandProblem(words, helps);
        return problem === undefined ? [] : [`${path}: ${command}: ${problem}`];
      }),
    );
    assert.deepEqual(problems, []);
  });

  it("would be missed if there were no such thing", () => {
    for (const wrong of [
      "npm run nothing",
      "npm run demo -- --nothing",
      "npx dimensioner-nothing",
      "npx dimensioner verify /a --nothing",
      "npm install node-red-contrib-other",
      "curl http://127.0.0.1:8100/nothing",
      "curl -H 'content-type: application/json' -d '{' http://127.0.0.1:8100/scan",
      "frobnicate",
      "node tools/nothing.ts",
      "node --nothing",
    ]) {
      const [words = []] = commandsOf(wrong);
      assert.notEqual(commandProblem(words, helps), undefined, wrong);
    }
  });
});
