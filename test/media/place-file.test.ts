import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { lstat, mkdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Disk } from "../../src/media/disk.ts";
import type { IfExists } from "../../src/media/place-file.ts";
import { saveToFile } from "../../src/media/save-to-file.ts";
import type { SavedFile } from "../../src/model/shapes.ts";
import {
  facts,
  listAll,
  rejectsWith,
  sending,
  systemError,
  untilListed,
  watchedDisk,
  withFolder,
} from "./support.ts";

/** As FAT, exFAT and some shares: no second name for a file. */
const withoutLinks = watchedDisk((call) => {
  if (call === "link") {
    throw systemError("EPERM");
  }
});

const disks: [string, Disk | undefined][] = [
  ["with links", undefined],
  ["without links", withoutLinks],
];

for (const [kind, disk] of disks) {
  const save = (
    folder: string,
    content: string,
    ifExists: IfExists,
    filename = "a.jpg",
  ): Promise<SavedFile> =>
    saveToFile(
      sending([Buffer.from(content)]),
      { folder, filename, suggestedBase: "x", ifExists },
      { ...facts, ...(disk === undefined ? {} : { disk }) },
    );

  describe(`a name that is taken, on a disk ${kind}`, () => {
    it("rename: other content gets the next free number, which may fill a gap", async () => {
      await withFolder(async (folder) => {
        await writeFile(join(folder, "a (2).jpg"), "there before");
        const paths = [];
        for (const content of ["one", "two", "three", "four"]) {
          paths.push((await save(folder, content, "rename")).path);
        }
        assert.deepEqual(
          paths,
          ["a.jpg", "a (1).jpg", "a (3).jpg", "a (4).jpg"].map((name) => join(folder, name)),
        );
        assert.equal(await readFile(join(folder, "a (2).jpg"), "utf8"), "there before");
        assert.equal((await listAll(folder)).length, 5);
      });
    });

    it("identical content is never written twice, in any mode", async () => {
      await withFolder(async (folder) => {
        await writeFile(join(folder, "a.jpg"), "same");
        const { ino, mtimeMs } = await stat(join(folder, "a.jpg"));
        for (const mode of ["rename", "replace", "error"] as const) {
          assert.equal((await save(folder, "same", mode)).path, join(folder, "a.jpg"));
        }
        const after = await stat(join(folder, "a.jpg"));
        assert.deepEqual([after.ino, after.mtimeMs], [ino, mtimeMs]);
        assert.deepEqual(await listAll(folder), ["a.jpg"]);
      });
    });

    it("rename: identical content is found among the numbers too, also behind a gap", async () => {
      await withFolder(async (folder) => {
        await writeFile(join(folder, "a (7).jpg"), "seven");
        await writeFile(join(folder, "a.png"), "png");
        assert.equal((await save(folder, "seven", "rename")).path, join(folder, "a (7).jpg"));
        assert.equal((await save(folder, "png", "rename")).path, join(folder, "a.jpg"));
      });
    });

    it("error: says so and leaves what is there", async () => {
      await withFolder(async (folder) => {
        await writeFile(join(folder, "a.jpg"), "old");
        const error = await rejectsWith(save(folder, "new", "error"), "ERR_FILE", "fileExists");
        assert.deepEqual([error.details.surface, error.details.hint], ["disk", join(folder, "a.jpg")]);
        assert.equal(await readFile(join(folder, "a.jpg"), "utf8"), "old");
        assert.deepEqual(await listAll(folder), ["a.jpg"]);
      });
    });

    it("replace: the new content stands under the old name", async () => {
      await withFolder(async (folder) => {
        await writeFile(join(folder, "a.jpg"), "old");
        assert.equal((await save(folder, "new", "replace")).path, join(folder, "a.jpg"));
        assert.equal(await readFile(join(folder, "a.jpg"), "utf8"), "new");
        assert.deepEqual(await listAll(folder), ["a.jpg"]);
      });
    });

    it("content is compared up to the last byte of a big file, not by its size", async () => {
      await withFolder(async (folder) => {
        const old = "x".repeat(600_000);
        await writeFile(join(folder, "a.jpg"), old);
        const saved = await save(folder, `${old.slice(1)}y`, "rename");
        assert.equal(saved.path, join(folder, "a (1).jpg"));
        assert.equal((await save(folder, old, "rename")).path, join(folder, "a.jpg"));
      });
    });

    it("a link, a folder or a pipe of that name is other content, and nobody opens it", async () => {
      await withFolder(async (folder) => {
        await writeFile(join(folder, "secret"), "same");
        await symlink(join(folder, "secret"), join(folder, "link.jpg"));
        await symlink(join(folder, "gone"), join(folder, "dangling.jpg"));
        await mkdir(join(folder, "folder.jpg"));
        execFileSync("mkfifo", [join(folder, "pipe.jpg")]);
        for (const name of ["link.jpg", "dangling.jpg", "folder.jpg", "pipe.jpg"]) {
          await rejectsWith(save(folder, "same", "error", name), "ERR_FILE", "fileExists");
          const numbered = name.replace(".", " (1).");
          assert.equal((await save(folder, "same", "rename", name)).path, join(folder, numbered));
        }
        assert.equal(await readlink(join(folder, "link.jpg")), join(folder, "secret"));
        await rejectsWith(save(folder, "same", "replace", "folder.jpg"), "ERR_FILE", "fileExists");
        await save(folder, "new", "replace", "link.jpg");
        assert.equal(await readFile(join(folder, "secret"), "utf8"), "same");
        assert.ok((await lstat(join(folder, "link.jpg"))).isFile());
      });
    });

    it("it is not opened even if its size happens to be equal", async () => {
      await withFolder(async (folder) => {
        await symlink(join(folder, "gone"), join(folder, "link.jpg"));
        await mkdir(join(folder, "folder.jpg"));
        for (const name of ["link.jpg", "folder.jpg"]) {
          const { size } = await lstat(join(folder, name));
          const watched = watchedDisk((call, [path]) => {
            if (call === "link" && disk !== undefined) {
              throw systemError("EPERM");
            }
            assert.ok(call !== "open" || path !== join(folder, name));
          });
          const work = saveToFile(
            sending([Buffer.alloc(size, "x")]),
            { folder, filename: name, suggestedBase: "x", ifExists: "error" },
            { ...facts, disk: watched },
          );
          await rejectsWith(work, "ERR_FILE", "fileExists");
        }
      });
    });

    it("twenty at once with one name: twenty files when they differ, one when they don't", async () => {
      await withFolder(async (folder) => {
        const all = Array.from({ length: 20 }, (_, index) => `content ${index + 10}`);
        const saved = await Promise.all(all.map((content) => save(folder, content, "rename")));
        assert.equal(new Set(saved.map(({ path }) => path)).size, 20);
        for (const [index, { path }] of saved.entries()) {
          assert.equal(await readFile(path, "utf8"), all[index]);
        }
        assert.equal((await listAll(folder)).length, 20);

        const same = await Promise.all(all.map(() => save(folder, "one and the same", "rename", "b.jpg")));
        assert.deepEqual(new Set(same.map(({ path }) => path)), new Set([join(folder, "b.jpg")]));
        assert.equal((await listAll(folder)).length, 21);
      });
    });

    it("twenty at once, two contents in turn: two files", async () => {
      await withFolder(async (folder) => {
        await Promise.all(
          Array.from({ length: 20 }, (_, index) => save(folder, `even ${index % 2}`, "rename")),
        );
        assert.deepEqual(await listAll(folder), ["a (1).jpg", "a.jpg"]);
      });
    });

    it("twenty at once that may not differ: one wins, all others are told", async () => {
      await withFolder(async (folder) => {
        const results = await Promise.allSettled(
          Array.from({ length: 20 }, (_, index) => save(folder, `content ${index + 10}`, "error")),
        );
        const won = results.filter((result) => result.status === "fulfilled");
        assert.equal(won.length, 1);
        assert.equal(
          await readFile(join(folder, "a.jpg"), "utf8"),
          `content ${results.findIndex((r) => r === won[0]) + 10}`,
        );
        assert.deepEqual(await listAll(folder), ["a.jpg"]);
      });
    });

    it("twenty at once that replace: one of them stays, whole", async () => {
      await withFolder(async (folder) => {
        const all = Array.from({ length: 20 }, (_, index) => `content ${index + 10}`);
        await Promise.all(all.map((content) => save(folder, content, "replace")));
        assert.ok(all.includes(await readFile(join(folder, "a.jpg"), "utf8")));
        assert.deepEqual(await listAll(folder), ["a.jpg"]);
      });
    });
  });
}

