import assert from "node:assert/strict";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { startSimulator } from "../../src/simulator/index.ts";
import { withFolder } from "../media/support.ts";
import { bundle, startChild } from "./processes.ts";
import { pictureOf, readPackages, sha256Of, workFolders } from "./support.ts";

const transactions = 200;

describe("archive: two processes, each with a database of its own, in one folder", () => {
  it(`make one whole package of each of the same ${transactions} transactions`, async () => {
    const sim = await startSimulator();
    try {
      await withFolder(async (folder) => {
        const root = join(folder, "packages");
        await mkdir(root);
        const ids = Array.from({ length: transactions }, (_, index) => `t${index}`);
        for (const id of ids) {
          sim.cloud.addMedia(id, { contentType: "image/jpeg", bytes: pictureOf(id) });
        }
        const script = await bundle("test/archive/two-processes-child.ts");
        const places = new Map<string, Set<string>>(ids.map((id) => [id, new Set()]));
        const onLine = (line: string): void => {
          const [what, id = "", path = ""] = line.split(" ");
          if (what === "archived") {
            places.get(id)?.add(path);
          }
        };
        // From both ends, so that each is the first somewhere.
        const children = [ids, ids.toReversed()].map((own, index) => {
          const file = join(folder, `${index}.sqlite`);
          return startChild(script, [root, file, sim.cloud.origin, own.join(",")], onLine);
        });
        for (const child of children) {
          assert.equal(await child.nextLine(), "open");
        }
        children.forEach(({ process: child }) => child.stdin?.write("go\n"));
        await Promise.all(children.map(({ ended }) => ended));
        const codes = children.map(({ process: child }) => child.exitCode);
        assert.deepEqual(codes, [0, 0]);

        const packages = await readPackages(root);
        assert.equal(packages.size, transactions);
        assert.deepEqual(
          [...places.values()].filter(({ size }) => size !== 1),
          [],
        );
        for (const { transactionId, items, complete } of packages.values()) {
          assert.equal(complete, true);
          assert.deepEqual(
            items.map(({ sha256 }) => sha256),
            [sha256Of(pictureOf(transactionId ?? ""))],
          );
        }
        assert.deepEqual(await workFolders(root), []);
        assert.deepEqual((await readdir(join(root, ".dimensioner-archive"))).sort(), ["work"]);
      });
    } finally {
      await sim.close();
    }
  });
});
