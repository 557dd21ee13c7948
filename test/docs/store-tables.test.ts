import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { migrations } from "../../src/database/schema.ts";
import { blocksIn, readPages } from "./pages.ts";

for (const [kind, path] of [
  ["table", "docs/store.md"],
  ["view", "docs/records.md"],
] as const) {
  describe(`the ${kind}s in ${path}`, () => suite(kind, path));
}

function suite(kind: string, path: string): void {
  const pages = readPages().filter((page) => page.path === path);
  const database = new DatabaseSync(":memory:");

  before(() => {
    for (const statement of migrations.flat()) {
      database.exec(typeof statement === "string" ? statement : statement.sqlite.join(";\n"));
    }
  });
  after(() => database.close());

  it("are those of the database, with each column and its type, in order", () => {
    const names = database
      .prepare(
        `SELECT name FROM sqlite_schema JOIN pragma_table_list AS listed USING (name)
          WHERE listed.type = ? AND name NOT LIKE 'sqlite_%' ORDER BY sqlite_schema.rowid`,
      )
      .all(kind)
      .map(({ name }) => String(name));
    const columns = names.map((name) => [
      name,
      database
        .prepare("SELECT name, type FROM pragma_table_info(?)")
        .all(name)
        .map((column) => [String(column["name"]), String(column["type"]).toLowerCase()]),
    ]);
    const documented = [
      ...(pages[0]?.text ?? "").matchAll(/^\| column of `(\w+)` .*\n\|[-| ]+\n((?:\|.*\n)+)/gm),
    ].map(([, name, rows = ""]) => [
      name,
      [...rows.matchAll(/^\| `(\w+)` +\| (\w+)/gm)].map(([, column, type]) => [column, type]),
    ]);
    assert.deepEqual(documented, columns);
  });

  for (const { at, text } of blocksIn(pages, "sql")) {
    it(`${at} is a query that the database answers`, () => {
      assert.deepEqual(database.prepare(text).all(), []);
    });
  }

  for (const { at, text } of blocksIn(pages, "sh")) {
    const [, query] = /"(SELECT [^"]*)"/.exec(text) ?? [];
    if (query !== undefined) {
      it(`${at} holds a query that the database answers`, () => {
        assert.deepEqual(database.prepare(query).all(), []);
      });
    }
  }
}
