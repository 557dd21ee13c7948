import assert from "node:assert/strict";
import { mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { pictureOf, readPackages, sha256Of } from "../archive/support.ts";
import { withFolder } from "../media/support.ts";
import { TestFlow, type FlowNode } from "../support/flow.ts";
import { storeId, storeNode } from "../support/store-node.ts";

const content = pictureOf("of the dock");

/** What a message says of a saved file. */
const savedAs = (path: string) => ({ path, bytes: content.length, sha256: sha256Of(content) });

describe("A13: a message may name only files below folders that a node saves into", () => {
  let flow: TestFlow | undefined;
  let sim: Simulator;

  beforeEach(async () => {
    sim = await startSimulator();
  });

  afterEach(async () => {
    await flow?.stop();
    flow = undefined;
    await sim.close();
  });

  const device = (): FlowNode => ({ id: "device", type: "dimensioner-device", address: sim.newer.origin });
  const archive = (root: string): FlowNode => ({
    id: "archive",
    z: "tab",
    type: "dimensioner-archive",
    origin: null,
    store: storeId(root),
    transactionId: "id",
  });
  const image = (folder: string, more: object = {}): FlowNode => ({
    id: "image",
    z: "tab",
    type: "dimensioner-fetch-image",
    device: "device",
    output: "file",
    folder,
    ...more,
  });

  async function archiveFile(file: unknown, id = "1"): Promise<{ code?: string | undefined; said: string }> {
    assert.ok(flow !== undefined);
    const { error } = await flow.run("archive", { id, payload: file });
    return { code: error?.code, said: error?.message ?? "" };
  }

  /** Folders to save into, to archive in, and one that is none of a message's business. */
  async function withFolders(
    body: (given: { root: string; images: string; outside: string }) => Promise<void>,
  ): Promise<void> {
    await withFolder(async (folder) => {
      const [root, images, outside] = ["archive", "images", "outside"].map((name) => join(folder, name));
      assert.ok(root !== undefined && images !== undefined && outside !== undefined);
      await Promise.all([root, images, outside].map((path) => mkdir(path)));
      await writeFile(join(outside, "secret"), content);
      await body({ root, images, outside });
    });
  }

  it("refuses every other file with one answer, whether it exists or not", async () => {
    await withFolders(async ({ root, images, outside }) => {
      await mkdir(join(images, "day"));
      await symlink(join(outside, "secret"), join(images, "link"));
      await symlink(join(outside, "nothing"), join(images, "dangling"));
      await symlink(outside, join(images, "linked-folder"));
      await symlink(join(images, "day"), join(images, "today"));
      await writeFile(join(images, "day/parcel.jpg"), content);
      flow = await TestFlow.start([device(), storeNode(root), archive(root), image(images)]);
      assert.deepEqual(await archiveFile(savedAs(join(images, "today/parcel.jpg"))), {
        code: undefined,
        said: "",
      });
      const refused = [
        join(outside, "secret"),
        join(outside, "nothing"),
        join(images, "link"),
        join(images, "dangling"),
        join(images, "linked-folder/secret"),
        join(images, "linked-folder/nothing"),
        join(images, "nothing"),
        join(images, "day"),
        `${images}/../outside/secret`,
        `${images}-2/parcel.jpg`,
        images,
        "day/parcel.jpg",
        "/dev/zero",
        "/proc/self/environ",
        join(root, ".dimensioner-archive/journal.jsonl"),
        `${images}/day/parcel.jpg\0`,
      ];
      const answers = new Set<string>();
      for (const path of refused) {
        const { code, said } = await archiveFile(savedAs(path));
        assert.equal(code, "ERR_INPUT", path);
        // The sentence repeats what the message said, and nothing else may differ.
        answers.add(said.replace(/“[^”]*”/, "…"));
      }
      assert.equal(answers.size, 1, [...answers].join("\n"));
      assert.equal((await readPackages(root)).size, 1);
    });
  });

  it("refuses a file of another size before it reads a byte", async () => {
    await withFolders(async ({ root, images }) => {
      const huge = join(images, "huge.bin");
      await writeFile(huge, "");
      await truncate(huge, 100_000_000_000);
      flow = await TestFlow.start([device(), storeNode(root), archive(root), image(images)]);
      const { code } = await archiveFile({ path: huge, bytes: 1, sha256: sha256Of("x") });
      assert.equal(code, "ERR_INPUT");
    });
  });

  it("takes what a node has saved also after a deploy that changed its folder, and not after a restart", async () => {
    await withFolders(async ({ root, images, outside }) => {
      const measure = { id: "measure", z: "tab", type: "dimensioner-measure", device: "device" };
      flow = await TestFlow.start([device(), storeNode(root), archive(root), image(images), measure]);
      const measured = await flow.run("measure", {});
      const fetched = await flow.run("image", { ...measured.sent[0]?.msg });
      const saved = fetched.sent[0]?.msg["payload"];
      assert.ok(saved !== undefined, fetched.error?.message);
      await flow.deploy([device(), storeNode(root), archive(root), image(outside)]);
      assert.equal((await archiveFile(saved)).code, undefined);
      await flow.stop();
      flow = await TestFlow.start([device(), storeNode(root), archive(root), image(outside)]);
      assert.equal((await archiveFile(saved, "2")).code, "ERR_INPUT");
      assert.equal((await archiveFile(savedAs(join(outside, "secret")), "3")).code, undefined);
    });
  });

  it("takes what another archive has archived", async () => {
    await withFolders(async ({ root, images }) => {
      flow = await TestFlow.start([
        storeNode(root),
        storeNode(images),
        archive(root),
        { ...archive(images), id: "copy" },
      ]);
      const { sent, error: failed } = await flow.run("archive", { id: "1", payload: content });
      assert.equal(failed, undefined);
      const { files } = sent[0]?.msg["payload"] as { files: object[] };
      const { error } = await flow.run("copy", { id: "1", payload: files });
      assert.equal(error, undefined);
    });
  });

  it("takes no file where only Buffers are fetched", async () => {
    await withFolders(async ({ root, images }) => {
      await writeFile(join(images, "parcel.jpg"), content);
      flow = await TestFlow.start([
        device(),
        storeNode(root),
        archive(root),
        image(images, { output: "buffer" }),
      ]);
      assert.equal((await archiveFile(savedAs(join(images, "parcel.jpg")))).code, "ERR_INPUT");
    });
  });
});
