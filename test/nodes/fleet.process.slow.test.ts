import assert from "node:assert/strict";
import { nodeRedMajor } from "../support/node-red.ts";
import { runFleet } from "./fleet.ts";

describe(`several Node-REDs ${nodeRedMajor} on one PostgreSQL database and one bucket`, function () {
  // Several processes do the work of a day, beside whatever else a busy computer does.
  this.timeout(600_000);
  it("archive what stations post, each once, while one is killed, the database restarted and the bucket away", async () => {
    const { connections, takenOverAfterSeconds } = await runFleet({
      workers: 2,
      stations: 40,
      transactions: 150,
      kills: 1,
      restarts: 1,
      bucketFailsMs: 1_000,
      endsLeases: true,
    });
    assert.ok(connections > 0 && connections <= 8, `${connections} connections`);
    assert.equal(takenOverAfterSeconds.length, 1);
  });
});
