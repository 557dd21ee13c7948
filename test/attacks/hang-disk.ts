/**
 * Preloaded into a Node-RED: one kind of call to the disk hangs for everything below a folder, as on a share that does not answer. Each
 * opens a pipe that nobody writes to, which keeps a thread of Node's pool. HUNG_CALL names the call, "stat" or "file.sync" for one on an
 * open file, HUNG_FOLDER the folder, HUNG_PIPE the pipe, and HUNG_LOG a file that gets a line for each call that hangs.
 */
import { appendFileSync } from "node:fs";
import fsPromises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { sep } from "node:path";

type Call = (...args: unknown[]) => Promise<unknown>;

const [hungCall = "", folder = "", pipe = "", log = ""] = ["CALL", "FOLDER", "PIPE", "LOG"].map(
  (name) => process.env[`HUNG_${name}`],
);
const { open } = fsPromises;

async function hang(): Promise<void> {
  appendFileSync(log, `${hungCall}\n`);
  const file = await open(pipe, "r");
  await file.close();
}

/** Puts a call that hangs first in place of a function of an object. */
function replace(target: object, name: string, hangsFor: (args: readonly unknown[]) => boolean): void {
  const real = Reflect.get(target, name) as Call;
  const slow: Call = async (...args) => {
    if (hangsFor(args)) {
      await hang();
    }
    return await Reflect.apply(real, target, args);
  };
  Reflect.set(target, name, slow);
}

const isBelow = (path: unknown): boolean => String(path).startsWith(folder + sep);
const [name = "", ofFile] = hungCall.split(".");
if (ofFile === undefined) {
  replace(fsPromises, name, ([path]) => isBelow(path));
} else {
  fsPromises.open = async (...args) => {
    const file = await open(...args);
    if (isBelow(args[0])) {
      replace(file, ofFile, () => true);
    }
    return file;
  };
}
syncBuiltinESMExports();
