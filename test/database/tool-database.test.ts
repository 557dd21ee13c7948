import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ToolThread } from "../../src/database/tool-database.ts";
import { rejectsWith, withFolder } from "../media/support.ts";

describe("a database that a tool has opened to write", () => {
  it("is read while another one writes, as its own reading keeps nobody from writing", () =>
    withFolder(async (folder) => {
      const file = join(folder, "store.sqlite");
      const owner = new DatabaseSync(file, { timeout: 0 });
      owner.exec(
        "PRAGMA journal_mode = WAL; CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('old')",
      );
      const thread = new ToolThread();
      const tool = await thread.open({ as: "write", file });
      owner.exec("BEGIN IMMEDIATE; UPDATE notes SET text = 'new'");
      assert.deepEqual(await tool.select("SELECT text FROM notes"), [{ text: "old" }]);
      await rejectsWith(tool.transaction([{ sql: "DELETE FROM notes" }]), "ERR_STORE", "storeLocked");
      owner.exec("COMMIT");
      assert.deepEqual(await tool.select("SELECT text FROM notes"), [{ text: "new" }]);
      await tool.close();
      await thread.close();
      owner.close();
    }));
});
