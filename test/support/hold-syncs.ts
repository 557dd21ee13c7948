import { open } from "node:fs/promises";
import { tmpdir } from "node:os";

/** While it is held, no file is synced in this process: the disk is slow. Returns a function that ends it. */
export async function holdSyncs(): Promise<{ readonly count: () => number; readonly release: () => void }> {
  const folder = await open(tmpdir());
  const prototype: { sync: () => Promise<void> } = Object.getPrototypeOf(folder);
  await folder.close();
  const { sync } = prototype;
  const held = Promise.withResolvers<void>();
  let count = 0;
  prototype.sync = async function (this: unknown) {
    count += 1;
    await held.promise;
    await sync.call(this);
  };
  return {
    count: () => count,
    release: () => {
      prototype.sync = sync;
      held.resolve();
    },
  };
}
