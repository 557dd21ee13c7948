import assert from "node:assert/strict";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StoreDatabases } from "../../src/database/store-databases.ts";
import { encodeLine } from "../../src/vault/files/checked-lines.ts";
import { type Manifest, readManifest, writeManifest } from "../../src/vault/packages/manifest.ts";
import { indexPackage } from "../../src/vault/packages/package-index.ts";
import { keysOfManifest } from "../../src/vault/packages/package-keys.ts";
import { Verification } from "../../src/vault/verify.ts";
import { watchedDisk } from "../media/support.ts";
import { sha256Of } from "./support.ts";

/** A package without files, as the store writes it. */
function manifestOf(index: number, store: string, previous: Manifest["previous"]): Manifest {
  const references = {
    transactionReference: `ORDER-${index}`,
    customReference1: null,
    customReference2: null,
    customReference3: null,
    barcodeReference: null,
  };
  return {
    schemaVersion: 1,
    software: { name: "test", version: "0" },
    job: `job-${index}`,
    store,
    source: "cloud",
    cloud: "https://cloud.example",
    transactionId: `${index}`,
    references,
    device: null,
    times: { deviceLocal: null, deviceUtc: null, accepted: "", archived: new Date(index).toISOString() },
    legalForTrade: null,
    complete: true,
    missing: [],
    items: [],
    measurement: null,
    raw: null,
    previous,
  };
}

interface Made {
  readonly root: string;
  readonly database: string;
}

/** Many packages in one chain, of which all but each tenth were deleted because of their age, with their rows left in the index. */
async function makeMany(count: number): Promise<Made> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "many-packages-")));
  const [root, database] = [join(folder, "packages"), join(folder, "store.sqlite")];
  await mkdir(join(root, ".dimensioner-archive"), { recursive: true });
  const lease = await new StoreDatabases().open({ kind: "file", file: database });
  const lines: Buffer[] = [];
  const statements = [];
  let previous: Manifest["previous"] = null;
  for (let index = 0; index < count; index += 1) {
    const text: string = writeManifest(manifestOf(index, lease.worker.id, previous));
    const manifest = readManifest(text);
    assert.ok(manifest !== undefined);
    const [path, sha256] = [`day-${index % 7}/${index}`, sha256Of(text)];
    statements.push(...indexPackage(keysOfManifest(manifest), { path, sha256 }, manifest));
    if (index % 10 === 0) {
      await mkdir(join(root, path), { recursive: true });
      await writeFile(join(root, path, "manifest.json"), text);
    } else {
      const { transactionId, references, times } = manifest;
      const { transactionReference } = references;
      const rest = { transactionId, transactionReference, archived: times.archived, files: 0, bytes: 0 };
      lines.push(encodeLine({ at: "", path, sha256, ...rest }));
    }
    previous = { path: `${path}/manifest.json`, sha256 };
  }
  await lease.database.transaction(statements);
  await lease.release();
  await writeFile(join(root, ".dimensioner-archive", "pruned.jsonl"), Buffer.concat(lines));
  return { root, database };
}

/** The calls to the disk that a verification makes, by their names. */
async function countCalls({ root, database }: Made): Promise<Map<string, number>> {
  const calls = new Map<string, number>();
  const disk = watchedDisk((call, [path]) => {
    const name = String(path).endsWith("pruned.jsonl") ? `${call} log` : call;
    calls.set(name, (calls.get(name) ?? 0) + 1);
  });
  const verification = new Verification(root, { databases: [database], disk });
  for await (const finding of verification.run()) {
    assert.fail(JSON.stringify(finding));
  }
  assert.equal(verification.report(0).verdict, "ok");
  return calls;
}

describe("archive: dimensioner verify with many deleted packages", () => {
  it("reads the log of deleted packages once, and asks the disk for each package that is there only", async () => {
    const counts = [];
    for (const count of [300, 1_200]) {
      const made = await makeMany(count);
      const calls = await countCalls(made);
      await rm(join(made.root, ".."), { recursive: true });
      assert.equal(calls.get("open log"), 1);
      counts.push(calls);
    }
    const [few, many] = counts;
    const total = (calls: Map<string, number> | undefined): number =>
      [...(calls ?? [])].reduce((sum, [, count]) => sum + count, 0);
    // Four times as many packages: no more than four times as many calls.
    assert.ok(total(many) <= 4 * total(few), `${total(few)} calls, then ${total(many)}`);
    assert.ok(total(many) < 1_200, `${total(many)} calls`);
  });
});
