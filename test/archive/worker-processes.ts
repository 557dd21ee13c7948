import assert from "node:assert/strict";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readPostgresUrl } from "../../src/database/postgres-address.ts";
import { startSimulator } from "../../src/simulator/index.ts";
import type { BucketLocation } from "../../src/vault/store.ts";
import { openBucketVault } from "../../src/vault/open-vault.ts";
import { withFolder } from "../media/support.ts";
import type { PostgresServer } from "../support/postgres.ts";
import { type BucketStub, startStub } from "../support/s3-stub.ts";
import { prefix, readObjects } from "./bucket-objects.ts";
import { type Child, bundle, startChild } from "./processes.ts";
import { bucketOf, openSharedStore } from "./shared-store.ts";
import { openArchive, pictureOf, readPackages, sha256Of, until } from "./support.ts";
import { tidyBucket } from "./tidy-bucket.ts";

/** What happens while the workers are at work. */
export interface Trouble {
  /** How many workers there are. */
  readonly workers: number;
  readonly transactions: number;
  readonly leaseSeconds: number;
  /** How often one is killed, and another one started. */
  readonly kills: number;
  /** How often one is suspended for longer than its lease. */
  readonly suspensions: number;
  /** How often the server of the database is stopped and started again. */
  readonly restarts: number;
  /** How often the bucket of packages serves nothing for a while; undefined if they are in a folder. */
  readonly bucketFailures?: number;
}

export interface TroubleReport {
  readonly seconds: number;
  /** How many messages another worker has ended, as their own one said. */
  readonly taken: number;
}

/**
 * Lets several processes archive transactions into one folder with one database, while they are killed and suspended. Throws if a
 * transaction is not in exactly one whole package with one row, or a job is left.
 */
export async function workInTrouble(server: PostgresServer, trouble: Trouble): Promise<TroubleReport> {
  const sim = await startSimulator();
  const { user, password } = server.admin;
  process.env["PGPASSWORD"] = password;
  const name = await server.makeDatabase();
  const url = `postgres://${user}@127.0.0.1:${server.port}/${name}`;
  const ids = Array.from({ length: trouble.transactions }, (_, index) => `t${index}`);
  for (const id of ids) {
    sim.cloud.addMedia(id, { contentType: "image/jpeg", bytes: pictureOf(id) });
  }
  const stub = trouble.bucketFailures === undefined ? undefined : await startStub();
  const bucket = stub?.url(prefix) ?? "";
  const isIdle = async (): Promise<boolean> => (await server.run(openJobs, name)).length === 0;
  // One that was killed, or could not end its lease, has it for a while.
  const isFree = async (): Promise<boolean> => {
    const leases = `SELECT * FROM dimensioner.workers WHERE lease_until > '${new Date().toISOString()}'`;
    return (await server.run(leases, name)).length === 0;
  };
  let report: TroubleReport | undefined;
  try {
    await withFolder(async (root) => {
      const packages = join(root, "packages");
      await mkdir(packages);
      const { origin } = sim.cloud;
      const args = [root, url, origin, String(trouble.leaseSeconds), bucket];
      report = await new TroubledRun({ server, stub, isIdle }, trouble, args).archive(ids);
      await until(isFree, "no worker has a lease");
      // Whoever opens the archive next tidies up.
      const workFolder = join(root, "last");
      const inFolder = { kind: "folder", path: packages, workFolder } as const;
      const vault = stub === undefined ? inFolder : bucketOf(bucket, workFolder);
      const { store } = await openSharedStore(vault, { address: readPostgresUrl(url) });
      await (await openArchive(root, undefined, { store })).close();
      if (stub === undefined) {
        const staged = join(packages, ".dimensioner-archive", "work");
        assert.deepEqual(await readdir(staged).catch(() => []), []);
      } else {
        await removeLeftovers(bucketOf(bucket, root), url);
      }
      const all = [...(await (stub === undefined ? readPackages(packages) : readObjects(stub))).values()];
      assert.deepEqual(all.map(({ transactionId }) => transactionId).toSorted(), ids.toSorted());
      for (const { transactionId, items, complete } of all) {
        const hashes = items.map(({ sha256 }) => sha256);
        assert.deepEqual([complete, hashes], [true, [sha256Of(pictureOf(transactionId ?? ""))]]);
      }
      const rows = await server.run("SELECT transaction_id FROM dimensioner.packages", name);
      assert.deepEqual(rows.map((row) => row["transaction_id"]).toSorted(), ids.toSorted());
      assert.deepEqual(await server.run(openJobs, name), []);
    });
  } finally {
    await stub?.close();
    await sim.close();
  }
  assert.ok(report !== undefined);
  return report;
}

const openJobs = "SELECT * FROM dimensioner.jobs WHERE state NOT IN ('reported', 'failed')";
/** How many requests fail in a row. */
const mostFailed = 20;

