import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { parseTable } from "./parse-table.ts";
import { changeDatabase, fillArchive } from "../archive/packages.ts";
import { databaseOf } from "../archive/store.ts";
import { withFolder } from "../media/support.ts";
import { type Served, withPage } from "./support.ts";

const headers = { "x-user": "Anna" };
const rules = { by: "proxy", header: "x-user", addresses: ["127.0.0.1"], managers: ["Anna"] } as const;
const noFilter = { device: "", work: "", period: "", film: false, onHold: false, incomplete: false };

const measurement = JSON.stringify({
  length: 1234.5,
  width: 21,
  height: 12.5,
  dimsUnitOfMeasure: "mm",
  weight: 1.27,
  weightUnitOfMeasure: "kg",
});

/** What labels may say, and what the table has of it. */
const hostile = {
  a1: ['=HYPERLINK("http://evil.example")', `'=HYPERLINK("http://evil.example")`],
  a2: ["+49 40 1", "'+49 40 1"],
  a3: ["-1+1", "'-1+1"],
  a4: ["@SUM(1)", "'@SUM(1)"],
  a5: ["\t=1", "'\t=1"],
  a6: ["＝1", "'＝1"],
  a7: ['Kiste "7", links; Müller', 'Kiste "7", links; Müller'],
  a8: ["two\r\nlines", "two\r\nlines"],
  a9: ["\r=1", "'\r=1"],
  b1: ["x;=1+1;y", "x;'=1+1;y"],
  b2: ["x\r\n =1", "x\r\n '=1"],
  b3: [" =1", "' =1"],
  b4: ["\0=1", "'\0=1"],
  b5: ["\u200b\u202e=1", "'\u200b\u202e=1"],
  b6: ["x\t=1", "x\t'=1"],
  b7: ["x;\u200b=1", "x;\u200b'=1"],
} as const;

function isHostile(id: string): id is keyof typeof hostile {
  return id in hostile;
}

