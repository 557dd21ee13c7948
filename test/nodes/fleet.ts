import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { prefix, readObjects } from "../archive/bucket-objects.ts";
import { bucketOf } from "../archive/shared-store.ts";
import { pictureOf, sha256Of, until } from "../archive/support.ts";
import { removeLeftovers } from "../archive/worker-processes.ts";
import { nodeRedMajor, startNodeRed, type NodeRed } from "../support/node-red.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { startStub, type BucketStub } from "../support/s3-stub.ts";
import { fleetFlows, postTransaction } from "./fleet-flow.ts";
import { FleetFigures, fleetUser, type FleetReport } from "./fleet-figures.ts";

/** What a fleet of Node-REDs is to do, and what happens to it meanwhile. */
export interface FleetPlan {
  readonly workers: number;
  /** How many stations have their transactions posted at the same time. */
  readonly stations: number;
  /** Each is posted twice. */
  readonly transactions: number;
  /** How often a worker is killed, and another one started. */
  readonly kills: number;
  /** How often the server of the database is stopped and started again. */
  readonly restarts: number;
  /** For how long the bucket serves nothing, once; 0: never. */
  readonly bucketFailsMs: number;
  /** Ends the lease of a killed worker at once, as if a minute had passed. */
  readonly endsLeases: boolean;
}

interface Worker {
  readonly nodeRed: NodeRed;
  /** Its id in the database, blank until it is there. */
  id: string;
}

const database = "packages";
/** How many posts each worker may be ahead of the packages. */
const mostAhead = 300;
/** How long no package may be made. */
const patienceMs = 180_000;
const openJobs = "dimensioner.jobs WHERE state NOT IN ('reported', 'failed')";

/**
 * Lets several Node-REDs on one PostgreSQL database and one bucket archive what stations have posted, while parts of it fail. Throws
 * if a transaction is not in exactly one whole package with one row and one handled record, or anything else is in the bucket.
 */
export async function runFleet(plan: FleetPlan): Promise<FleetReport> {
  const server = await startPostgres();
  const [stub, simulator] = await Promise.all([
    startStub(),
    startSimulator({ keepTransactions: plan.transactions, keepBytes: Infinity }),
  ]);
  const figures = new FleetFigures(server, database);
  const run = new FleetRun({ server, stub, simulator, figures }, plan);
  try {
    await figures.prepare();
    return await run.run();
  } finally {
    await run.stop();
    await stub.close();
    await simulator.close();
    await server.remove();
  }
}

interface FleetParts {
  readonly server: PostgresServer;
  readonly stub: BucketStub;
  readonly simulator: Simulator;
  readonly figures: FleetFigures;
}

class FleetRun {
  readonly #parts: FleetParts;
  readonly #plan: FleetPlan;
  readonly #workers: Worker[] = [];
  readonly #known = new Set<string>();
  readonly #ids: readonly string[];
  #accepted = 0;
  #archived = 0;

  constructor(parts: FleetParts, plan: FleetPlan) {
    this.#parts = parts;
    this.#plan = plan;
    this.#ids = Array.from({ length: plan.transactions }, (_, index) => `parcel-${index}`);
  }

