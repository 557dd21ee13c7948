/**
 * Node-RED with an archive on a disk on which one kind of call hangs, for each kind:  node test/long/hung-disk.ts
 *
 * The calls really hang, in threads of Node's pool. Another archive goes on meanwhile, and a deploy ends in time.
 */
import { useWhileHung } from "../attacks/hung-node-red.ts";

const calls = ["stat", "lstat", "realpath", "mkdir", "open", "rename", "readdir", "rmdir"];
const ofFiles = ["stat", "write", "writev", "sync", "close"].map((name) => `file.${name}`);
for (const major of [4, 5] as const) {
  for (const call of [...calls, ...ofFiles]) {
    await useWhileHung(major, call, 1);
    console.log(`Node-RED ${major}: ${call} hangs, and nothing else`);
  }
}
