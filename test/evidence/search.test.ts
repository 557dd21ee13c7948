import assert from "node:assert/strict";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { readScan } from "../../src/index.ts";
import { changeDatabase, fillArchive, keepEndedJobs } from "../archive/packages.ts";
import { databaseOf } from "../archive/store.ts";
import { withFolder } from "../media/support.ts";
import { packagesOf, withPage, type Served } from "./support.ts";

const headers = { "x-user": "Anna" };
const rules = { by: "proxy", header: "x-user", addresses: ["127.0.0.1"], managers: [] } as const;
const measurement = JSON.stringify({ weight: 1.27, weightUnitOfMeasure: "kg" });
const none = {
  transactionReference: null,
  customReference1: null,
  customReference2: null,
  customReference3: null,
  barcodeReference: null,
};

/** The names by which the packages that are found were archived. */
async function search(served: Served, text: string, more = ""): Promise<readonly string[]> {
  const response = await served.ask(`api/packages?text=${encodeURIComponent(text)}${more}`, { headers });
  assert.equal(response.status, 200, text);
  const found = await packagesOf<{ customReference1: string }>(response);
  return found.map(({ customReference1 }) => customReference1);
}

describe("a search on the evidence page", () => {
  it("sends the newest 24 packages, and says whether there are more", () =>
    withFolder(async (root) => {
      const ids = Array.from({ length: 24 }, (_, n) => `m${n}`);
      const references = { ...none, transactionReference: "PO-7" };
      const [first = ""] = await fillArchive(root, ids, () => ({ references, measurement }));
      const look = (more: boolean): Promise<void> =>
        withPage(root, rules, async ({ ask }) => {
          for (const text of ["", "PO", "24h", "1.27 kg"]) {
            const response = await ask(`api/packages?text=${encodeURIComponent(text)}`, { headers });
            const found = (await response.json()) as { packages: { location: string }[]; more: boolean };
            assert.deepEqual([found.packages.length, found.more], [24, more], text);
            assert.equal(found.packages.at(-1)?.location === first, !more, text);
          }
        });
      await look(false);
      await fillArchive(root, ["last"], () => ({ references, measurement }));
      await look(true);
    }));

  it("finds a number as it is printed, with spaces in it", () =>
    withFolder(async (root) => {
      const numbers = { m0: "395212340000004173", m1: "JJD000390007882823434", m2: "PO 12 9" };
      await fillArchive(root, Object.keys(numbers), (id) => ({
        references: {
          ...none,
          customReference1: id,
          transactionReference: new Map(Object.entries(numbers)).get(id) ?? null,
        },
      }));
      await withPage(root, rules, async (served) => {
        for (const [text, found] of [
          ["3952 1234 0000 0041 73", ["m0"]],
          ["0000 0041\u00a073", ["m0"]],
          ["jjd 00 03 9000 7882 823434", ["m1"]],
          ["po 12 9", ["m2"]],
          ["3952 9999", []],
        ] as const) {
          assert.deepEqual(await search(served, text), found, text);
        }
      });
    }));

  it("suggests nothing that the filter leaves out as well", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0", "m1"], (id) => ({
        device: id === "m0" ? "Dock 4" : "Dock 5",
        references: { ...none, transactionReference: id === "m0" ? "ORDER-4711" : "ORDER-4712" },
      }));
      await withPage(root, rules, async ({ ask }) => {
        const suggested = async (more: string): Promise<unknown> => {
          const answer = await ask(`api/packages?text=4711${more}`, { headers });
          return ((await answer.json()) as { suggestions: unknown }).suggestions;
        };
        assert.deepEqual(await suggested("&device=Dock+5"), ["471"]);
        assert.deepEqual(await suggested("&onHold=true"), []);
      });
    }));

  it("says what is not delivered yet, also while the share of the packages is not mounted", () =>
    withFolder(async (root) => {
      const references = { ...none, transactionReference: "ORDER-4711" };
      await fillArchive(root, []);
      keepEndedJobs(databaseOf(root));
      await fillArchive(root, ["m0", "m1", "m2"], (id) => (id === "m0" ? { references } : {}));
      const sealing = "UPDATE jobs SET state = 'sealing', changed_at = '2026-03-04T01:30:00.000Z'";
      changeDatabase(databaseOf(root), `${sealing} WHERE transaction_id IN ('m0', 'm1')`);
      const [m2, acceptedAt] = ["WHERE transaction_id = 'm2'", "accepted_at = '2026-03-04T01:30:00.000Z'"];
      changeDatabase(databaseOf(root), `UPDATE jobs SET state = 'collecting', ${acceptedAt} ${m2}`);
      await withPage(root, rules, async ({ ask, problems }) => {
        await rename(
          join(root, ".dimensioner-archive", "log"),
          join(root, ".dimensioner-archive", "elsewhere"),
        );
        const read = async (text: string): Promise<unknown> => {
          const response = await ask(`api/undelivered?text=${text}`, { headers });
          assert.equal(response.status, 200);
          const { packages, count } = (await response.json()) as { packages: object[]; count: number };
          return [count, packages.map((one) => ({ ...one, acceptedAtUtc: "" }))];
        };
        const first = {
          transactionReference: "ORDER-4711",
          transactionId: "m0",
          acceptedAtUtc: "",
          computer: null,
        };
        assert.deepEqual(await read("4711"), [1, [first]]);
        assert.deepEqual(await read(""), [
          2,
          [first, { ...first, transactionReference: "ORDER-1", transactionId: "m1" }],
        ]);
        assert.deepEqual(await read("m2"), [0, []]);
        // They were noted while the clock was a year ahead, and it was put right since.
        changeDatabase(
          databaseOf(root),
          `UPDATE jobs SET changed_at = '${new Date(Date.now() + 31_536_000_000).toISOString()}' WHERE state = 'sealing'`,
        );
        assert.deepEqual(await read("4711"), [1, [first]]);
        const spool = "spool_id = 'spool', spool_host = 'packing-2'";
        const ofM2 = `job_id IN (SELECT job_id FROM jobs ${m2})`;
        changeDatabase(databaseOf(root), `UPDATE job_media SET ${spool} WHERE ${ofM2}`);
        const { pinned } = (await (await ask("api/undelivered?text=m2", { headers })).json()) as {
          pinned: { packages: { computer: string }[]; count: number };
        };
        assert.deepEqual([pinned.count, pinned.packages.map(({ computer }) => computer)], [1, ["packing-2"]]);
        assert.deepEqual(await read("m2"), [0, []]);
        assert.equal((await ask("api/packages?text=", { headers })).status, 503);
        assert.match(String(problems[0]), /the log of this store is not in it/);
      });
    }));

  it("looks for what is not delivered for one after the other, and for nobody who has left", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0"]);
      await withPage(root, rules, async ({ ask, hold }) => {
        const held = hold("database");
        const leaving = new AbortController();
        const look = (init = {}): Promise<Response> => ask("api/undelivered?text=", { headers, ...init });
        const first = look();
        await held.arrived;
        const left = look({ signal: leaving.signal });
        const last = look();
        // They have come in their order by then, as far as that can be known here.
        for (let others = 0; others < 10; others += 1) {
          assert.equal((await ask("api/me", { headers })).status, 200);
        }
        assert.equal(held.count(), 1);
        leaving.abort();
        await assert.rejects(left);
        held.release();
        for (const answer of await Promise.all([first, last])) {
          assert.equal(answer.status, 200);
        }
      });
    }));

  it("finds a period in the time zone of the browser", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0"], () => ({ references: { ...none, customReference1: "night" } }));
      changeDatabase(databaseOf(root), "UPDATE packages SET archived_at = '2026-03-04T01:30:00.000Z'");
      await withPage(root, rules, async (served) => {
        const day = (text: string, period: string): Promise<readonly string[]> =>
          search(served, text, `&period=${encodeURIComponent(period)}`);
        const newYork = "2026-03-03T05:00:00.000Z/2026-03-04T05:00:00.000Z";
        assert.deepEqual(await day("2026-03-03", newYork), ["night"]);
        const next = "2026-03-04T05:00:00.000Z/2026-03-05T05:00:00.000Z";
        assert.deepEqual(await day("2026-03-04", next), []);
        assert.deepEqual(await day("2026-03", "no period"), ["night"]);
      });
    }));
});

