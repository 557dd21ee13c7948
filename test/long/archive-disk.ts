/**
 * Runs the archive on a disk on which any single call fails or hangs: node test/long/archive-disk.ts
 *  Tries every call of every beginning with every error code and every way to hang, where npm test tries one of them on
 * one call in three. Then makes each transaction of a job fail in every way, and hang, in the database.
 */
import { beginnings, codes, hangs, runWithFailingCall, type Beginning } from "../archive/failing-disk.ts";
import { databaseEffects, runWithFailingDatabase } from "../archive/failing-database.ts";
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

for (const place of ["folder", "bucket"] as const) {
  for (const beginning of ["new", "resumed"] as const) {
    for (const effect of databaseEffects) {
      const calls = await failAtEach((points) =>
        runWithFailingDatabase({ beginning, effect, place }, points),
      );
      console.log(`${place}, ${beginning}: ${calls} transactions, each of which failed once: it ${effect}`);
    }
  }
}

const transactions = await failAtEach(hangInDatabase);
console.log(`${transactions} transactions of the database, each of which hung once`);
