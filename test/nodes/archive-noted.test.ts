import assert from "node:assert/strict";
import { until } from "../archive/support.ts";
import { withFolder } from "../media/support.ts";
import { storeId } from "../support/store-node.ts";
import { archive, ArchiveSuite } from "./archive-suite.ts";

/** What the nodes behind an archive node have got, its database must not say sooner: a kill in between would lose the message. */
describe("the database of an archive", () => {
  const suite = new ArchiveSuite();

  for (const [what, id, end] of [
    ["a message was sent only when the flow", "with-media", "gone"],
    ["a job has failed only when the Catch node's flow", "without-media", "failed"],
  ] as const) {
    it(`notes that ${what} has received it`, async () => {
      await withFolder(async (folder) => {
        const toOut = { id: "catch", z: "tab", type: "catch", scope: null, wires: [["out-0"]] };
        const flow = await suite.start(folder, archive(folder, { wait: 1 }), toOut);
        const stateOfJob = (): unknown =>
          flow.rowsOf(storeId(folder), "SELECT state FROM jobs")[0]?.["state"] ?? "gone";
        let stateWhenReceived: unknown;
        flow.node("out-0").on("input", () => {
          // While this thread is busy, the database's own thread commits what it was given before.
          const endMs = performance.now() + 300;
          do {
            stateWhenReceived = stateOfJob();
          } while (stateWhenReceived !== end && performance.now() < endMs);
        });
        suite.addVideo("with-media");
        await flow.run("node", { transactionId: id });
        await until(() => stateOfJob() === end, `the job is ${end}`);
        assert.match(String(stateWhenReceived), /^(?:accepted|archived|collecting)$/);
      });
    });
  }
});
