import assert from "node:assert/strict";
import { basename, join } from "node:path";
import { nodeNamed, readExample } from "../support/examples.ts";
import { readJson } from "./archive.ts";
import { Listener } from "./listener.ts";
import { startExamples, type ExamplesRun } from "./several-examples.ts";

describe("example 19: archive again", () => {
  let run: ExamplesRun;
  let listener: Listener;
  const button = "Transactions to archive";

  before(async () => {
    run = await startExamples(["19"], {
      adapt: (node) => (node.type === "dimensioner-archive" ? { ...node, wait: "1" } : node),
    });
    listener = new Listener();
    await listener.open(run.nodeRed.url, await readExample("19"));
  });
  after(async () => {
    listener.close();
    await run.close();
  });

  /** What is said of each of the three ids in the list, in the order of the words. */
  async function press(): Promise<string[]> {
    const { id } = nodeNamed(await readExample("19"), button);
    assert.equal((await run.nodeRed.adminFetch(`/inject/${id}`, { method: "POST" })).status, 200);
    return [await listener.next(), await listener.next(), await listener.next()].toSorted();
  }

  it("archives the transactions that the cloud knows, and tells of the one that it does not know", async () => {
    for (const id of ["1001", "1003"]) {
      run.simulator.cloud.addMedia(id, {
        contentType: "image/jpeg",
        description: "ColorImageJpeg",
        generateBytes: 4_000,
      });
      run.simulator.cloud.addMedia(id, {
        contentType: "video/mp4",
        description: "ColorVideoMp4",
        generateBytes: 9_000,
      });
    }
    const [first = "", second = "", unknown = ""] = await press();
    assert.deepEqual([first, second].map((text) => basename(text)).toSorted(), ["1001", "1003"]);
    assert.match(unknown, /^What to do: .*the transaction, which the cloud does not know/);
    for (const text of [first, second]) {
      const folder = text.replace(/^Archived: /, "");
      const manifest = await readJson(join(folder, "manifest.json"));
      assert.equal(manifest["complete"], true);
      const items = manifest["items"] as { path: string }[];
      assert.deepEqual(items.map(({ path }) => path).toSorted(), ["ColorImageJpeg.jpg", "ColorVideoMp4.mp4"]);
    }
  });

  it("makes no second package of what is archived", async () => {
    const before = await press();
    assert.deepEqual(await press(), before);
  });
});
