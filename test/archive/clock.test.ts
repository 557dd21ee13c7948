import assert from "node:assert/strict";
import { startSimulator } from "../../src/simulator/index.ts";
import { withFolder } from "../media/support.ts";
import { WallClock } from "../model-based/wall-clock.ts";
import { clientOf, intentOf, openArchive, pictureOf, until } from "./support.ts";

const hourMs = 3_600_000;

describe("archive: a clock that is put right while a job waits", () => {
  for (const jumpMs of [-50 * 365 * 24 * hourMs, 56 * 365 * 24 * hourMs]) {
    it(`gives up nothing when it is put ${jumpMs > 0 ? "forward" : "back"} by decades`, async () => {
      const sim = await startSimulator();
      const client = clientOf(sim);
      const clock = new WallClock();
      try {
        await withFolder(async (root) => {
          const archive = await openArchive(root, client);
          const intent = intentOf("1", {
            origin: client.peer.origin,
            giveUpMs: 72 * hourMs,
            waitMs: 60_000,
          });
          const submission = await archive.runner.submit(intent);
          await until(() => submission.running?.state === "waiting", "it waits");
          clock.jump(jumpMs);
          // The next thing that goes wrong is what the age of the job is looked at for.
          sim.faults.add({ surface: "cloud", times: 1, fault: { kind: "status", status: 401 } });
          sim.cloud.addMedia("1", { contentType: "image/jpeg", bytes: pictureOf("1") });
          submission.running?.wake();
          assert.equal((await submission.end()).manifest.items.length, 1);
          submission.messageSent();
          await archive.close();
        });
      } finally {
        clock.close();
        await client.close();
        await sim.close();
      }
    });
  }
});
