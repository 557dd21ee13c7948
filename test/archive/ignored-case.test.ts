import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join, sep } from "node:path";
import type { ArchiveDisk } from "../../src/vault/archive-disk.ts";
import { diskAround, withFolder } from "../media/support.ts";
import { verify } from "./packages.ts";
import { databaseOf } from "./store.ts";
import { intentOf, mediumOf, openArchive, readPackages } from "./support.ts";

/** As Windows, macOS and many shares do it: a name is found in other letters, and is created as it is given. */
function diskThatIgnoresCase(root: string): ArchiveDisk {
  const spell = (path: string): string => {
    let found = root;
    for (const part of path.slice(root.length + 1).split(sep)) {
      const names = existsSync(found) ? readdirSync(found) : [];
      const isThere = (name: string): boolean => name.toLowerCase() === part.toLowerCase();
      found = join(found, names.find(isThere) ?? part);
    }
    return found;
  };
  return diskAround(({ args, run }) =>
    run(args.map((one) => (typeof one === "string" && one.startsWith(root + sep) ? spell(one) : one))),
  );
}

/** Archives packages in these folders, some of them at the same time; returns their paths. */
async function archive(
  root: string,
  folders: readonly (readonly [id: string, ...folder: string[]])[],
  disk: ArchiveDisk | undefined,
): Promise<string[]> {
  const { runner, close } = await openArchive(root, undefined, disk === undefined ? {} : { disk });
  const archiveOne = async ([id, ...folder]: readonly [string, ...string[]]): Promise<string> => {
    const intent = intentOf(id, { origin: null, raw: `{"id":"${id}"}`, folder });
    const submission = await runner.submitMedia(intent, [mediumOf(id)], null);
    const { path } = await submission.end();
    submission.messageSent();
    return path;
  };
  const paths = await Promise.all(folders.map(archiveOne));
  await close();
  return paths;
}

describe("archive: a disk that ignores capital and small letters", () => {
  it("has packages at the paths that are in the index, whatever letters their references have", async () => {
    await withFolder(async (root) => {
      const disk = diskThatIgnoresCase(root);
      await mkdir(join(root, "bücher-1"));
      const paths = [
        ...(await archive(root, [["1", "order-4711", "a"]], disk)),
        ...(await archive(root, [["2", "ORDER-4711", "a"]], disk)),
        ...(await archive(root, [["3", "Order-4711", "2026-11-02", "c"]], disk)),
        ...(await archive(root, [["4", "BÜCHER-1", "a"]], disk)),
      ];
      assert.deepEqual(paths, ["order-4711/a", "order-4711/a (1)", "order-4711/2026-11-02/c", "bücher-1/a"]);
      assert.deepEqual([...(await readPackages(root)).keys()].toSorted(), paths.toSorted());
      assert.deepEqual((await verify(root)).said, []);
    });
  });

  it("has each package once if it is archived again without the index, also in other letters", async () => {
    await withFolder(async (root) => {
      const disk = diskThatIgnoresCase(root);
      const [path = ""] = await archive(root, [["1", "order-4711", "a"]], disk);
      await rm(databaseOf(root));
      assert.deepEqual(await archive(root, [["1", "ORDER-4711", "A"]], disk), [path]);
      assert.deepEqual((await verify(root)).said, []);
    });
  });

  it("is told from one that does not", async () => {
    await withFolder(async (root) => {
      const paths = await archive(
        root,
        [
          ["1", "order-4711", "a"],
          ["2", "ORDER-4711", "a"],
        ],
        undefined,
      );
      assert.deepEqual(paths, ["order-4711/a", "ORDER-4711/a"]);
      assert.deepEqual((await verify(root)).said, []);
    });
  });
});
