import assert from "node:assert/strict";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { startSimulator } from "../../src/simulator/index.ts";
import { withFolder } from "../media/support.ts";
import { bundle, startChild } from "./processes.ts";
import { ScriptedCloud } from "./scripted-sources.ts";
import { newDatabases, storeIn } from "./store.ts";
import { intentOf, openArchive, pictureOf, readPackages, sha256Of, workFolders } from "./support.ts";

const transactions = 200;

const raw = '{"errorCode":0}';
const measurement = "{}\n";
/** By the id of a transaction, what only the second process brings for it. */
const onlySecond: Readonly<Record<string, { readonly raw?: string; readonly measurement?: string }>> = {
  both: { raw, measurement },
  measured: { measurement },
  raw: { raw },
};

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
        assert.deepEqual((await readdir(join(root, ".dimensioner-archive"))).sort(), ["log", "work"]);
      });
    } finally {
      await sim.close();
    }
  });

  it("keep the exact answer and the measurement that only the second has", async () => {
    const image = { id: "image", type: "image/jpeg" };
    await withFolder(async (folder) => {
      const root = join(folder, "packages");
      await mkdir(root);
      for (const [id, brings] of Object.entries(onlySecond)) {
        for (const [index, answer] of [{}, brings].entries()) {
          const store = storeIn(root, newDatabases(), join(folder, `${index}.sqlite`));
          const { runner, close } = await openArchive(root, undefined, {
            store,
            cloud: () => new ScriptedCloud(image),
          });
          const submission = await runner.submit(intentOf(id, answer));
          assert.equal((await submission.end()).complete, true);
          submission.messageSent();
          await close();
        }
      }
      const packages = [...(await readPackages(root)).values()];
      for (const [id, brings] of Object.entries(onlySecond)) {
        const own = packages.filter(({ transactionId }) => transactionId === id);
        const hashes = own.map((one) => [one.measurement?.sha256, one.raw?.sha256].join());
        const brought = [brings.measurement, brings.raw]
          .map((text) => (text === undefined ? "" : sha256Of(text)))
          .join();
        assert.deepEqual(hashes.toSorted(), [",", brought], id);
      }
    });
  });
});
