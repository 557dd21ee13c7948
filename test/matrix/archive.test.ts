import assert from "node:assert/strict";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CloudClient } from "../../src/cloud/client.ts";
import { intentOf, openArchive, readPackages, until } from "../archive/support.ts";
import { failsWith } from "../support/failures.ts";
import { type Opened, manyAtOnce } from "../support/opened.ts";
import { token } from "../support/operations.ts";
import { type AskedOperation, openPeer, openRowResources } from "./open-peer.ts";
import { type Row, endingOf } from "./row.ts";
import { transaction } from "./scripted-server.ts";
import { families } from "./tables/index.ts";

const download: AskedOperation = {
  kind: "download",
  operation: "media",
  surface: "cloud",
  path: `/api/transactionmedia/${transaction}/`,
};

const rows = Object.fromEntries(
  families.flatMap(({ title, rows: some }) =>
    Object.entries(some)
      .filter(([, row]) => endingOf(row, download) !== undefined && row.warm !== true)
      .map(([name, row]): [string, Row] => [`${title}: ${name}`, row]),
  ),
);

/** Faults that can only be corrected in a dialog do not pass by themselves. */
const needsCorrection = ({ target, simulator }: Row): boolean =>
  target !== undefined || simulator?.token !== undefined;

describe("a job of the archive under every fault of its downloads", () => {
  manyAtOnce(rows, archive);
});

async function archive(row: Row, opened: Opened): Promise<void> {
  const ending = endingOf(row, download);
  assert.ok(ending !== undefined);
  const peer = await openPeer(row, download, await openRowResources(row, opened), opened);
  const folder = await realpath(await mkdtemp(join(tmpdir(), "matrix-")));
  opened({ close: () => rm(folder, { recursive: true }) });
  const client = opened(
    new CloudClient({
      baseUrl: peer.origins.cloud.origin,
      token,
      timeoutMs: row.timeoutMs ?? 5_000,
      tls: peer.tls,
    }),
  );
  const { runner } = opened(await openArchive(folder, client));
  await peer.arm();
  const submission = await runner.submit(intentOf(transaction, { origin: client.peer.origin }));
  if (ending.code !== undefined && ending.archive !== "goes on") {
    await failsWith(submission.end(), { code: "ERR_MEDIA_INCOMPLETE" });
    submission.messageSent();
    assert.equal((await readPackages(folder)).size, 0);
    return;
  }
  if (ending.code !== undefined) {
    // It tries again and again. On a busy computer, a short deadline may pass before the connection is made.
    await until(() => submission.running?.trouble?.code === ending.code, `${ending.code} holds it up`);
    if (needsCorrection(row)) {
      // The job ends when the archive is closed.
      submission.end().catch(() => undefined);
      return;
    }
    peer.recover();
  }
  const { manifest } = await submission.end();
  assert.equal(manifest.items.length, 1);
  submission.messageSent();
  assert.equal((await readPackages(folder)).size, 1, "whole, and once");
  assert.equal(await peer.acts(), 0);
}