describe("a claim on a name that a killed process left, on a disk without links", () => {
  it("is passed over after some seconds", async () => {
    await withFolder(async (folder) => {
      const claims: string[] = [];
      const target = { folder, filename: "a.jpg", suggestedBase: "x", ifExists: "rename" } as const;
      const disk = watchedDisk(async (call, args) => {
        const [path] = args;
        if (call === "link") {
          throw systemError("EOPNOTSUPP");
        }
        if (call !== "open" || typeof path !== "string" || !path.endsWith(".name") || claims.length > 0) {
          return;
        }
        claims.push(path);
        await writeFile(path, "");
      });
      const saved = await saveToFile(sending([Buffer.from("new")]), target, { ...facts, disk });
      assert.equal(saved.path, join(folder, "a.jpg"));
      assert.equal(claims.length, 1);
      assert.deepEqual(await listAll(folder), ["a.jpg"]);
    });
  });

  it("does not hold up an abort", async () => {
    await withFolder(async (folder) => {
      const controller = new AbortController();
      const target = { folder, filename: "a.jpg", suggestedBase: "x", ifExists: "error" } as const;
      const disk = watchedDisk((call, [path]) => {
        if (call === "link") {
          throw systemError("ENOTSUP");
        }
        if (call !== "open" || typeof path !== "string" || !path.endsWith(".name")) {
          return;
        }
        controller.abort();
        throw systemError("EEXIST");
      });
      await rejectsWith(
        saveToFile(sending([Buffer.from("new")]), target, { ...facts, disk, signal: controller.signal }),
        "ERR_CANCELLED",
        "cancelledClose",
      );
      await untilListed(folder, []);
    });
  });
});
