import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const repository = join(import.meta.dirname, "..", "..");

/** Builds the package; what the build prints is shown when it fails. */
export async function build(): Promise<void> {
  const child = spawn(process.execPath, [join(repository, "tools", "build.ts")], {
    cwd: repository,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  if (child.exitCode !== 0) {
    throw new Error(`the package does not build.\n${out}${err}`);
  }
}
