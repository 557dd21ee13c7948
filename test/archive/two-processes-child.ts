/**
 * A process of its own that archives transactions into a folder, with a database of its own. Arguments: root, database, origin of the
 * cloud, the ids with commas between. Prints "open", waits for a line on its input, and prints "archived <id> <path>" for each.
 */
import { once } from "node:events";
import { CloudClient } from "../../src/cloud/client.ts";
import { StoreDatabases } from "../../src/database/store-databases.ts";
import { Store } from "../../src/vault/store.ts";
import { intentOf, openArchive } from "./support.ts";

const [root = "", file = "", origin = "", list = ""] = process.argv.slice(2);
const client = new CloudClient({ baseUrl: origin, token: "simulator", timeoutMs: 5_000 });
const store = new Store({ kind: "file", file }, { kind: "folder", path: root }, new StoreDatabases());
const { runner, close } = await openArchive(root, client, { store, concurrency: 4 });
console.log("open");
await once(process.stdin, "data");
await Promise.all(
  list.split(",").map(async (id) => {
    const submission = await runner.submit(intentOf(id, { origin: client.peer.origin }));
    const { path } = await submission.end();
    submission.messageSent();
    console.log(`archived ${id} ${path}`);
  }),
);
await close();
await client.close();
process.stdin.destroy();
