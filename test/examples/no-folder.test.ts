import assert from "node:assert/strict";
import { startExample, type ExampleRun } from "./one-example.ts";

describe("the examples, when no folder to save in is set", function () {
  this.timeout(60_000);
  let run: ExampleRun;

  for (const [example, again] of [
    ["01", "scan"],
    ["02", "scan"],
    ["03", "scan"],
    ["04", "press"],
    ["10", "scan"],
  ] as const) {
    describe(example, () => {
      before(async () => {
        run = await startExample({ example, withArchive: false });
      });
      after(() => run.close());

      it("ask for the folder in one sentence, before anything is done", async () => {
        const said = await run.scan({ until: [`Nothing happened: correct it and ${again} again`] });
        assert.deepEqual(
          [...said.values()],
          [
            "Set the folder to save in: double-click this tab and set ARCHIVE_FOLDER to a folder that exists. Nothing was done.",
          ],
        );
        assert.deepEqual(run.simulator.requests, []);
      });
    });
  }
});
