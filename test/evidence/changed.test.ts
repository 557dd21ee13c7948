import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fillArchive } from "../archive/packages.ts";
import { withFolder } from "../media/support.ts";
import { packagesOf, withPage } from "./support.ts";

const headers = { "x-user": "Anna" };
const rules = { by: "proxy", header: "x-user", addresses: ["127.0.0.1"], managers: [] } as const;
const measurement = JSON.stringify({ ok: true, weight: 33.5, weightUnitOfMeasure: "kg" });

describe("a package that was changed, on the evidence page", () => {
  for (const [file, from, to, weight] of [
    ["measurement.json", "33.5", "23.5", null],
    ["manifest.json", '"complete": true', '"complete": false', 33.5],
  ] as const) {
    it(`is said to be changed, and shows no value of another ${file}`, () =>
      withFolder(async (root) => {
        const [path = ""] = await fillArchive(root, ["a1"], () => ({ measurement }));
        await withPage(root, rules, async (served) => {
          const shown = async (): Promise<unknown> => {
            const response = await served.ask("api/packages?text=ORDER-1", { headers });
            const [one] = await packagesOf<Record<string, unknown>>(response);
            return [one?.["changed"], typeof one?.["problem"], one?.["weight"]];
          };
          assert.deepEqual(await shown(), [false, "object", 33.5]);
          const text = await readFile(join(root, path, file), "utf8");
          assert.ok(text.includes(from), text);
          await writeFile(join(root, path, file), text.replace(from, to));
          assert.deepEqual(await shown(), [true, "string", weight]);
        });
      }));
  }
});
