import { execFile } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { blocksIn, readPages } from "../docs/pages.ts";
import { repository } from "./packed.ts";

const execute = promisify(execFile);

/** How projects of users tell the compiler to find packages. */
export const resolutions = ["node16", "nodenext", "bundler"] as const;

const page = readPages().filter(({ path }) => path === "docs/typescript.md");
const programs = blocksIn(page, "ts");
const functions = blocksIn(page, "js");

/** What stands around the code of a Function node when it runs, for the compiler. */
const inFunctionNode = (text: string): string =>
  `/** @param {Record<string, unknown>} msg @param {{ warn(text: string): void }} node */\n` +
  `export function onMessage(msg, node) {\n${text}\n}\n`;

/** A project that uses the installed package as docs/typescript.md says. */
export async function makeProject(userDir: string): Promise<void> {
  const types = join(userDir, "node_modules", "@types");
  await mkdir(types, { recursive: true });
  await symlink(join(repository, "node_modules", "@types", "node"), join(types, "node"));
  await symlink(
    join(repository, "node_modules", "undici-types"),
    join(userDir, "node_modules", "undici-types"),
  );
  const files = [
    ...programs.map(({ text }, index) => [`program-${index}.mts`, text] as const),
    ...functions.map(({ text }, index) => [`function-${index}.mjs`, inFunctionNode(text)] as const),
    [
      "wrong.mjs",
      inFunctionNode(
        '/** @typedef {import("@dimflow/node-red-dimensioner").MeasureMessage} MeasureMessage */\n' +
          "return /** @type {MeasureMessage} */ (msg).payload.lenght.toFixed();",
      ),
    ] as const,
  ];
  for (const [name, text] of files) {
    await writeFile(join(userDir, name), text);
  }
  for (const resolution of resolutions) {
    const compilerOptions = {
      noEmit: true,
      strict: true,
      allowJs: true,
      checkJs: true,
      skipLibCheck: false,
      lib: ["es2023", "es2024.string"],
      types: ["node"],
      target: "es2023",
      module: resolution === "bundler" ? "esnext" : resolution,
      moduleResolution: resolution,
    };
    await writeFile(
      join(userDir, `tsconfig.${resolution}.json`),
      JSON.stringify({ compilerOptions, files: files.map(([name]) => name) }),
    );
  }
}

/** What the compiler says of the project. */
export async function compile(userDir: string, resolution: string): Promise<string[]> {
  const compiler = join(repository, "node_modules", "typescript", "bin", "tsc");
  const { stdout } = await execute(
    process.execPath,
    [compiler, "--project", `tsconfig.${resolution}.json`, "--pretty", "false"],
    { cwd: userDir, timeout: 150_000 },
  ).catch((error: { stdout?: string }) => ({ stdout: error.stdout ?? "it could not be run" }));
  return stdout.split("\n").filter((line) => line !== "");
}

/** The programs that bring a simulator along, as JavaScript. */
export async function runnablePrograms(): Promise<string[]> {
  const whole = programs.filter(({ text }) => !text.includes("192.168."));
  const results = await Promise.all(
    whole.map(({ text }) => transform(text, { loader: "ts", format: "esm" })),
  );
  return results.map(({ code }) => code);
}
