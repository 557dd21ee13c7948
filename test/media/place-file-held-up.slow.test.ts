import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { saveToFile } from "../../src/media/save-to-file.ts";
import type { SavedFile } from "../../src/model/shapes.ts";
import { type DiskCall, diskAround, facts, listAll, sending, systemError, withFolder } from "./support.ts";

const noLinks = ({ name, run }: DiskCall): Promise<unknown> => {
  if (name === "link") {
    throw systemError("EPERM");
  }
  return run();
};

const isClaim = (path: unknown): boolean => typeof path === "string" && path.endsWith(".name");

const save = (
  folder: string,
  content: string,
  around: (call: DiskCall) => Promise<unknown>,
): Promise<SavedFile> =>
  saveToFile(
    sending([Buffer.from(content)]),
    { folder, filename: "a.jpg", suggestedBase: "x", ifExists: "rename" },
    { ...facts, disk: diskAround(around) },
  );

describe("a save on a disk without links that is held up while it claims a name", () => {
  it("neither replaces what another one has saved there meanwhile, nor removes its claim", async () => {
    await withFolder(async (folder) => {
      const isFree = Promise.withResolvers<void>();
      const goesOn = Promise.withResolvers<void>();
      const claimsAgain = Promise.withResolvers<void>();
      let claims = 0;
      const late = save(folder, "late", async (call) => {
        const [path] = call.args;
        if (call.name === "open" && isClaim(path) && ++claims === 2) {
          claimsAgain.resolve();
        }
        if (call.name !== "lstat" || path !== join(folder, "a.jpg")) {
          return await noLinks(call);
        }
        try {
          return await call.run();
        } finally {
          isFree.resolve();
          await goesOn.promise;
        }
      });
      await isFree.promise;
      let left: string[] = [];
      const early = await save(folder, "early", async (call) => {
        // Here the claim of the first one has become old, and this one holds the name.
        if (call.name === "rename") {
          goesOn.resolve();
          await claimsAgain.promise;
          left = await listAll(folder);
        }
        return await noLinks(call);
      });
      assert.equal(left.filter(isClaim).length, 1, left.join());
      assert.equal(early.path, join(folder, "a.jpg"));
      assert.equal((await late).path, join(folder, "a (1).jpg"));
      assert.equal(await readFile(join(folder, "a.jpg"), "utf8"), "early");
      assert.deepEqual(await listAll(folder), ["a (1).jpg", "a.jpg"]);
    });
  });
});
