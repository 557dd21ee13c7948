import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openEditors, type Editors } from "./open-editors.ts";
import { closeDialog, openDialog } from "./dialog.ts";
import { root } from "./sources.ts";
import { nodeRedMajor } from "../support/node-red.ts";

interface Saved {
  readonly id: string;
  readonly type: string;
}

/** As 0.1.0 has saved them: without a version. */
const saved = JSON.parse(readFileSync(join(root, "test/fixtures/flows/0.1.0.json"), "utf8")) as Saved[];
const measure = saved.find(({ id }) => id === "measure");
const flows = [
  ...saved.filter(({ id }) => id === "tab" || id === "device"),
  { ...measure, id: "older", y: 100 },
  { ...measure, id: "newer", y: 200, version: 99 },
];

describe(`nodes that another version saved, in Node-RED ${nodeRedMajor}`, () => {
  let editors: Editors;

  before(async () => {
    editors = await openEditors(flows);
  });

  it("an older one is valid, and exported unchanged, also after its dialog was opened", () =>
    editors.run(async ({ page }) => {
      const look = () =>
        page.evaluate<unknown[]>(`(() => {
          const { valid, changed = false } = RED.nodes.node("older");
          const exported = RED.nodes.createCompleteNodeSet().find(({ id }) => id === "older");
          return [valid, changed, JSON.parse(JSON.stringify(exported))];
        })()`);
      const before = await look();
      assert.deepEqual(before.slice(0, 2), [true, false]);
      assert.ok(!("version" in (before[2] as object)));
      await openDialog(page, "older");
      await closeDialog(page, "ok");
      assert.deepEqual(await look(), before);
    }));

  it("a newer one is marked as invalid, with the reason, and kept unchanged", () =>
    editors.run(async ({ page }) => {
      const [errors, version] = await page.evaluate<[string[], number]>(
        `[RED.nodes.node("newer").validationErrors, RED.nodes.node("newer").version]`,
      );
      assert.equal(version, 99);
      assert.equal(errors.length, 1);
      assert.match(errors[0] ?? "", /saved by a newer version of @dimflow\/node-red-dimensioner/);
    }));
});
