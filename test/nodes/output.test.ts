import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { untilListed } from "../media/support.ts";
import { TestFlow, type Message } from "../support/flow.ts";

interface Saved {
  path: string;
  bytes: number;
  sha256: string;
  contentType: string;
  recognized?: false;
}

/** The output group, through the node whose source is easiest to fill; the others share the same code. */
describe("output of the fetching nodes", () => {
  let sim: Simulator;
  let flow: TestFlow;
  let folder: string;
  let contentId: string;
  const start = async (properties: object): Promise<void> => {
    flow = await TestFlow.start(
      [
        { id: "cloud", type: "dimensioner-cloud", baseUrl: sim.cloud.origin, timeout: 60 },
        { id: "node", z: "tab", type: "dimensioner-fetch-media", cloud: "cloud", ...properties },
      ],
      { cloud: { token: sim.cloud.token } },
    );
  };
  const message = (more: Message = {}): Message => ({
    transactionId: "905865",
    payload: { contentId },
    ...more,
  });
  const served = async (): Promise<Buffer> => {
    const answer = await fetch(`${sim.cloud.origin}/api/transactionmedia/905865/${contentId}`, {
      headers: { authorization: `Bearer ${sim.cloud.token}` },
    });
    return Buffer.from(await answer.arrayBuffer());
  };

  beforeEach(async () => {
    sim = await startSimulator();
    folder = await mkdtemp(join(tmpdir(), "output-"));
    ({ contentId } = sim.cloud.addMedia("905865", { contentType: "video/mp4", generateBytes: 3_000_000 }));
  });
  afterEach(async () => {
    await flow.stop();
    await sim.close();
    await rm(folder, { recursive: true });
  });

  it("puts a buffer with its type and a suggested name on the message", async () => {
    await start({});
    const { sent } = await flow.run("node", message());
    const msg = sent[0]?.msg ?? {};
    assert.deepEqual(msg["payload"], await served());
    assert.equal(msg["contentType"], "video/mp4");
    assert.equal(msg["filename"], `905865-${contentId}.mp4`);
  });

  it("saves a file whole, says what it is, and never writes the same content twice", async () => {
    await start({ output: "file", folder });
    const first = await flow.run("node", message());
    const saved = first.sent[0]?.msg["payload"] as Saved;
    const bytes = await served();
    assert.deepEqual(await readFile(saved.path), bytes);
    assert.deepEqual(saved, {
      path: join(folder, `905865-${contentId}.mp4`),
      bytes: bytes.length,
      sha256: createHash("sha256").update(bytes).digest("hex"),
      contentType: "video/mp4",
    });
    assert.equal(first.sent[0]?.msg["filename"], saved.path);
    assert.equal(flow.lastStatus("node")?.text, "saved 3.0 MB");
    await flow.run("node", message());
    assert.deepEqual(await readdir(folder), [`905865-${contentId}.mp4`]);
  });

  it("says where nobody knows the format, also on a message that has said so of another medium", async () => {
    const odd = sim.cloud.addMedia("905865", { contentType: "image/jpeg", bytes: Buffer.from([0, 1, 2, 3]) });
    for (const properties of [{}, { output: "file", folder }]) {
      await start(properties);
      const { sent } = await flow.run("node", message({ payload: { contentId: odd.contentId } }));
      const { msg = {} } = sent[0] ?? {};
      assert.equal(msg["recognized"], false);
      assert.equal((msg["payload"] as Saved).recognized, "folder" in properties ? false : undefined);
      const next = await flow.run("node", { ...msg, payload: { contentId } });
      const { msg: known = {} } = next.sent[0] ?? {};
      assert.deepEqual(["recognized" in known, "recognized" in (known["payload"] as object)], [false, false]);
      await flow.stop();
    }
  });

  it("takes a text for a medium only if the cloud's list has announced this one as a text", async () => {
    const document = Buffer.from('{"errorCode":1203,"errorMessage":"image expired"}');
    const listed = sim.cloud.addMedia("905865", { contentType: "application/json", bytes: document });
    const given = { contentId: listed.contentId, contentType: "application/json" };
    await start({ output: "file", folder });
    const { sent } = await flow.run("node", message({ payload: given }));
    assert.deepEqual(await readFile((sent[0]?.msg["payload"] as Saved).path), document);
    await rm((sent[0]?.msg["payload"] as Saved).path);
    for (const payload of [
      { ...given, contentType: "image/jpeg" },
      { ...given, contentType: 7 },
      { contentId: listed.contentId },
    ]) {
      const { error } = await flow.run("node", message({ payload }));
      assert.equal(error?.code, "ERR_BAD_RESPONSE");
      assert.match(error?.message ?? "", /a JSON document .*: image expired \(error code 1203\)/);
    }
    await flow.stop();
    await start({ output: "file", folder, contentId: "id", contentIdType: "msg" });
    const ofAnother = await flow.run(
      "node",
      message({ id: listed.contentId, payload: { ...given, contentId } }),
    );
    assert.equal(ofAnother.error?.code, "ERR_BAD_RESPONSE");
    assert.deepEqual(await readdir(folder), []);
  });

  it("takes folder and name from where it is told, into sub-folders, and nothing out of the folder", async () => {
    process.env["DIMENSIONER_TEST_FOLDER"] = folder;
    await start({
      output: "file",
      folder: "DIMENSIONER_TEST_FOLDER",
      folderType: "env",
      filename: "name",
      filenameType: "msg",
    });
    const good = await flow.run("node", message({ name: "2026/ORDER:7/pack.mp4" }));
    assert.equal((good.sent[0]?.msg["payload"] as Saved).path, join(folder, "2026", "ORDER_7", "pack.mp4"));
    const before = sim.requests.length;
    for (const name of ["../out.mp4", "/etc/out.mp4", "a/../../out.mp4", "C:\\out.mp4"]) {
      assert.equal((await flow.run("node", message({ name }))).error?.code, "ERR_INPUT", name);
    }
    assert.equal(sim.requests.length, before);
  });

  it("keeps what is there by its rule for existing files", async () => {
    await writeFile(join(folder, "pack.mp4"), "older");
    await start({ output: "file", folder, filename: "pack.mp4", ifExists: "error" });
    const { error } = await flow.run("node", message());
    assert.equal(error?.code, "ERR_FILE");
    assert.equal(error?.cause.surface, "disk");
    assert.equal(error?.cause.hint, join(folder, "pack.mp4"));
    assert.equal(await readFile(join(folder, "pack.mp4"), "utf8"), "older");
    await flow.stop();
    await start({ output: "file", folder, filename: "pack.mp4" });
    await flow.run("node", message());
    assert.deepEqual((await readdir(folder)).toSorted(), ["pack (1).mp4", "pack.mp4"]);
  });

  for (const [title, properties, code] of [
    ["a blank folder", { folder: " " }, "ERR_CONFIG"],
    ["a folder from the message", { folder: "payload", folderType: "msg" }, "ERR_CONFIG"],
    ["an unknown output", { output: "printer" }, "ERR_CONFIG"],
    ["an unknown rule", { folder: tmpdir(), ifExists: "maybe" }, "ERR_CONFIG"],
    ["a folder that is not there", { folder: join(tmpdir(), "not", "mounted") }, "ERR_FILE"],
  ] as const) {
    it(`refuses ${title}`, async () => {
      await start({ output: "file", ...properties });
      const { error } = await flow.run("node", message());
      assert.equal(error?.code, code);
    });
  }

  it("shows the progress of a download, at most four times a second, and leaves nothing when it is closed", async () => {
    sim.faults.add({ surface: "cloud", times: 0, fault: { kind: "drip", bytes: 20_000, everyMs: 20 } });
    await start({ output: "file", folder });
    const startedAt = performance.now();
    const ended = flow.start("node", message());
    await flow.untilStatus("node", ({ text }) => /^\d.*B of 3\.0 MB$/.test(text));
    await flow.deploy([]);
    const seconds = (performance.now() - startedAt) / 1000;
    assert.equal((await ended).error?.code, "ERR_CANCELLED");
    await untilListed(folder, []);
    const progress = flow.shown.filter(({ text }) => text.includes(" of "));
    assert.ok(progress.length <= 1 + 4 * seconds);
  });
});