describe("packages as a table", () => {
  async function ask(served: Served, text: string, filter: object = {}): Promise<Response> {
    return served.post("api/tables", { text, period: "", filter: { ...noFilter, ...filter } }, headers);
  }

  async function rowsOf(response: Response): Promise<Readonly<Record<string, string>>[]> {
    assert.equal(response.status, 200);
    // Not text(), which drops the mark by which Excel knows UTF-8.
    return parseTable(Buffer.from(await response.arrayBuffer()));
  }

  it("has what people ask for, and nothing that a spreadsheet would calculate", () =>
    withFolder(async (root) => {
      await fillArchive(root, Object.keys(hostile), (id) => ({
        measurement,
        device: "Dock 4",
        references: {
          transactionReference: isHostile(id) ? hostile[id][0] : null,
          customReference1: null,
          customReference2: null,
          customReference3: null,
          barcodeReference: "0042",
        },
      }));
      await withPage(root, rules, async (served) => {
        const response = await ask(served, "");
        assert.equal(response.headers.get("content-type"), "text/csv; charset=utf-8");
        assert.match(
          response.headers.get("content-disposition") ?? "",
          /^attachment; filename="packages-\d{4}-\d\d-\d\d\.csv"$/,
        );
        assert.deepEqual([response.headers.get("x-rows"), response.headers.has("x-more")], ["16", false]);
        const rows = await rowsOf(response);
        for (const row of rows) {
          const { transactionId: id = "" } = row;
          assert.equal(row["transactionReference"], isHostile(id) ? hostile[id][1] : assert.fail(id));
          assert.deepEqual(
            [
              row["length"],
              row["width"],
              row["dimsUnitOfMeasure"],
              row["weight"],
              row["weightUnitOfMeasure"],
            ],
            ["1234.5", "21", "mm", "1.27", "kg"],
          );
          assert.deepEqual(
            [
              row["barcodeReference"],
              row["device"],
              row["film"],
              row["hold"],
              row["complete"],
              row["problem"],
            ],
            ["0042", "Dock 4", "false", "false", "true", ""],
          );
          assert.match(row["archivedAtUtc"] ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        }
        assert.deepEqual(rows.map((row) => row["transactionId"]).toSorted(), Object.keys(hostile));
      });
    }));

  it("has the device's time in one form, and none of a clock that was never set", () =>
    withFolder(async (root) => {
      const times = {
        a: ["2026-11-22T10:00:00.5+01:00", "2026-11-22T09:00:00.500Z"],
        b: ["2026/11/22 09:00:00", "2026-11-22T09:00:00.000Z"],
        c: ["0001-01-01T00:00:00", ""],
        d: ["0001-01-02T08:00:00+14:00", ""],
        e: ["1970-01-01T00:00:03Z", ""],
        f: ["9999-12-31T23:59:59Z", ""],
        g: ["at noon", "at noon"],
      };
      const told = new Map(Object.entries(times));
      await fillArchive(root, [...told.keys()], (id) => ({ deviceUtcTime: told.get(id)?.[0] ?? null }));
      await withPage(root, rules, async (served) => {
        const rows = await rowsOf(await ask(served, ""));
        assert.equal(rows.length, told.size);
        for (const { transactionId = "", measuredAtUtc } of rows) {
          assert.equal(measuredAtUtc, told.get(transactionId)?.[1], transactionId);
        }
      });
    }));

  it("has what a search and its filter find, with holds and numbers that were added, and says what is gone", () =>
    withFolder(async (root) => {
      const paths = await fillArchive(root, ["b1", "b2", "c1"]);
      await withPage(root, rules, async (served) => {
        const [{ packageId = "" } = {}] = await rowsOf(await ask(served, "b2"));
        const change = (what: string, body: object): Promise<Response> =>
          served.post(`api/packages/${encodeURIComponent(packageId)}/${what}`, body, headers);
        await change("hold", { reason: "claim", heldAt: null });
        await change("numbers", { number: "=LATER-1" });
        await rm(join(root, paths[0] ?? ""), { recursive: true });
        const all = await rowsOf(await ask(served, "b"));
        assert.deepEqual(
          all.map((row) => [row["transactionId"], row["hold"], row["addedNumbers"], row["problem"] !== ""]),
          [
            ["b2", "true", "'=LATER-1", false],
            ["b1", "false", "", true],
          ],
        );
        assert.equal((await rowsOf(await ask(served, "", { onHold: true }))).length, 1);
        assert.equal((await rowsOf(await ask(served, "", { device: "Dock 9" }))).length, 0);
      });
    }));

  it("is only for people who are logged in, and for the page itself", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["b1"]);
      await withPage(root, rules, async (served) => {
        const body = { text: "", period: "", filter: noFilter };
        assert.equal((await served.post("api/tables", body)).status, 401);
        assert.equal((await served.ask("api/tables", { headers })).status, 404, "no link causes it");
        const origin = "https://evil.example";
        assert.equal((await served.post("api/tables", body, { ...headers, origin })).status, 403);
        assert.equal((await served.post("api/tables", { text: "" }, headers)).status, 400);
        assert.equal((await ask(served, "", { period: "soon" })).status, 400);
      });
    }));

  it("has 10,000 packages at most, the newest ones, and says that there are more", async function () {
    this.timeout(120_000);
    await withFolder(async (root) => {
      await fillArchive(root, ["b1"]);
      changeDatabase(
        databaseOf(root),
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
        INSERT INTO packages (package_id, job_key, location, manifest_sha256, archived_at, complete, files, bytes)
        SELECT 'gone-' || i, 'gone-' || i, 'gone/' || i, 'x', '2020-01-01T00:00:00.000Z', 1, 1, 1 FROM n`,
      );
      await withPage(root, rules, async (served) => {
        const response = await ask(served, "");
        const rows = await rowsOf(response);
        assert.deepEqual([rows.length, response.headers.get("x-more")], [10_000, "true"]);
        assert.equal(rows[0]?.["transactionId"], "b1");
      });
    });
  });
});
