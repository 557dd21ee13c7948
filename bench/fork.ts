import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** Starts a script of this folder as a separate process, and resolves with its first message. */
export async function forkAndHear<T>(
  script: string,
  args: readonly string[],
): Promise<{ heard: T; stop: () => Promise<void> }> {
  const child = fork(join(import.meta.dirname, script), args, {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const exited = once(child, "exit");
  const died = exited.then(() => {
    throw new Error(`${script} ended before it was ready`);
  });
  const [heard] = (await Promise.race([once(child, "message"), died])) as [T];
  died.catch(() => undefined);
  const stop = async () => {
    child.kill();
    await exited;
  };
  return { heard, stop };
}
