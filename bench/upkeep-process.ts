/** Does the upkeep of an archive as the command does it, in a process of its own, and sends the processor time that it took. Arguments: what, the folder, the database. */
import { pruneArchive, rebuildIndex, verifyArchive } from "../src/vault/upkeep/upkeep.ts";

const [what = "", folder = "", database = ""] = process.argv.slice(2);
const before = process.cpuUsage();
await act();
const { user, system } = process.cpuUsage(before);
process.send?.({ cpuSeconds: (user + system) / 1e6 });

async function act(): Promise<void> {
  switch (what) {
    case "verify": {
      const { findings } = await verifyArchive(folder, { database, mayBlock: true });
      demandNone(findings, "findings");
      return;
    }
    case "prune": {
      const { deleted } = await pruneArchive(folder, { database, before: new Date("2020-01-01") });
      demandNone(deleted, "deleted packages");
      return;
    }
    default:
      await rebuildIndex(folder, { database });
  }
}

function demandNone(count: number, of: string): void {
  if (count > 0) {
    throw new Error(`${count} ${of} in what the bench has made`);
  }
}
