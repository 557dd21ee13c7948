import assert from "node:assert/strict";
import { rejectsWith, withFolder } from "../media/support.ts";
import { simulatedCloudOfSuite } from "./simulated-cloud.ts";
import { openArchive, readPackages } from "./support.ts";

const raw = '{"errorCode":0}';

for (const unknownTransaction of ["not-found", "empty-list"] as const) {
  describe(`archive: a transaction of which the cloud has nothing (${unknownTransaction})`, () => {
    const cloud = simulatedCloudOfSuite({ unknownTransaction });

    for (const [what, given] of [
      ["the measurement", { measurement: '{"ok":true}\n' }],
      ["the exact answer", { raw }],
    ] as const) {
      it(`keeps ${what} where an incomplete package is wanted`, async () => {
        await withFolder(async (root) => {
          const archive = await openArchive(root, cloud.client);
          const wanted = cloud.intentFor("9", { ...given, waitMs: 100, onIncomplete: "keep" });
          const { manifest } = await (await archive.runner.submit(wanted)).end();
          assert.deepEqual([manifest.complete, manifest.items], [false, []]);
          assert.ok((manifest.measurement ?? manifest.raw) !== null);
          await archive.close();
          await readPackages(root);
        });
      });
    }

    it("ends in what is missing when the wait is over", async () => {
      await withFolder(async (root) => {
        const archive = await openArchive(root, cloud.client);
        const wanted = cloud.intentFor("9", { raw, expect: ["video/mp4"], waitMs: 100 });
        const error = await rejectsWith(
          (await archive.runner.submit(wanted)).end(),
          "ERR_MEDIA_INCOMPLETE",
          "mediaIncomplete",
        );
        const isUnknown = unknownTransaction === "not-found";
        const unknown = isUnknown ? "the transaction, which the cloud does not know, " : "";
        assert.ok(error.message.includes(`missing: ${unknown}video/mp4.`), error.message);
        assert.equal(error.details.retryable, true);
        assert.equal(String(error.cause).includes("has nothing at"), isUnknown);
        await archive.close();
      });
    });
  });
}

describe("archive: what a job that is given up has besides media", () => {
  const cloud = simulatedCloudOfSuite();

  for (const given of [{ measurement: '{"ok":true}\n' }, { raw }] as const) {
    it(`is kept where an incomplete package is wanted: ${Object.keys(given).join()}`, async () => {
      await withFolder(async (root) => {
        cloud.sim.faults.add({ surface: "cloud", times: 0, fault: { kind: "status", status: 401 } });
        const archive = await openArchive(root, cloud.client);
        const wanted = cloud.intentFor("9", { ...given, giveUpMs: 1_000, onIncomplete: "keep" });
        const { manifest } = await (await archive.runner.submit(wanted)).end();
        assert.deepEqual([manifest.complete, manifest.items], [false, []]);
        await archive.close();
        await readPackages(root);
      });
    });
  }

  it("is nothing where nothing has arrived: it ends in its error", async () => {
    await withFolder(async (root) => {
      const archive = await openArchive(root, cloud.client);
      const wanted = { waitMs: 0, onIncomplete: "keep" } as const;
      await rejectsWith(
        (await archive.runner.submit(cloud.intentFor("9", wanted))).end(),
        "ERR_NOT_FOUND",
        "notFound",
      );
      await archive.close();
      assert.equal((await readPackages(root)).size, 0);
    });
  });
});
