// Loaded into a process that must not outlive the one that started it, even when that one is killed: ends it as a
// service manager would. It is preloaded into Node-RED as well.
import { readFileSync } from "node:fs";

const before = ancestors();
const watch = setInterval(() => {
  if (ancestors() === before && isAlive(process.ppid)) {
    return;
  }
  clearInterval(watch);
  process.kill(process.pid, "SIGTERM");
}, 500);
watch.unref();

/** The parent; and its parent, where one can be seen: npm starts scripts through a shell that would live on. */
function ancestors() {
  try {
    const stat = readFileSync(`/proc/${process.ppid}/stat`, "latin1");
    const [, grandparent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return `${process.ppid} ${grandparent}`;
  } catch {
    return String(process.ppid);
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
