import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemError, watchedDisk, withFolder } from "../media/support.ts";
import { intentOf, mediumOf, openArchive, readPackages, until } from "./support.ts";

const date = "2026-11-02";

describe("archive: a package whose name the disk refuses", () => {
  it("holds up no other job while what has this name cannot be read", async () => {
    await withFolder(async (root) => {
      const taken = join(root, date, "taken");
      await mkdir(taken, { recursive: true });
      await writeFile(join(taken, "manifest.json"), "{}");
      let isReadable = false;
      const disk = watchedDisk((call, [path]) => {
        if (!isReadable && call === "open" && path === join(taken, "manifest.json")) {
          throw systemError("EACCES");
        }
      });
      const opened = await openArchive(root, undefined, { disk });
      const first = await opened.runner.submitMedia(
        intentOf("1", { origin: null, folder: [date, "taken"] }),
        [mediumOf("first")],
        null,
      );
      await until(() => first.running?.state === "trouble", "it cannot be placed");
      await archiveAnother(opened);
      isReadable = true;
      const archived = await first.end();
      assert.equal(archived.path, `${date}/taken (1)`);
      await opened.close();
    });
  });

  it("holds up no other job, nor the next start, if it is too long for the disk", async () => {
    await withFolder(async (root) => {
      const opened = await openArchive(root, undefined);
      const long = await opened.runner.submitMedia(
        intentOf("1", { origin: null, folder: [date, "x".repeat(1_000)] }),
        [mediumOf("first")],
        null,
      );
      await until(() => long.running?.state === "trouble", "it cannot be placed");
      await archiveAnother(opened);
      await opened.close();
      const next = await openArchive(root, undefined);
      const [resumed] = next.runner.resume(() => true);
      await until(() => resumed?.running?.state === "trouble", "it cannot be placed either");
      await next.close();
      assert.equal((await readPackages(root)).size, 1);
    });
  });

  /** Archives a message whose job ends in the first error. */
  async function archiveAnother({ runner }: Awaited<ReturnType<typeof openArchive>>) {
    const intent = intentOf("2", { origin: null, giveUpMs: 1 });
    return await (await runner.submitMedia(intent, [mediumOf("second")], null)).end();
  }
});