interface TroubledParts {
  readonly server: PostgresServer;
  readonly stub: BucketStub | undefined;
  /** Whether no job is open in the database. */
  readonly isIdle: () => Promise<boolean>;
}

class TroubledRun {
  readonly #server: PostgresServer;
  readonly #stub: BucketStub | undefined;
  readonly #isIdle: TroubledParts["isIdle"];
  readonly #trouble: Trouble;
  readonly #args: readonly string[];
  readonly #archived = new Set<string>();
  readonly #children: Child[] = [];
  #script = "";
  #taken = 0;

  constructor({ server, stub, isIdle }: TroubledParts, trouble: Trouble, args: readonly string[]) {
    this.#server = server;
    this.#stub = stub;
    this.#isIdle = isIdle;
    this.#trouble = trouble;
    this.#args = args;
  }

  async archive(ids: readonly string[]): Promise<TroubleReport> {
    this.#script = await bundle("test/archive/worker-child.ts");
    try {
      await Promise.all(Array.from({ length: this.#trouble.workers }, () => this.#start()));
      const startedMs = performance.now();
      const { kills, suspensions, restarts, bucketFailures = 0 } = this.#trouble;
      const events = [
        ...Array.from({ length: kills }, () => () => this.#kill()),
        ...Array.from({ length: suspensions }, () => () => this.#suspend()),
        ...Array.from({ length: restarts }, () => () => this.#restart()),
        ...Array.from({ length: bucketFailures }, () => () => this.#failBucket()),
      ];
      const share = Math.ceil(ids.length / (events.length + 1));
      for (let from = 0; from < ids.length; from += share) {
        this.#submit(ids.slice(from, from + share));
        // Some are done, and others are not.
        const half = Math.min(from + share / 2, ids.length);
        await until(() => this.#archived.size >= half, `${half} archived`);
        await events.shift()?.();
      }
      await this.#finish(ids);
      return { seconds: (performance.now() - startedMs) / 1000, taken: this.#taken };
    } finally {
      await Promise.all(this.#children.map((child) => child.kill()));
    }
  }

  /** Sends again what was lost with a killed worker, as a webhook does, and lets all end. */
  async #finish(ids: readonly string[]): Promise<void> {
    for (let left = ids; left.length > 0; left = ids.filter((id) => !this.#archived.has(id))) {
      const before = this.#archived.size;
      await until(() => this.#archived.size > before, "more archived", 2_000).catch(() => this.#submit(left));
    }
    // What a killed worker has left may still wait for another one, and a worker may still collect what it was sent again.
    await until(this.#isIdle, "no job is open");
    for (const { process: child } of this.#children) {
      child.stdin?.write("close\n");
    }
    await Promise.all(this.#children.map(({ ended }) => ended));
    assert.deepEqual(
      this.#children.map(({ process: child }) => child.exitCode),
      this.#children.map(() => 0),
    );
  }

  #submit(ids: readonly string[]): void {
    ids.forEach((id, index) =>
      this.#children[index % this.#children.length]?.process.stdin?.write(`${id}\n`),
    );
  }

  async #start(): Promise<void> {
    const child = startChild(this.#script, this.#args, (line) => {
      const [what, id = ""] = line.split(" ");
      if (what === "archived") {
        this.#archived.add(id);
      }
      this.#taken += what === "cancelledTaken" ? 1 : 0;
    });
    assert.equal(await child.nextLine(), "open");
    this.#children.push(child);
  }

  async #kill(): Promise<void> {
    await this.#children.shift()?.kill();
    await this.#start();
  }

  async #suspend(): Promise<void> {
    const child = this.#children[0]?.process;
    child?.kill("SIGSTOP");
    await sleep(this.#trouble.leaseSeconds * 2_000);
    child?.kill("SIGCONT");
  }

  /** It serves nothing until so many requests have failed, each worker's among them. */
  async #failBucket(): Promise<void> {
    let failed = 0;
    const stub = this.#stub ?? assert.fail("no bucket");
    stub.fault = () => {
      failed += 1;
      return failed % 2 === 0 ? "reset" : { status: 503, code: "SlowDown" };
    };
    await until(() => failed >= mostFailed, `${mostFailed} requests failed`);
    stub.fault = () => undefined;
  }

  async #restart(): Promise<void> {
    await this.#server.stop();
    await this.#server.start();
  }
}

/** Removes what is unfinished, as a worker does after a day. */
/** Removes from a bucket what jobs have left, as a worker does after a day. */
export async function removeLeftovers(location: BucketLocation, url: string): Promise<void> {
  const { database } = await openSharedStore(location, { address: readPostgresUrl(url) });
  const vault = await openBucketVault(location, {});
  try {
    await tidyBucket(vault, database);
  } finally {
    await vault.close();
    await database.close();
  }
}
