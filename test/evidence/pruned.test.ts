import assert from "node:assert/strict";
import { pruneArchive } from "../../src/index.ts";
import { fillArchive, keepingRows } from "../archive/packages.ts";
import { databaseOf } from "../archive/store.ts";
import { withFolder } from "../media/support.ts";
import { packagesOf, withPage } from "./support.ts";

const headers = { "x-user": "Anna" };
const rules = { by: "proxy", header: "x-user", addresses: ["127.0.0.1"], managers: ["Anna"] } as const;

interface Shown {
  readonly packageId: string;
  readonly archivedAtUtc: string;
}

describe("a package that was deleted by age by a run that was killed before it removed its row, on the evidence page", () => {
  it("is not there any more, and does not keep the others from being exported", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["a1", "a2"]);
      await withPage(root, rules, async (served) => {
        const shown = async (): Promise<readonly Shown[]> =>
          packagesOf<Shown>(await served.ask("api/packages?text=ORDER-1", { headers }));
        const exported = async (packages: readonly string[]): Promise<Response> => {
          const asked = await served.post("api/exports", { packages }, headers);
          const { id } = (await asked.json()) as { id: string };
          return served.ask(`api/exports/${id}`, { headers });
        };
        const [kept, gone] = await shown();
        const id = gone?.packageId ?? "";
        const database = databaseOf(root);
        const before = new Date(kept?.archivedAtUtc ?? "");
        await keepingRows(database, () => pruneArchive(root, { before, database }));
        assert.deepEqual(await shown(), [kept]);
        const both = await exported([id, kept?.packageId ?? ""]);
        assert.deepEqual([both.status, (await both.text()).includes('"verdict": "ok"')], [200, true]);
        const path = `api/packages/${encodeURIComponent(id)}`;
        for (const refused of [
          await exported([id]),
          await served.ask(`${path}/files/picture`, { headers }),
          await served.post(`${path}/verify`, {}, headers),
          await served.post(`${path}/hold`, { reason: "claim", heldAt: null }, headers),
        ]) {
          assert.equal(refused.status, 404, refused.url);
          await refused.arrayBuffer();
        }
        assert.deepEqual(served.problems, []);
      });
    }));
});
