import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { simulatorSecret } from "../support/examples.ts";
import { readJson, served, sha256 } from "../examples/archive.ts";
import { nodeRedMajor } from "../support/node-red.ts";
import { efforts, expectEffort, expectMediaOfCloud, packageIn, tab, withSimulator } from "./main-job.ts";
import { editorsOfSuite } from "./open-editors.ts";

describe(`the main job, built on an empty canvas with mouse and keyboard, in Node-RED ${nodeRedMajor}`, () => {
  describe("with a newer device", () => {
    const editors = editorsOfSuite([tab]);

    it("has measurement, exact answer, images and video of a parcel in one package that the verifier accepts", () =>
      editors.run((editor) =>
        withSimulator(editor, async ({ person, simulator }) => {
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
              await person.addConfig("store", () => Promise.resolve());
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
          // Nothing was filled in: a new store makes its own folder.
          const folder = join(editor.nodeRed.userDir, "dimensioner", "packages");
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
});
