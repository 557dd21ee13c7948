/**
 * The archive on a disk of which any single call fails or hangs:  node test/long/archive-disk.ts
 *
 * Each call of each beginning, with each code and in each way to hang; npm test strikes each call in turn with one of them. Then each
 * transaction of a job, with a database that hangs.
 */
import { beginnings, codes, hangs, strikeDisk, type Beginning } from "../archive/struck-disk.ts";
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
    const calls = await failAtEach((points) => strikeDisk(beginning, effect, points));
    console.log(`${beginning}, ${effect}: ${calls} calls, each struck once`);
  }
}

const transactions = await failAtEach(hangInDatabase);
console.log(`${transactions} transactions of the database, each of which hung once`);
