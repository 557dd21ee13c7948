import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { simulatorSecret } from "../../tools/demo/examples.ts";
import { verify } from "../archive/packages.ts";
import { readJson, served, sha256 } from "../examples/archive.ts";
import { editorsOfSuite, type OpenEditor } from "./open-editors.ts";
import { nodeRedMajor, type NodeRed } from "../support/node-red.ts";
import { Person, type Effort } from "./person.ts";

const registrationCode = "ABCD2345";
const tab = { id: "tab", type: "tab", label: "Dock" };

interface Work {
  readonly person: Person;
  readonly simulator: Simulator;
  /** Where the packages go. */
  readonly folder: string;
}

interface Package {
  readonly folder: string;
  readonly files: readonly string[];
  readonly manifest: Record<string, unknown>;
}

async function withSimulator(editor: OpenEditor, work: (given: Work) => Promise<void>): Promise<void> {
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
async function packageIn(root: string, { userDir }: NodeRed): Promise<Package> {
  const [name = "", ...rest] = (await readdir(root, { recursive: true })).filter((one) =>
    one.endsWith("manifest.json"),
  );
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
async function expectMediaOfCloud({ folder, files }: Package, { cloud }: Simulator): Promise<void> {
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
const efforts = {
  newer: { nodes: 6, wires: 3, dialogs: 9, fields: 9, clicks: 42, keys: 160 },
  cloud: { nodes: 5, wires: 3, dialogs: 7, fields: 9, clicks: 36, keys: 160 },
  earlier: { nodes: 3, wires: 2, dialogs: 5, fields: 4, clicks: 22, keys: 100 },
} as const satisfies Record<string, Effort>;

async function expectEffort(person: Person, { keys: mostKeys, ...expected }: Effort): Promise<void> {
  const { keys, ...done } = await person.effort();
  assert.deepEqual(done, expected);
  assert.ok(keys <= mostKeys, `${keys} keys`);
}

describe(`the main job, built on an empty canvas with mouse and keyboard, in Node-RED ${nodeRedMajor}`, () => {
  describe("with a newer device", () => {
    const editors = editorsOfSuite([tab]);

    it("has measurement, exact answer, images and video of a parcel in one package that the verifier accepts", () =>
      editors.run((editor) =>
        withSimulator(editor, async ({ person, simulator, folder }) => {
          const { newer, cloud } = simulator;
          const scan = () => person.writePayload("ORDER-1");
          const begins = await person.add("inject", { x: 150, y: 60, fill: scan });
          const start = await person.add("dimensioner-video-control", {
            x: 380,
            y: 60,
            behind: begins,
            fill: () =>
              person.addConfig("device", () => person.write("address", newer.origin, "node-config-input")),
          });
          const packed = await person.add("inject", { x: 150, y: 140, fill: scan });
          const measure = await person.add("dimensioner-measure", {
            x: 380,
            y: 140,
            behind: packed,
            // Without a tag, the record of the webhook is found ten seconds later.
            fill: () => person.choose("tag", "customReference1", "node-input"),
          });
          const archive = await person.add("dimensioner-archive", {
            x: 650,
            y: 140,
            behind: measure,
            fill: async () => {
              await person.addConfig("store", () => person.write("folder", folder, "node-config-input"));
              await person.addConfig("cloud", async () => {
                await person.write("baseUrl", cloud.origin, "node-config-input");
                await person.write("token", cloud.token, "node-config-input");
              });
              await person.write("settle", "1", "node-input");
            },
          });
          await person.add("dimensioner-transaction-in", {
            x: 220,
            y: 240,
            fill: () => person.write("secret", simulatorSecret, "node-input"),
          });
          await person.deploy();
          await expectEffort(person, efforts.newer);

          await person.press(begins, { node: start, shows: /^recording/ });
          await person.press(packed, { node: archive, shows: /^archived/ });
          const found = await packageIn(folder, editor.nodeRed);
          await expectMediaOfCloud(found, simulator);
          const { imageIdentifier } = await readJson(join(found.folder, "measurement.raw"));
          for (const [file, path] of [
            ["annotated.jpg", "annotatedcolor"],
            ["color.jpg", "color"],
          ] as const) {
            const image = await served(`${newer.origin}/api/v1/image/${path}/${String(imageIdentifier)}`);
            assert.equal(sha256(await readFile(join(found.folder, file))), sha256(image), file);
          }
        }),
      ));
  });

  describe("with the cloud only", () => {
    const editors = editorsOfSuite([tab]);

    it("has measurement, exact answer, images and video of a parcel in one package that the verifier accepts", () =>
      editors.run((editor) =>
        withSimulator(editor, async ({ person, simulator, folder }) => {
          const { cloud } = simulator;
          const scan = () => person.writePayload("ORDER-1");
          const begins = await person.add("inject", { x: 150, y: 60, fill: scan });
          const start = await person.add("dimensioner-remote-trigger", {
            x: 380,
            y: 60,
            behind: begins,
            fill: async () => {
              await person.addConfig("cloud", async () => {
                await person.write("baseUrl", cloud.origin, "node-config-input");
                await person.write("token", cloud.token, "node-config-input");
              });
              await person.write("deviceReference", registrationCode, "node-input");
            },
          });
          const packed = await person.add("inject", { x: 150, y: 140, fill: scan });
          const measure = await person.add("dimensioner-remote-trigger", {
            x: 380,
            y: 140,
            behind: packed,
            fill: async () => {
              await person.choose("action", "measure", "node-input");
              await person.write("deviceReference", registrationCode, "node-input");
            },
          });
          const archive = await person.add("dimensioner-archive", {
            x: 650,
            y: 140,
            behind: measure,
            fill: async () => {
              await person.addConfig("store", () => person.write("folder", folder, "node-config-input"));
              await person.write("settle", "1", "node-input");
            },
          });
          await person.deploy();
          await expectEffort(person, efforts.cloud);

          await person.press(begins, { node: start, shows: /^recording/ });
          await person.press(packed, { node: archive, shows: /^archived/ });
          await expectMediaOfCloud(await packageIn(folder, editor.nodeRed), simulator);
        }),
      ));
  });

  describe("with an earlier device, where the cloud of other devices is there already", () => {
    const cloud = { id: "cloud", type: "dimensioner-cloud", name: "Cloud", baseUrl: "https://127.0.0.1:9" };
    const editors = editorsOfSuite([tab, { ...cloud, credentials: { token: "of-others" } }]);

    it("has measurement and exact answer in one package that the verifier accepts, and waits for no cloud", () =>
      editors.run((editor) =>
        withSimulator(editor, async ({ person, simulator: { earlier }, folder }) => {
          const scan = await person.add("inject", {
            x: 150,
            y: 60,
            fill: () => person.writePayload("ORDER-1"),
          });
          const measure = await person.add("dimensioner-measure", {
            x: 380,
            y: 60,
            behind: scan,
            fill: () =>
              person.addConfig("device", async () => {
                await person.write("address", earlier.origin, "node-config-input");
                await person.choose("generation", "earlier", "node-config-input");
              }),
          });
          const archive = await person.add("dimensioner-archive", {
            x: 400,
            y: 160,
            behind: measure,
            fill: () => person.addConfig("store", () => person.write("folder", folder, "node-config-input")),
          });
          await person.deploy();
          await expectEffort(person, efforts.earlier);

          await person.press(scan, { node: archive, shows: /^archived/ });
          const { files } = await packageIn(folder, editor.nodeRed);
          assert.deepEqual(files, ["manifest.json", "measurement.json", "measurement.raw"]);
        }),
      ));
  });
});
