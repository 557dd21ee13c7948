/**
 * Runs the archive on a disk on which any single call fails or hangs: node test/long/archive-disk.ts
 *  Tries every call of every beginning with every error code and every way to hang, where npm test tries one of them on
 * each call. Then makes each transaction of a job hang in the database.
 */
import { beginnings, codes, hangs, runWithFailingCall, type Beginning } from "../archive/failing-disk.ts";
import { hangInDatabase } from "../archive/hung-database.ts";
import { failAtEach } from "../sweep/fault-points.ts";

/** What shares and their servers say, too many open files, and a system that lets no process do it. */
const moreCodes = [
  "EDQUOT",
  "EPERM",
  "EMFILE",
  "EBUSY",
  "ESTALE",
  "ETIMEDOUT",
  "ENOTCONN",
  "EHOSTDOWN",
] as const;

for (const beginning of Object.keys(beginnings) as Beginning[]) {
  for (const effect of [...hangs, ...codes, ...moreCodes]) {
    const calls = await failAtEach((points) => runWithFailingCall(beginning, effect, points));
    console.log(`${beginning}, ${effect}: ${calls} calls, each of which failed once`);
  }
}

const transactions = await failAtEach(hangInDatabase);
console.log(`${transactions} transactions of the database, each of which hung once`);
