import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { NodeAPI } from "node-red";
import * as v from "valibot";
import type { StoreDatabases } from "../../store/store-databases.ts";
import { databaseFile } from "../store/store-choice.ts";
import { answerWith, fieldText, readBody, type Said } from "./admin-route.ts";

const asked = v.object({ id: fieldText, z: fieldText });

interface Answer extends Said {
  readonly state: "good";
}

/** The route behind Test connection: it opens the store's database, and counts what nobody has handled. */
export function serveStoreTest(RED: NodeAPI, databases: StoreDatabases): void {
  const allowed = RED.auth.needsPermission("dimensioner-store.write");
  const route = answerWith(async (request): Promise<Answer> => {
    const { id } = readBody(asked, request);
    const file = databaseFile(RED, id);
    const isTrial = RED.nodes.getNode(id) === null && !existsSync(file);
    const { database, release } = await databases.open(file);
    try {
      const [versions = [], counts = []] = await database.transaction([
        { sql: "SELECT sqlite_version() AS version" },
        { sql: "SELECT count(*) AS count FROM records WHERE handled_at IS NULL" },
      ]);
      const version = String(versions[0]?.["version"]);
      return {
        state: "good",
        from: "test",
        key: "store",
        values: { version, count: Number(counts[0]?.["count"]) },
      };
    } finally {
      await release();
      // Of a dialog that may be cancelled nothing stays.
      if (isTrial) {
        await Promise.all([file, `${file}-lock`].map((one) => rm(one, { force: true })));
      }
    }
  });
  RED.httpAdmin.post("/dimensioner-store/test", allowed, route);
}
