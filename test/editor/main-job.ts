import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { simulatorSecret } from "../support/examples.ts";
import { verify } from "../archive/packages.ts";
import { readJson, served, sha256 } from "../examples/archive.ts";
import type { OpenEditor } from "./open-editors.ts";
import type { NodeRed } from "../support/node-red.ts";
import { Person, type Effort } from "./person.ts";

export const registrationCode = "ABCD2345";
export const tab = { id: "tab", type: "tab", label: "Dock" };

export interface Work {
  readonly person: Person;
  readonly simulator: Simulator;
  /** Where the packages go. */
  readonly folder: string;
}

export interface Package {
  readonly folder: string;
  readonly files: readonly string[];
  readonly manifest: Record<string, unknown>;
}

export async function withSimulator(editor: OpenEditor, work: (given: Work) => Promise<void>): Promise<void> {
  const { nodeRed, problems } = editor;
  const folder = await mkdtemp(join(tmpdir(), "main-job-"));
  const header = { name: "x-webhook-secret", value: simulatorSecret };
  const simulator = await startSimulator({
    // All media are there at once: on a busy computer a delay could be longer than what the archive waits for more of them.
    encodingMs: 0,
    mediaDelayMs: 0,
    webhooks: [{ url: `${nodeRed.url}/dimensioner/transaction`, header }],
  });
  const person = new Person(editor);
  try {
    await person.begin();
    await work({ person, simulator, folder });
    assert.deepEqual(problems, []);
  } finally {
    await simulator.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** The one package in a folder: the verifier finds nothing wrong, and the exact answer is what the measurement was read from. */
export async function packageIn(root: string, { userDir }: NodeRed): Promise<Package> {
  // Not in the folder of the archive's own state, whose work goes while it is read.
  const days = (await readdir(root)).filter((one) => !one.startsWith("."));
  const below = await Promise.all(
    days.map(async (day) =>
      (await readdir(join(root, day), { recursive: true })).map((one) => join(day, one)),
    ),
  );
  const [name = "", ...rest] = below.flat().filter((one) => one.endsWith("manifest.json"));
  assert.deepEqual(rest, []);
  const { report } = await verify(root, join(userDir, "dimensioner"));
  assert.deepEqual([report.verdict, report.packages], ["ok", 1]);
  const folder = join(root, name, "..");
  const [manifest, measurement, answer] = await Promise.all(
    ["manifest.json", "measurement.json", "measurement.raw"].map((file) => readJson(join(folder, file))),
  );
  assert.ok(manifest !== undefined);
  assert.equal(manifest["complete"], true);
  assert.deepEqual(answer?.["measuredObjects"], measurement?.["measuredObjects"]);
  assert.equal(answer?.["dateTimeUtc"], measurement?.["dateTimeUtc"]);
  return { folder, files: (await readdir(folder)).toSorted(), manifest };
}

/** Each medium of the parcel's transaction in the cloud is in its package, byte for byte. */
export async function expectMediaOfCloud({ folder, files }: Package, { cloud }: Simulator): Promise<void> {
  const [transaction, ...others] = cloud.transactions;
  assert.deepEqual(others, []);
  const hashes = await Promise.all(files.map(async (file) => sha256(await readFile(join(folder, file)))));
  const types = new Set<string>();
  for (const { contentId, contentType, description } of transaction?.media ?? []) {
    const url = `${cloud.origin}/api/transactionmedia/${transaction?.id}/${contentId}`;
    assert.ok(hashes.includes(sha256(await served(url, cloud.token))), `${description}: ${files.join(", ")}`);
    types.add(contentType);
  }
  assert.ok(types.has("video/mp4") && types.has("image/jpeg"), [...types].join(", "));
}

/**
 * What it takes to build each flow, and at most how many keys: a folder's name may be longer or shorter. Version 0.1 needed, for the
 * first one, 29 nodes, 27 wires, 31 dialogs and 166 fields.
 */
export const efforts = {
  newer: { nodes: 6, wires: 3, dialogs: 9, fields: 8, clicks: 41, keys: 160 },
  cloud: { nodes: 5, wires: 3, dialogs: 7, fields: 9, clicks: 36, keys: 160 },
  earlier: { nodes: 3, wires: 2, dialogs: 5, fields: 4, clicks: 22, keys: 100 },
} as const satisfies Record<string, Effort>;

export async function expectEffort(person: Person, { keys: mostKeys, ...expected }: Effort): Promise<void> {
  const { keys, ...done } = await person.effort();
  assert.deepEqual(done, expected);
  assert.ok(keys <= mostKeys, `${keys} keys`);
}
