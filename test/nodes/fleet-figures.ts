import { readFile } from "node:fs/promises";
import type { PostgresServer } from "../support/postgres.ts";

/** What a fleet has needed. */
export interface FleetReport {
  readonly packagesPerSecond: number;
  /** Of all Node-REDs together; NaN where the system does not say it. */
  readonly cpuMsPerPackage: number;
  readonly statementsPerPackage: number;
  /** Of all Node-REDs together, at most. */
  readonly connections: number;
  /** How long after each kill no job was the killed worker's any more. */
  readonly takenOverAfterSeconds: readonly number[];
}

/** Kernel ticks of 10 ms, as `/proc` counts on every Linux of today. */
const tickMs = 10;
const extension = "pg_stat_statements";

/** The role of the workers, which owns the database and has no other rights. */
export const fleetUser = "fleet";

const statements = `SELECT sum(calls) AS calls FROM ${extension} JOIN pg_roles ON pg_roles.oid = userid WHERE rolname = '${fleetUser}'`;

/** Measures a fleet from outside. */
export class FleetFigures {
  readonly #server: PostgresServer;
  readonly #database: string;
  readonly #pids = new Set<number>();
  readonly #cpuMs = new Map<number, number>();
  /** The workers that were killed and still have jobs, and when. */
  readonly #killed = new Map<string, number>();
  readonly #takenOverAfterSeconds: number[] = [];
  #connections = 0;
  #begunMs = 0;
  #cpuBeforeMs = 0;

  constructor(server: PostgresServer, database: string) {
    this.#server = server;
    this.#database = database;
  }

  /** Makes the database, on a server that counts statements. */
  async prepare(): Promise<void> {
    await this.#server.run(`ALTER SYSTEM SET shared_preload_libraries = '${extension}'`);
    await this.#server.stop();
    await this.#server.start();
    await this.#server.run(`CREATE ROLE ${fleetUser} LOGIN PASSWORD '${this.#server.admin.password}'`);
    await this.#server.run(`CREATE DATABASE ${this.#database} OWNER ${fleetUser}`);
    await this.#server.run(`CREATE EXTENSION ${extension}`, this.#database);
  }

  started(pid: number): void {
    this.#pids.add(pid);
  }

  killed(worker: string): void {
    this.#killed.set(worker, performance.now());
  }

  async begin(): Promise<void> {
    await this.look();
    this.#cpuBeforeMs = this.#cpuSum();
    await this.#server.run(`SELECT ${extension}_reset()`, this.#database);
    this.#begunMs = performance.now();
  }

  /** To be called often: what a process has used is not known after its end. */
  async look(): Promise<void> {
    for (const pid of this.#pids) {
      const usedMs = await cpuMsOf(pid);
      if (usedMs !== undefined) {
        this.#cpuMs.set(pid, usedMs);
      }
    }
    try {
      await this.#lookAtDatabase();
    } catch {
      // It is being restarted.
    }
  }

  async end(packages: number): Promise<FleetReport> {
    const seconds = (performance.now() - this.#begunMs) / 1000;
    await this.look();
    const [row] = await this.#server.run(statements, this.#database);
    return {
      packagesPerSecond: packages / seconds,
      cpuMsPerPackage: (this.#cpuSum() - this.#cpuBeforeMs) / packages,
      statementsPerPackage: Number(row?.["calls"]) / packages,
      connections: this.#connections,
      takenOverAfterSeconds: this.#takenOverAfterSeconds,
    };
  }

  async #lookAtDatabase(): Promise<void> {
    const [row] = await this.#server.run(
      `SELECT count(*) AS count FROM pg_stat_activity WHERE usename = '${fleetUser}'`,
    );
    this.#connections = Math.max(this.#connections, Number(row?.["count"]));
    for (const [worker, atMs] of this.#killed) {
      const left = await this.#server.run(
        `SELECT 1 FROM dimensioner.jobs WHERE worker_id = '${worker}' AND state NOT IN ('reported', 'failed') LIMIT 1`,
        this.#database,
      );
      // The last look, at the end, may see the same as one that is still under way.
      if (left.length === 0 && this.#killed.delete(worker)) {
        this.#takenOverAfterSeconds.push((performance.now() - atMs) / 1000);
      }
    }
  }

  #cpuSum(): number {
    return [...this.#cpuMs.values()].reduce((sum, one) => sum + one, 0);
  }
}

/** What a process and its threads have used; undefined if it has ended, or the system does not say it. */
async function cpuMsOf(pid: number): Promise<number | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, "utf8");
    // The name before it, in brackets, may contain anything.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  } catch {
    return undefined;
  }
}
