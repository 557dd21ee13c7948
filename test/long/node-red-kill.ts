/**
 * Node-RED with the archive, killed again and again:  node test/long/node-red-kill.ts [kills]
 *
 * 50 jobs in a Node-RED of each major that is killed at so many random moments (200): each package is whole and there once, and each
 * job's message was sent at least once.
 */
import { killNodeRed } from "../nodes/archive-kills.ts";

const kills = Number(process.argv[2] ?? 200);
for (const major of [4, 5] as const) {
  const { reports, resumed } = await killNodeRed(major, kills, Math.random);
  console.log(
    `Node-RED ${major}: killed ${kills} times, ${reports} reports, ${resumed} of them after a restart`,
  );
}
