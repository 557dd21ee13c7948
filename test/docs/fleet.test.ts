import assert from "node:assert/strict";
import { parse as parseYaml } from "yaml";
import { PostgresDatabase } from "../../src/database/postgres-database.ts";
import { postgresOptions } from "../database/databases.ts";
import { blocksIn, readPages } from "./pages.ts";

describe("docs/fleet.md", () => {
  const pages = readPages().filter(({ path }) => path === "docs/fleet.md");
  let database: PostgresDatabase;

  before(async () => {
    database = await PostgresDatabase.open(await postgresOptions());
  });
  after(() => database.close());

  // The settings of a user are those of test/database/postgres-proxies.test.ts.
  const queries = blocksIn(pages, "sql").filter(({ text }) => !text.startsWith("ALTER ROLE "));
  for (const { at, text } of queries) {
    it(`${at} is a query that the database of a store answers`, async () => {
      const [rows] = await database.transaction([{ sql: text.replace(/;\s*$/, "") }]);
      assert.ok(rows !== undefined && rows.length <= 1);
    });
  }

  it("has a load balancer for each Node-RED of the Compose file", () => {
    const [compose] = blocksIn(pages, "yaml");
    const { services } = parseYaml(compose?.text ?? "", { merge: true }) as {
      services: Record<string, { environment?: Record<string, string> }>;
    };
    const workers = Object.keys(services).filter((name) => name.startsWith("node-red"));
    assert.equal(workers.length, 2);
    for (const name of workers) {
      assert.ok(services[name]?.environment?.["PGPASSWORD"], name);
      assert.match(blocksIn(pages, "caddyfile")[0]?.text ?? "", new RegExp(`\\b${name}:1880\\b`));
    }
  });
});
