import assert from "node:assert/strict";
import { failAtEach, type PointCounter } from "../sweep/fault-points.ts";
import { databaseEffects, runWithFailingDatabase, type DatabaseEffect } from "./failing-database.ts";

/** Transactions fail in these ways in turn; test/long/archive-disk.ts tries each way on each transaction. */
const inTurn = ({ at }: PointCounter): DatabaseEffect =>
  databaseEffects[at % databaseEffects.length] ?? assert.fail();

describe("archive: P17, a database of which any single transaction fails", () => {
  it("nothing is lost, archived twice or left over of jobs that are accepted meanwhile", async () => {
    await failAtEach((points) =>
      runWithFailingDatabase({ beginning: "new", effect: inTurn(points) }, points),
    );
  });

  it("nothing is lost, archived twice or left over of jobs that another process has accepted", async () => {
    await failAtEach((points) =>
      runWithFailingDatabase({ beginning: "resumed", effect: inTurn(points) }, points),
    );
  });

  it("nothing is lost, archived twice or left over in a bucket", async () => {
    const place = "bucket";
    await failAtEach((points) =>
      runWithFailingDatabase({ beginning: "new", effect: inTurn(points), place }, points),
    );
  });
});
