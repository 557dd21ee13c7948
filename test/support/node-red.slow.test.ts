import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { startNodeRed } from "./node-red.ts";

const flows = [
  { id: "tab", type: "tab", label: "test" },
  {
    id: "in",
    type: "inject",
    z: "tab",
    x: 0,
    y: 0,
    once: true,
    props: [],
    repeat: "",
    crontab: "",
    wires: [["say"]],
  },
  {
    id: "say",
    type: "debug",
    z: "tab",
    x: 0,
    y: 0,
    name: "said",
    active: true,
    console: true,
    tosidebar: false,
    complete: "true",
    wires: [],
  },
];

describe("the helper that starts Node-RED", () => {
  for (const major of [4, 5] as const) {
    it(`starts Node-RED ${major}, runs a flow and leaves nothing behind`, async () => {
      const nodeRed = await startNodeRed({ major });
      try {
        const said = nodeRed.nextLine(/said/);
        await nodeRed.deploy(flows);
        await said;
        const settings = (await (await nodeRed.adminFetch("/settings")).json()) as { version: string };
        assert.equal(settings.version.split(".")[0], String(major));
      } finally {
        await nodeRed.stop();
      }
      assert.equal(existsSync(nodeRed.userDir), false);
    });
  }
});
