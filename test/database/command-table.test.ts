import assert from "node:assert/strict";
import { type CommandFacts, CommandTable } from "../../src/database/command-table.ts";
import { Inbox } from "../../src/database/inbox.ts";
import { type Worker, WorkerLease, forgetIdleWorkers } from "../../src/database/worker-lease.ts";
import { decodeTransactionRecord } from "../../src/model/transaction-record.ts";
import { recordOfMeasure } from "../../src/runtime/action/command-journal.ts";
import { describeDatabases } from "./databases.ts";
import { type TestDatabase, testClock } from "./support.ts";

const facts: CommandFacts = {
  surface: "newer-device",
  references: {
    transactionReference: "ORDER-1",
    customReference1: "dock",
    customReference2: null,
    customReference3: null,
  },
  tag: null,
};

describeDatabases("the commands that are running", (open) => {
  let test: TestDatabase;
  let clock: ReturnType<typeof testClock>;
  const alone: Worker = { id: "store", isAlone: true };
  const table = (runId: string, worker = alone) =>
    new CommandTable(test.database, { nodeType: "dimensioner-measure", runId, worker });
  const command = (id: string, nodeId = "node") => ({
    id,
    node: { id: nodeId, name: "Scale" },
    operation: "measure",
    device: "Dock 1",
    notedAt: clock.now(),
    sentAt: clock.now(),
    facts,
    message: '{"topic":"parcels"}',
  });
  const idsOf = (commands: readonly { readonly id: string }[]): string[] => commands.map(({ id }) => id);

  beforeEach(async () => {
    test = await open();
    clock = testClock();
  });
  afterEach(() => test.close());

  it("are left to the next run as they were, each once, unless they were answered", async () => {
    const first = table("run 1");
    await first.add(command("1"));
    await first.add(command("2"));
    await first.remove(["2"]);
    assert.deepEqual(await first.takeLeft(["node"], clock.now()), [], "they are its own");
    await test.reopen();
    const next = table("run 2");
    assert.deepEqual(await next.takeLeft([], clock.now()), [command("1")]);
    assert.deepEqual(await next.takeLeft([], clock.now()), []);
    assert.deepEqual(idsOf(await table("run 3").takeLeft([], clock.now())), ["1"], "nobody was told");
  });

  it("are known to have waited only, until they were sent", async () => {
    const first = table("run 1");
    await first.add({ ...command("1"), sentAt: null });
    await first.add({ ...command("2"), sentAt: null });
    await first.add(command("2"));
    // PostgreSQL may run the first of two transactions last.
    await first.add({ ...command("2"), sentAt: null });
    const left = await table("run 2").takeLeft([], clock.now());
    const sent = left.map(({ id, sentAt }) => [id, sentAt]);
    assert.deepEqual(sent.toSorted(), [
      ["1", null],
      ["2", clock.now()],
    ]);
  });

  it("of a worker whose lease has ended go to one that has the node, and after a day to any", async () => {
    const begin = () => WorkerLease.begin(test.database, { seconds: 3_600, closedSeconds: 0 });
    const [stopped, other] = [await begin(), await begin()];
    await table("run 1", stopped).add(command("1"));
    const next = table("run 2", other);
    assert.deepEqual(await next.takeLeft(["node"], clock.now()), [], "it is still running");
    await test.database.transaction([
      { sql: "UPDATE workers SET lease_until = '' WHERE worker_id = ?", values: [stopped.id] },
      forgetIdleWorkers(),
    ]);
    assert.deepEqual(await next.takeLeft(["elsewhere"], clock.now()), []);
    clock.advance(25 * 3_600_000);
    assert.deepEqual(idsOf(await next.takeLeft([], clock.now())), ["1"]);
    await other.end();
  });

  describe("when their answer is lost", () => {
    const sentAt = new Date("2026-11-22T09:00:00.000Z");
    const receive = async (id: number, more: object = {}): Promise<void> => {
      const inbox = new Inbox(test.database, { nodeId: "in", runId: "run", now: clock.now });
      const fields = { transactionReference: "ORDER-1", customReference1: "dock", ...more };
      await inbox.add(decodeTransactionRecord({ id, errorCode: 0, ...fields }), 0);
    };
    const find = async (given: CommandFacts = facts): Promise<string | undefined> =>
      (await recordOfMeasure(test.database, { id: "1", sentAt, facts: given }))?.transactionId;

    it("are recognized by the only record with their references that came after they were sent", async () => {
      assert.equal(await find(), undefined);
      await receive(1);
      assert.equal(await find(), "1");
      assert.equal(
        await find({ ...facts, references: { ...facts.references, customReference1: null } }),
        undefined,
      );
      await receive(2);
      assert.equal(await find(), undefined, "it may be either");
    });

    it("are not recognized by a failed measurement, or by one of before or of hours after", async () => {
      await receive(1, { errorCode: 2000 });
      clock.advance(2 * 3_600_000);
      await receive(2);
      assert.equal(await find(), undefined);
    });

    it("are recognized by the tag, whatever else came with the same reference, and by nothing else then", async () => {
      await receive(1);
      await receive(2, { customReference2: "tag" });
      assert.equal(await find({ ...facts, tag: "tag" }), "2");
      assert.equal(await find({ ...facts, tag: "another" }), undefined);
    });
  });
});
