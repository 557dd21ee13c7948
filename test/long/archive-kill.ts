/**
 * The archive, killed again and again:  node test/long/archive-kill.ts [kills]
 *
 * 50 jobs in a process that is killed at so many random moments (200); in the end each package is whole and there once.
 */
import { killAgainAndAgain } from "../archive/kill-rounds.ts";

const kills = Number(process.argv[2] ?? 200);
const { reports, resumed } = await killAgainAndAgain(kills, 7);
console.log(`archive: killed ${kills} times, ${reports} jobs reported, ${resumed} of them after a restart`);
process.exitCode = resumed > 0 ? 0 : 1;
