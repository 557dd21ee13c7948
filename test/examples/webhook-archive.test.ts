import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ownPackagesFolder } from "../../src/properties/property-table.ts";
import { startSimulator } from "../../src/simulator/index.ts";
import { openEditorEvents } from "../support/run-flow.ts";
import { connected, nodeNamed, readExample } from "../support/examples.ts";
import { nodeRedMajor, startNodeRed } from "../support/node-red.ts";
import { rowsIn, storeDatabase } from "../support/rows.ts";
import { filesIn, readJson } from "./archive.ts";
import { watchCanvas } from "./canvas.ts";

const secret = "s3cret-of-the-dock";
const barcode = "395212340000004173";

/** What became of each record in a store's database, read while Node-RED has it open. */
function recordsIn(userDir: string, storeId: string): string[] {
  const rows = rowsIn(storeDatabase(userDir, storeId), "SELECT handled_at FROM records");
  return rows.map((row) => (row["handled_at"] === null ? "open" : "handled"));
}

describe("example 20: operators' scans to archive", () => {
  it("archives the images and the video of what an operator scans, once, although the cloud posts it three times", async () => {
    const nodeRed = await startNodeRed({ major: nodeRedMajor });
    const archive = join(nodeRed.userDir, ownPackagesFolder);
    const url = `${nodeRed.url}/dimensioner/operator-scans`;
    const header = { name: "x-webhook-secret", value: secret };
    const simulator = await startSimulator({
      mediaDelayMs: 200,
      webhooks: [{ url, header, copies: 3 }],
    });
    const { newer, earlier, cloud } = simulator;
    const origins = { newer: newer.origin, earlier: earlier.origin, cloud: cloud.origin };
    const nodes = connected(await readExample("20"), origins).map((node) =>
      node.type === "dimensioner-transaction-in" ? { ...node, credentials: { secret } } : node,
    );
    const heard = new EventEmitter();
    const said: string[] = [];
    const editorEvents = await openEditorEvents(
      nodeRed.url,
      ({ kind, nodeId, text }) => {
        if (kind === "debug") {
          said.push(nodeId === nodeNamed(nodes, "Archived").id ? text : `unexpected: ${text}`);
          heard.emit("said");
        }
      },
      () => undefined,
    );
    const canvas = await watchCanvas(nodeRed);
    try {
      await nodeRed.deploy(nodes);
      const archived = once(heard, "said");
      await simulator.newer.scanAtDevice("VIDEO_START");
      await simulator.newer.scanAtDevice(barcode);
      await archived;
      while (cloud.webhookPosts.length < 3) {
        await simulator.nextEvent(({ type }) => type === "webhook");
      }
      assert.deepEqual(
        cloud.webhookPosts.map(({ statusCode }) => statusCode),
        [204, 204, 204],
      );
      assert.equal(said.length, 1, said.join("\n"));
      const [transaction, ...others] = cloud.transactions;
      assert.ok(transaction !== undefined && others.length === 0);
      const [day = "", ...otherDays] = (await readdir(archive)).filter((name) => /^\d{4}-/.test(name));
      assert.deepEqual(otherDays, []);
      const [folder = "", ...otherFolders] = await readdir(join(archive, day));
      assert.deepEqual(otherFolders, []);
      assert.ok(folder.startsWith(`${barcode}-`), folder);
      const files = await filesIn(join(archive, day, folder));
      assert.deepEqual(files, [
        "AnnotatedColorImageJpeg.jpg",
        "ColorImageJpeg.jpg",
        "ColorVideoMp4.mp4",
        "DepthImage16Bit.bmp",
        "manifest.json",
        "measurement.json",
      ]);
      assert.equal((await readJson(join(archive, day, folder, "manifest.json")))["complete"], true);
      assert.ok(said[0]?.includes(folder), said[0]);
      assert.deepEqual(recordsIn(nodeRed.userDir, nodeNamed(nodes, "Evidence").id), ["handled"]);
      const jpeg = files.find((name) => name.endsWith(".jpg")) ?? assert.fail();
      assert.equal((await readFile(join(archive, day, folder, jpeg))).readUInt16BE(0), 0xffd8);
      canvas.check();
    } finally {
      canvas.close();
      editorEvents.close();
      await nodeRed.stop();
      await simulator.close();
    }
  });
});
