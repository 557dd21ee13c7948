import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { bundle, runChild } from "../archive/processes.ts";

const verbs = ["simulator", "verify", "export", "prune", "copy", "rebuild", "timestamp", "checkpoint"];

describe("the command dimensioner", () => {
  let script: string;
  const run = (...args: string[]) => runChild(script, args);

  before(async () => {
    script = await bundle("src/cli/dimensioner.ts");
  });

  it("lists its verbs without arguments, and says its version", async () => {
    const { code, stdout } = await run();
    assert.equal(code, 0);
    for (const verb of verbs) {
      assert.match(stdout, new RegExp(`^  ${verb} +\\S`, "m"));
    }
    assert.match((await run("--version")).stdout, /^\d+\.\d+\.\d+\n$/);
  });

  it("says which verbs there are where it is told another one", async () => {
    for (const verb of ["prun", "__proto__", "toString"]) {
      const { code, stdout, stderr } = await run(verb);
      assert.deepEqual([code, stdout], [2, ""]);
      assert.match(
        stderr,
        /^dimensioner: there is no verb “\w+”\. The verbs are simulator, verify,.*--help\.\n$/,
      );
    }
  });

  for (const verb of verbs) {
    it(`explains ${verb} in lines that fit a terminal, with every option, examples and exit codes`, async () => {
      const { code, stdout, stderr } = await run(verb, "--help");
      assert.deepEqual([code, stderr], [0, ""]);
      assert.ok(stdout.split("\n").every((line) => line.length <= 110));
      assert.match(stdout, new RegExp(`^Usage: dimensioner ${verb} `));
      assert.match(stdout, /^ +--json +\S/m);
      assert.match(stdout, new RegExp(`\nExamples\n  dimensioner ${verb}\\b`));
      assert.match(stdout, /\nExit code: 0 /);
      const wrong = await run(verb, "--nothing");
      assert.deepEqual([wrong.code, wrong.stdout], [2, ""]);
      assert.match(
        wrong.stderr,
        new RegExp(
          `^dimensioner ${verb}: Unknown option '--nothing'\\. See dimensioner ${verb} --help\\.\\n$`,
        ),
      );
    });
  }

  it("completes verbs, options and the values of options in bash", async () => {
    const { stdout } = await run("completion", "bash");
    const complete = (...words: string[]): string[] => {
      const last = words.length - 1;
      const ask = `${stdout}\nCOMP_WORDS=(${words.map((one) => `'${one}'`).join(" ")}); COMP_CWORD=${last}; _dimensioner; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return execFileSync("bash", ["--norc", "-c", ask], { encoding: "utf8" }).trim().split("\n");
    };
    assert.deepEqual(complete("dimensioner", "ver"), ["verify"]);
    assert.deepEqual(complete("dimensioner", "prune", "--old"), ["--older-than"]);
    assert.deepEqual(complete("dimensioner", "export", "--by", "pa"), ["packageId"]);
    // Files are left to the shell.
    assert.deepEqual(complete("dimensioner", "verify", "/"), [""]);
  });

  it("names the shells that it has a completion for", async () => {
    for (const shell of ["zsh", "fish"]) {
      const { code, stdout } = await run("completion", shell);
      assert.equal(code, 0);
      assert.match(stdout, /older-than/);
    }
    const { code, stderr } = await run("completion");
    assert.equal(code, 2);
    assert.match(stderr, /name the shell: bash, zsh, fish/);
  });
});
