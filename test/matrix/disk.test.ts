import assert from "node:assert/strict";
import { readFile, realpath } from "node:fs/promises";
import { join, relative } from "node:path";
import { saveToFile } from "../../src/media/save-to-file.ts";
import { failedTexts } from "../../src/runtime/status/node-status.ts";
import { systemError, watchedDisk } from "../media/support.ts";
import { failureOf } from "../support/failures.ts";
import { TestFlow } from "../support/flow.ts";
import { closesAfterEach } from "../support/opened.ts";
import { connectClients, downloads, token } from "../support/operations.ts";
import { type DiskFolder, filesIn, prepareDiskFolder } from "./disk-folder.ts";
import { openScriptedPeer } from "./scripted-peer.ts";
import { fileOf, transaction } from "./scripted-server.ts";
import { type DiskRow, disk } from "./tables/disk.ts";

const content = fileOf(1);

/** Asserts that only the complete file was added, at the right place, and that existing files are unchanged. */
async function look(row: DiskRow, { path, folder, before }: DiskFolder): Promise<void> {
  const { code, saved = "video.mp4", ifExists, there } = row;
  const real = relative(path, await realpath(folder).catch(() => folder));
  const isNew = code === undefined && there !== "the same content" && ifExists !== "replace";
  const after = await filesIn(path);
  assert.deepEqual(after.toSorted(), [...before, ...(isNew ? [join(real, saved)] : [])].toSorted());
  if (code === undefined) {
    assert.ok((await readFile(join(folder, saved))).equals(content), "whole");
  }
  if (there === "other content" && ifExists !== "replace") {
    assert.equal(await readFile(join(folder, "video.mp4"), "utf8"), "something else");
  }
}

const media = downloads.find(({ operation }) => operation === "media");

describe("a file under every fault of disks and names", () => {
  const opened = closesAfterEach();
  const serve = () => openScriptedPeer({ script: [{}] }, opened);

  for (const [name, row] of Object.entries(disk)) {
    const {
      filename = "video.mp4",
      ifExists = "rename",
      refuses,
      code,
      retryable = false,
      requests = 1,
    } = row;

    it(`${name}: in the sources`, async () => {
      const [peer, prepared] = [await serve(), await prepareDiskFolder(row, opened)];
      const clients = opened(connectClients(peer.origins, 5_000));
      const faulty = watchedDisk((call, [path]) => {
        const isMeant = call !== "open" || String(path).endsWith(".part");
        if (call === refuses?.call && isMeant) {
          throw systemError(refuses.code);
        }
      });
      const running = saveToFile(
        () => media?.start(clients, "film", 0) ?? assert.fail(),
        {
          folder: prepared.folder,
          ifExists,
          suggestedBase: "905865-film",
          ...(filename === "" ? {} : { filename }),
        },
        { operation: "media", surface: "cloud", host: "the cloud", disk: faulty },
      );
      if (code === undefined) {
        await running;
      } else {
        const error = await failureOf(running);
        assert.deepEqual(
          [error.code, error.details.retryable, error.details.outcome],
          [code, retryable, null],
        );
      }
      assert.ok(peer.requests === requests || refuses?.call === "open", `${peer.requests} requests`);
      await look(row, prepared);
    });

    if (refuses === undefined) {
      it(`${name}: in a node`, async () => {
        const [peer, prepared] = [await serve(), await prepareDiskFolder(row, opened)];
        const properties = {
          output: "file",
          folder: prepared.folder,
          filename: "name",
          filenameType: "msg",
          ifExists,
        };
        const flow = await TestFlow.start(
          [
            { id: "cloud", type: "dimensioner-cloud", baseUrl: peer.origins.cloud.origin },
            { id: "node", z: "tab", type: "dimensioner-fetch-media", cloud: "cloud", ...properties },
          ],
          { cloud: { token } },
        );
        opened({ close: () => flow.stop() });
        const msg = { transactionId: transaction, payload: { contentId: "film" }, name: filename };
        const { error, sent } = await flow.run("node", msg);
        assert.deepEqual([error?.code, error?.cause.retryable ?? false], [code, retryable], error?.message);
        assert.equal(sent.length, code === undefined ? 1 : 0);
        assert.equal(flow.ends.filter(({ nodeId }) => nodeId === "node").length, 1);
        assert.ok(code === undefined || flow.lastStatus("node")?.text === failedTexts[code]);
        assert.equal(peer.requests, requests);
        await look(row, prepared);
      });
    }
  }
});