describe("a label that was archived, scanned on the evidence page", () => {
  const sscc = "395212340000004173";
  const item = "]C1010401234512345610LOT7\u001d21SERIAL9";
  const archived = {
    sscc: {
      scan: readScan(`]C100${sscc}`),
      references: { ...none, customReference1: "sscc", transactionReference: sscc },
    },
    item: {
      scan: readScan(item),
      references: { ...none, customReference1: "item", transactionReference: "04012345123456" },
    },
    order: { references: { ...none, customReference1: "order", transactionReference: "ORDER-70" } },
    // Only the number of the label became a reference, as with a message without a scan.
    number: {
      references: { ...none, customReference1: "number", transactionReference: "003952123400000888" },
    },
    text: { scan: readScan("PO-7"), references: { ...none, customReference1: "text" } },
  };
  type Name = keyof typeof archived;
  const names: readonly Name[] = ["sscc", "item", "order", "number", "text"];

  it("is found whatever the scanner types around it, and in its printed form", () =>
    withFolder(async (root) => {
      await fillArchive(root, names, (_id, n) => archived[names[n] ?? assert.fail()]);
      await withPage(root, rules, async (served) => {
        for (const [text, name] of [
          [`]C100${sscc}`, "sscc"],
          [`00${sscc}`, "sscc"],
          [`(00)${sscc}`, "sscc"],
          [`https://id.example.com/00/${sscc}`, "sscc"],
          ["(01)04012345123456(10)LOT7(21)SERIAL9", "item"],
          [item, "item"],
          [item.slice(3), "item"],
          [item.replace("\u001d", "<GS>"), "item"],
          [item.slice(3).replace("\u001d", "^]"), "item"],
          ["]C100003952123400000888", "number"],
          ["(00)003952123400000888", "number"],
          [`]C100${sscc}400PO-9`, "sscc"],
          ["]C1400ORDER-70", "order"],
          ["]C0PO-7", "text"],
        ] as const) {
          assert.deepEqual(await search(served, text), [name], text);
        }
        // The last ones are another item of an article that is in the archive, and the beginning of another order.
        for (const text of [
          "]C1",
          "\u001d",
          "\u0002\u0003",
          "a\tb",
          "]C100395212340000009999",
          item.replace("SERIAL9", "SERIAL8"),
          "]C1400ORDER-7",
        ]) {
          assert.deepEqual(await search(served, text), [], JSON.stringify(text));
        }
      });
    }));
});
