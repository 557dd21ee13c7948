import assert from "node:assert/strict";
import { nodeRedMajor } from "../support/node-red.ts";
import {
  efforts,
  expectEffort,
  expectMediaOfCloud,
  packageIn,
  registrationCode,
  tab,
  withSimulator,
} from "./main-job.ts";
import { editorsOfSuite } from "./open-editors.ts";

describe(`the main job, built on an empty canvas with mouse and keyboard, in Node-RED ${nodeRedMajor}`, () => {
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