  async run(): Promise<FleetReport> {
    const { server, simulator, figures } = this.#parts;
    process.env["PGPASSWORD"] = server.admin.password;
    for (const id of this.#ids) {
      simulator.cloud.addMedia(id, { contentType: "image/jpeg", bytes: pictureOf(id) });
    }
    for (let count = 0; count < this.#plan.workers; count += 1) {
      await this.#start();
    }
    const watching = new AbortController();
    const watched = this.#watch(watching.signal);
    let report: FleetReport;
    try {
      await figures.begin();
      await Promise.all([this.#postAll(watching.signal), this.#happen()]);
      const done = async (): Promise<boolean> =>
        this.#archived === this.#plan.transactions && (await this.#count(openJobs)) === 0;
      await this.#goesOn(done, "all are archived");
      report = await figures.end(this.#archived);
    } finally {
      watching.abort();
      await watched;
    }
    await this.stop();
    await removeLeftovers(bucketOf(this.#parts.stub.url(prefix), "/nowhere"), this.#url());
    await this.#check();
    return report;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#workers.splice(0).map(({ nodeRed }) => nodeRed.stop()));
  }

  /** Posts all transactions twice, in any order, by all stations at the same time. */
  async #postAll(signal: AbortSignal): Promise<void> {
    const posts = [...this.#ids, ...this.#ids]
      .map((id) => ({ id, at: Math.random() }))
      .toSorted((one, other) => one.at - other.at);
    const stations = Array.from({ length: this.#plan.stations }, async () => {
      for (let post; !signal.aborted && (post = posts.pop()) !== undefined;) {
        await this.#post(post.id, signal);
      }
    });
    await Promise.all(stations);
  }

  /** Posts until a worker has accepted it, as the cloud and the load balancer do. */
  async #post(id: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      while (this.#accepted / 2 - this.#archived > mostAhead * this.#plan.workers) {
        await sleep(100);
      }
      const { nodeRed } = this.#workers[Math.floor(Math.random() * this.#workers.length)] ?? {};
      if (nodeRed !== undefined && (await postTransaction(nodeRed.url, id)) === 204) {
        this.#accepted += 1;
        return;
      }
      await sleep(50 + 200 * Math.random());
    }
  }

  /** Lets everything happen that the plan says, one after the other, while packages are made. */
  async #happen(): Promise<void> {
    const { transactions, kills, restarts, bucketFailsMs } = this.#plan;
    const events = [
      ...Array.from({ length: kills }, (_, index) => ({
        at: (index + 0.5) / kills,
        act: () => this.#kill(),
      })),
      ...Array.from({ length: restarts }, (_, index) => ({
        at: (index + 0.7) / restarts,
        act: () => this.#restart(),
      })),
      ...(bucketFailsMs === 0 ? [] : [{ at: 0.4, act: () => this.#failBucket(bucketFailsMs) }]),
    ].toSorted((one, other) => one.at - other.at);
    for (const { at, act } of events) {
      // Towards the end, nothing is left for others to take over.
      const count = Math.floor(at * 0.9 * transactions);
      await this.#goesOn(() => this.#archived >= count, `${count} are archived`);
      await act();
    }
  }

  /** Waits for as long as packages are made: how many there are in a minute depends on the computer. */
  async #goesOn(isDone: () => boolean | Promise<boolean>, what: string): Promise<void> {
    while (!(await isDone())) {
      const before = this.#archived;
      const isFurther = async (): Promise<boolean> => this.#archived > before || (await isDone());
      await until(isFurther, `${what}: another package after ${before}`, patienceMs);
    }
  }

  async #start(): Promise<void> {
    const { server, stub, simulator } = this.#parts;
    const env = { PGPASSWORD: server.admin.password };
    const { cloud } = simulator;
    const flows = fleetFlows({
      database: { host: "127.0.0.1", port: server.port, databaseName: database },
      user: fleetUser,
      bucketOrigin: stub.origin,
      cloud,
    });
    const nodeRed = await startNodeRed({ major: nodeRedMajor, env, flows });
    const worker = { nodeRed, id: "" };
    this.#workers.push(worker);
    this.#parts.figures.started(nodeRed.pid);
    const isThere = async (): Promise<boolean> => {
      // The first one makes the table.
      const rows = await this.#rows("SELECT worker_id AS id FROM dimensioner.workers").catch(() => []);
      worker.id = rows.map(({ id }) => String(id)).find((id) => !this.#known.has(id)) ?? "";
      return worker.id !== "";
    };
    await until(isThere, "the worker is in the database", 60_000);
    this.#known.add(worker.id);
  }

  async #kill(): Promise<void> {
    const { nodeRed, id } = this.#workers.shift() ?? assert.fail("no worker");
    await nodeRed.kill();
    this.#parts.figures.killed(id);
    if (this.#plan.endsLeases) {
      await this.#rows(`UPDATE dimensioner.workers SET lease_until = '' WHERE worker_id = '${id}'`);
    }
    await nodeRed.stop();
    await this.#start();
  }

  async #restart(): Promise<void> {
    await this.#parts.server.stop();
    await this.#parts.server.start();
  }

  async #failBucket(forMs: number): Promise<void> {
    const { stub } = this.#parts;
    let count = 0;
    stub.fault = () => ((count += 1) % 2 === 0 ? "reset" : { status: 503, code: "SlowDown" });
    await sleep(forMs);
    stub.fault = () => undefined;
  }

  async #watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#archived = await this.#count("dimensioner.packages").catch(() => this.#archived);
      await this.#parts.figures.look();
      await sleep(200);
    }
  }

  async #check(): Promise<void> {
    const packages = [...(await readObjects(this.#parts.stub)).values()];
    const ids = this.#ids.toSorted();
    assert.deepEqual(packages.map(({ transactionId }) => transactionId).toSorted(), ids);
    for (const { transactionId, items, complete } of packages) {
      const hashes = items.map(({ sha256 }) => sha256);
      assert.deepEqual([complete, hashes], [true, [sha256Of(pictureOf(transactionId ?? ""))]]);
    }
    const records = "SELECT transaction_id AS id FROM dimensioner.records WHERE handled_at IS NOT NULL";
    for (const sql of ["SELECT transaction_id AS id FROM dimensioner.packages", records]) {
      assert.deepEqual((await this.#rows(sql)).map((row) => row["id"]).toSorted(), ids, sql);
    }
    assert.equal(await this.#count("dimensioner.records"), ids.length);
    assert.equal(await this.#count("dimensioner.jobs WHERE state = 'failed'"), 0);
  }

  async #rows(sql: string): Promise<Record<string, unknown>[]> {
    return await this.#parts.server.run(sql, database);
  }

  async #count(from: string): Promise<number> {
    const [row] = await this.#rows(`SELECT count(*) AS count FROM ${from}`);
    return Number(row?.["count"]);
  }

  #url(): string {
    return `postgres://${fleetUser}@127.0.0.1:${this.#parts.server.port}/${database}`;
  }
}
