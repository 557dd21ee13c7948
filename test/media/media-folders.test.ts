import assert from "node:assert/strict";
import * as fsPromises from "node:fs/promises";
import { lutimes, mkdir, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createMediaFolders } from "../../src/media/place-file.ts";
import { saveToFile } from "../../src/media/save-to-file.ts";
import { WallClock } from "../model-based/wall-clock.ts";
import { jpeg } from "./samples.ts";
import { facts, listAll, sending, systemError, watchedDisk, withFolder } from "./support.ts";

const dayAgoSeconds = (): number => Date.now() / 1000 - 25 * 3600;
const part = (digit: number): string =>
  `.dimensioner-${String(digit).repeat(8)}-0000-4000-8000-000000000000.part`;

async function leave(folder: string, name: string, atSeconds = dayAgoSeconds()): Promise<void> {
  await writeFile(join(folder, name), "left over");
  await utimes(join(folder, name), atSeconds, atSeconds);
}

describe("unfinished files of a killed process", () => {
  it("are removed after a day, and nothing else is", async () => {
    await withFolder(async (folder) => {
      await leave(folder, part(1));
      await leave(folder, part(2), Date.now() / 1000 - 23 * 3600);
      await leave(folder, ".dimensioner-notes.part");
      await leave(folder, "mine.part");
      await mkdir(join(folder, part(3)));
      await utimes(join(folder, part(3)), 1, 1);
      await leave(folder, "target");
      await symlink(join(folder, "target"), join(folder, part(4)));
      await lutimes(join(folder, part(4)), 1, 1);
      await saveToFile(sending([jpeg]), { folder, suggestedBase: "x", ifExists: "error" }, facts);
      assert.deepEqual(
        await listAll(folder),
        [part(2), part(3), part(4), ".dimensioner-notes.part", "mine.part", "target", "x.jpg"].sort(),
      );
    });
  });

  it("are searched for once an hour in each folder, by all saves that share the state", async () => {
    await withFolder(async (folder) => {
      const folders = createMediaFolders();
      const save = (filename: string): Promise<unknown> =>
        saveToFile(
          sending([jpeg]),
          { folder, filename, suggestedBase: "x", ifExists: "rename" },
          { ...facts, folders },
        );
      await save("a.jpg");
      await leave(folder, part(1));
      await save("b.jpg");
      assert.ok((await listAll(folder)).includes(part(1)));
      await mkdir(join(folder, "sub"));
      await leave(join(folder, "sub"), part(2));
      await save("sub/c.jpg");
      assert.deepEqual(await listAll(join(folder, "sub")), ["c.jpg"]);
      await createMediaFolders().sweep(folder, fsPromises);
      assert.ok(!(await listAll(folder)).includes(part(1)));
    });
  });

  it("are never those that this process is writing, however old they look", async () => {
    await withFolder(async (folder) => {
      async function* chunks(): AsyncGenerator<Uint8Array> {
        yield jpeg;
        const [own = ""] = await listAll(folder);
        // As it looks once the clock was put forward.
        await utimes(join(folder, own), 1, 1);
        await createMediaFolders().sweep(folder, fsPromises);
        assert.deepEqual(await listAll(folder), [own]);
      }
      await saveToFile(sending(chunks()), { folder, suggestedBase: "x", ifExists: "error" }, facts);
      assert.deepEqual(await listAll(folder), ["x.jpg"]);
    });
  });

  it("are not what other processes write, for a clock that is years ahead", async () => {
    await withFolder(async (folder) => {
      await leave(folder, part(1), Date.now() / 1000);
      const clock = new WallClock();
      try {
        clock.jump(5 * 365 * 86_400_000);
        await createMediaFolders().sweep(folder, fsPromises);
        assert.deepEqual(await listAll(folder), [part(1)]);
        // As that of a file server, which is years behind, has them: a day has passed there.
        await utimes(join(folder, part(1)), 1e9, 1e9);
        await utimes(folder, 1e9 + 80_000, 1e9 + 80_000);
        await createMediaFolders().sweep(folder, fsPromises);
        assert.deepEqual(await listAll(folder), [part(1)]);
        await utimes(folder, 1e9 + 90_000, 1e9 + 90_000);
        await createMediaFolders().sweep(folder, fsPromises);
        assert.deepEqual(await listAll(folder), []);
      } finally {
        clock.close();
      }
    });
  });

  it("never prevent a save", async () => {
    await withFolder(async (folder) => {
      await leave(folder, part(1));
      for (const failing of ["readdir", "lstat", "unlink"]) {
        const disk = watchedDisk((call, [path]) => {
          if (call === failing && (call === "readdir" || String(path).endsWith(part(1)))) {
            throw systemError("EACCES");
          }
        });
        await saveToFile(
          sending([jpeg]),
          { folder, suggestedBase: "x", ifExists: "rename" },
          { ...facts, disk },
        );
      }
      assert.deepEqual(await listAll(folder), [part(1), "x.jpg"].sort());
    });
  });

  it("of this process are removed by the next save into the folder, if the disk did not answer before", async () => {
    await withFolder(async (folder) => {
      const folders = createMediaFolders();
      let isHung = true;
      const disk = watchedDisk((call) => {
        if (isHung && (call === "unlink" || call === "file.sync")) {
          throw systemError("ETIMEDOUT");
        }
      });
      const target = { folder, suggestedBase: "x", ifExists: "error" } as const;
      const save = () => saveToFile(sending([jpeg]), target, { ...facts, disk, folders });
      await assert.rejects(save(), { code: "ERR_FILE", sentence: "fileHung" });
      assert.equal((await listAll(folder)).length, 1);
      isHung = false;
      await save();
      assert.deepEqual(await listAll(folder), ["x.jpg"]);
    });
  });

  it("take the same time to search for in each folder, however many folders there are", async () => {
    const folders = createMediaFolders();
    const disk = { ...fsPromises, readdir: async () => [] } as unknown as typeof fsPromises;
    const before = process.cpuUsage();
    for (let index = 0; index < 40_000; index += 1) {
      await folders.sweep(`/folder/${index}`, disk);
    }
    assert.ok(process.cpuUsage(before).user < 6_000_000, "less than six seconds of the processor's time");
  });
});
