import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Script } from "node:vm";
import { startSimulator } from "../../src/simulator/index.ts";
import { blocksIn, readPages, root, type NamedBlock } from "./pages.ts";

const execute = promisify(execFile);
const blocks = blocksIn(readPages(), "ts", "js");
/** A settings file or the inside of a Function node is no module. */
const isModule = ({ text }: NamedBlock): boolean => /^import /m.test(text);
/** The inside of a Function node that takes its types from the package. */
const isTypedBody = ({ text }: NamedBlock): boolean =>
  text.includes('import("@dimflow/') && /\breturn\b/.test(text);
/** An address that stands for the reader's own device. */
const someDevice = /\b192\.168\.1\.20\b/g;

/** What Node-RED puts around the inside of a Function node, as far as the pages use it. */
function wrap(body: string): string {
  return [
    "/** @param {Record<string, unknown>} msg @param {{ warn(text: string): void }} node */",
    "export function onMessage(msg, node) {",
    "void node;",
    body,
    "}",
  ].join("\n");
}

describe("the scripts of the pages", () => {
  let folder: string;
  const nameOf = (block: NamedBlock): string => `block-${blocks.indexOf(block)}.${block.language}`;

  before(async () => {
    // Inside of the package, so that what is built of it is imported by its name.
    await mkdir(join(root, ".build"), { recursive: true });
    folder = await mkdtemp(join(root, ".build", "docs-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const write = async (block: NamedBlock, deviceAddress: string): Promise<string> => {
    const text = (isTypedBody(block) ? wrap(block.text) : block.text).replaceAll(someDevice, deviceAddress);
    const path = join(folder, nameOf(block));
    await writeFile(path, text);
    return path;
  };

  it("are found", () => {
    assert.ok(blocks.filter(isModule).length >= 3, `${blocks.length} blocks`);
    assert.ok(blocks.some(({ language }) => language === "ts"));
  });

  it("compile", async () => {
    const isTypeScript = (block: NamedBlock): boolean => isModule(block) && block.language === "ts";
    const scripts = blocks.filter((block) => isTypeScript(block) || isTypedBody(block));
    for (const block of scripts) {
      await write(block, "127.0.0.1");
    }
    const project = join(folder, "tsconfig.json");
    await writeFile(
      project,
      JSON.stringify({
        extends: "../../tsconfig.base.json",
        compilerOptions: {
          noEmit: true,
          lib: ["es2024"],
          types: ["node"],
          module: "nodenext",
          moduleResolution: "nodenext",
          checkJs: true,
          noPropertyAccessFromIndexSignature: false,
        },
        files: scripts.map(nameOf),
      }),
    );
    const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
    const { stdout } = await execute(process.execPath, [compiler, "--project", project], {
      cwd: root,
      timeout: 150_000,
    }).catch((error: { stdout?: string }) => ({ stdout: error.stdout ?? "it could not be run" }));
    assert.equal(stdout, "");
  });

  for (const block of blocks.filter(isModule)) {
    it(`${block.at} runs`, async () => {
      const sim = await startSimulator();
      try {
        const path = await write(block, new URL(sim.newer.origin).host);
        const args = ["--no-warnings", path];
        const { NODE_V8_COVERAGE: _, ...env } = process.env;
        const { stderr } = await execute(process.execPath, args, { cwd: root, env, timeout: 150_000 });
        assert.equal(stderr, "");
        if (someDevice.test(block.text)) {
          assert.ok(sim.requests.length > 0, "nothing was asked of the device");
        }
      } finally {
        await sim.close();
      }
    });
  }

  for (const { at, text } of blocks.filter((block) => !isModule(block))) {
    it(`${at} can be read`, () => {
      const code = /\breturn\b/.test(text) ? `(async function () {${text}\n})` : text;
      assert.ok(new Script(code) instanceof Script);
    });
  }
});
