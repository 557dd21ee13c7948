import assert from "node:assert/strict";
import { startExample, type ExampleRun } from "./one-example.ts";

describe("the examples, when nobody has said where to save", function () {
  this.timeout(60_000);
  let run: ExampleRun;

  for (const [example, again] of [
    ["01", "scan"],
    ["02", "scan"],
    ["03", "scan"],
    ["04", "press"],
  ] as const) {
    describe(example, () => {
      before(async () => {
        run = await startExample({ example, withArchive: false });
      });
      after(() => run.close());

      it("asks for the folder before anything is done", async () => {
        const said = await run.scan({ until: [`Nothing happened: correct it and ${again} again`] });
        assert.match([...said.values()].join(), /Say where to save: .*ARCHIVE_FOLDER.* Nothing was done\./);
        assert.deepEqual(run.simulator.requests, []);
      });
    });
  }
});
