import { blocksIn, readPages } from "../docs/pages.ts";
import { describeDatabases } from "./databases.ts";

describeDatabases("the queries of docs/records.md", (open) => {
  it("are answered", async () => {
    const { database, close } = await open();
    const pages = readPages().filter(({ path }) => path === "docs/records.md");
    for (const { text } of blocksIn(pages, "sql")) {
      await database.transaction([{ sql: text.trim().replace(/;$/, "") }]);
    }
    await close();
  });
});
