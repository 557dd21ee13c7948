import assert from "node:assert/strict";
import { editorsOfSuite } from "./open-editors.ts";
import { closeDialog, fill, openDialog, savedProperties } from "./dialog.ts";
import { nodeRedMajor } from "../support/node-red.ts";

const fromEnvironment = "${FAILURES_OF_DOCK}";

describe(`outputs that a value of the environment decides about, in Node-RED ${nodeRedMajor}`, () => {
  const place = { z: "tab", x: 200, outputs: 2, wires: [[], ["say"]] };
  const remote = {
    ...place,
    type: "dimensioner-remote-trigger",
    cloud: "cloud",
    deviceReference: "ABCD2345",
  };
  const editors = editorsOfSuite([
    { id: "tab", type: "tab", label: "Dock" },
    { id: "device", type: "dimensioner-device", name: "Dock", address: "192.0.2.1" },
    { id: "cloud", type: "dimensioner-cloud", name: "Hub", baseUrl: "https://cloud.example" },
    {
      ...place,
      id: "measure",
      type: "dimensioner-measure",
      device: "device",
      failures: fromEnvironment,
      y: 80,
    },
    { ...remote, id: "remote", action: "measure", failures: fromEnvironment, y: 160 },
    { ...remote, id: "action", action: fromEnvironment, failures: "output", y: 240 },
    { id: "store", type: "dimensioner-store", name: "Evidence", folder: "/packages", folderType: "str" },
    {
      ...place,
      id: "evidence",
      type: "dimensioner-evidence",
      store: "store",
      action: "missing",
      emit: fromEnvironment,
      y: 320,
    },
    { id: "say", type: "debug", z: "tab", x: 500, y: 160, wires: [] },
  ]);

  for (const [id, choices] of [
    ["measure", { failures: "catch" }],
    ["remote", { failures: "catch" }],
    ["action", { action: "measure", failures: "catch" }],
    ["evidence", { emit: "array" }],
  ] as const) {
    it(`stay as they are, with their wires, when the dialog is confirmed: ${id}`, () =>
      editors.run(async ({ page }) => {
        await openDialog(page, id);
        await closeDialog(page, "ok");
        const wires = await page.evaluate(
          `RED.nodes.filterLinks({ source: RED.nodes.node("${id}") }).length`,
        );
        const saved = await savedProperties(page, id);
        assert.deepEqual([Number(saved["outputs"]), wires], [2, 1]);
        assert.ok(Object.values(saved).includes(fromEnvironment), "the value stays, too");
        await openDialog(page, id);
        for (const [property, choose] of Object.entries(choices)) {
          await fill(page, property, { choose });
        }
        await closeDialog(page, "ok");
        assert.equal(Number((await savedProperties(page, id))["outputs"]), 1, "by a choice");
      }));
  }
});
