import assert from "node:assert/strict";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { PruneReport } from "../../src/model/archive-reports.ts";
import { sha256Of } from "../../src/model/sha256.ts";
import { pruneArchive, rebuildIndex } from "../../src/vault/upkeep/upkeep.ts";
import type { BucketLocation } from "../../src/vault/store.ts";
import type { BucketVault } from "../../src/vault/bucket/bucket-vault.ts";
import { openBucketVault } from "../../src/vault/open-vault.ts";
import { type LogEvent, entryOf } from "../../src/vault/log/events.ts";
import { logParts, nameOfBatch, textOfLines } from "../../src/vault/log/log-files.ts";
import { readS3Url } from "../../src/vault/s3/bucket-address.ts";
import { databaseNameIn, postgresOptions } from "../database/databases.ts";
import { type BucketServer, forTests, s3Servers, sourceOf } from "../support/s3-servers.ts";
import { sharedPostgres } from "../support/shared-postgres.ts";
import { eventsOf, readLogged } from "./logged.ts";
import { copiesOfArchive } from "./packages.ts";
import { readPlain } from "../../src/vault/packages/package-files.ts";

/** A database for the index of a bucket. */
export interface IndexDatabase {
  /** As `--database` takes it. */
  readonly given: string;
  /** Runs SQL that this package would never run. */
  run(sql: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

export async function openSqlite(): Promise<IndexDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "index-"));
  const given = join(folder, "index.sqlite");
  return {
    given,
    run: async (sql) => {
      const database = new DatabaseSync(given);
      try {
        return database.prepare(sql).all();
      } finally {
        database.close();
      }
    },
    close: () => rm(folder, { recursive: true }),
  };
}

/** What holds for an index in a file has to hold for one in PostgreSQL. */
export const indexDatabases: Readonly<Record<string, () => Promise<IndexDatabase>>> = {
  SQLite: openSqlite,
  PostgreSQL: async () => {
    const server = await sharedPostgres();
    const { address } = await postgresOptions();
    const name = databaseNameIn(address);
    return {
      given: address.url,
      run: (sql) => server.run(`SET search_path TO dimensioner; ${sql}`, name),
      close: () => server.removeDatabase(name),
    };
  },
};

/** Each kind of object store with one kind of database; the first two differ most. */
export const bucketSuites = Object.entries(s3Servers).map(([name, start], index) => {
  const database = index % 3 === 0 ? "PostgreSQL" : "SQLite";
  return { name, start, database, openIndex: indexDatabases[database] ?? assert.fail() };
});

/** The last parts of the locations of packages, as those of packages in buckets are. */
export const hexNames = ["0a0a0a0a0a0a", "0b0b0b0b0b0b", "0c0c0c0c0c0c"];

/** What pruning has said: "what path", sorted. */
export interface PrunedSaid {
  readonly report: PruneReport;
  readonly said: readonly string[];
  readonly reasons: Readonly<Record<string, string | undefined>>;
}

/** An archive in a bucket with an index of its own. */
export interface BucketArchive {
  readonly url: string;
  readonly location: BucketLocation;
  readonly vault: BucketVault;
  readonly index: IndexDatabase;
  /** The keys of all objects of the archive, without the state folder, below its prefix. */
  keys(): Promise<string[]>;
  put(path: string, content: Buffer | string): Promise<void>;
  /** Prunes packages that were archived before now, or none, and everything else whatever its age. */
  prune(options?: Partial<Parameters<typeof pruneArchive>[1]>): Promise<PrunedSaid>;
  close(): Promise<void>;
}

/** For a suite: packages that are uploaded for each test, at `2026-11-02/<12 hexadecimal digits>`. */
export function packagesForBuckets() {
  const archive = copiesOfArchive(["m0", "m1", "m2"], (_id, index) => ({
    folder: ["2026-11-02", hexNames[index] ?? ""],
  }));
  const upload = async (put: BucketArchive["put"]): Promise<void> =>
    archive.withArchive(async (root) => {
      for (const path of archive.paths) {
        for (const name of await readdir(join(root, path))) {
          await put(`${path}/${name}`, await readFile(join(root, path, name)));
        }
      }
      await putLog(put, await readLogged(root));
    });
  return {
    /** Uploads and lists them again. */
    async put(archived: BucketArchive): Promise<void> {
      await removeLog(archived);
      await upload(archived.put);
      await rebuildIndex(archived.location, { database: archived.index.given });
    },
    /** Uploads the packages, and lists them in a new index. */
    async upload(url: string, index: IndexDatabase): Promise<BucketArchive> {
      const location: BucketLocation = {
        kind: "s3",
        address: readS3Url(url),
        credentials: await forTests.credentials.get(),
        workFolder: "",
        retainDays: 0,
      };
      const vault = await openBucketVault(location, forTests);
      const { prefix } = location.address;
      const put = async (path: string, content: Buffer | string): Promise<void> => {
        await vault.bucket.store(`${prefix}/${path}`, sourceOf(Buffer.from(content)));
      };
      await upload(put);
      await rebuildIndex(location, { database: index.given });
      return {
        url,
        location,
        vault,
        index,
        put,
        keys: async () => (await keysOf(vault)).filter((key) => !key.startsWith(".")),
        prune: (options) => prune(location, { database: index.given, ...options }),
        close: () => vault.close(),
      };
    },
  };
}

/**
 * Starts the server of a suite, and uploads a new archive before each of its tests, for which `use` is called.
 */
export function archiveForEach(
  { start, openIndex }: Pick<(typeof bucketSuites)[number], "openIndex" | "start">,
  bucket: string,
  { upload }: Pick<ReturnType<typeof packagesForBuckets>, "upload">,
  use: (archive: BucketArchive) => void,
): void {
  let server: BucketServer;
  let archive: BucketArchive;
  before(async () => {
    server = await start();
  });
  after(() => server.close());
  beforeEach(async () => {
    archive = await upload(server.url(bucket), await openIndex());
    use(archive);
  });
  afterEach(async () => {
    for (const key of await keysOf(archive.vault)) {
      await archive.vault.bucket.remove(`${archive.location.address.prefix}/${key}`);
    }
    await archive.close();
    await archive.index.close();
  });
}

/** The content of an object. */
export async function contentOf(vault: BucketVault, key: string): Promise<Buffer> {
  const content = await readPlain(join(vault.root, key), vault.disk, 64 * 1024 * 1024);
  return typeof content === "string" ? assert.fail(`${key}: ${content}`) : content;
}

/** Changes the manifests of all packages, and their rows, as if they had been archived two days ago. */
export async function makeOld(old: BucketArchive): Promise<void> {
  const { keys, put, vault, location, index } = old;
  const archived = new Date(Date.now() - 2 * 86_400_000).toISOString();
  const changed = new Map<string, string>();
  for (const key of (await keys()).filter((one) => one.endsWith("/manifest.json"))) {
    const content = await contentOf(vault, key);
    const manifest = JSON.parse(String(content)) as { times: object };
    const text: string = JSON.stringify({ ...manifest, times: { ...manifest.times, archived } });
    await put(key, text);
    changed.set(dirname(key), sha256Of(text));
  }
  const events = (await loggedIn(vault)).map((event) =>
    event.what === "archived"
      ? { ...event, archived, sha256: changed.get(event.path) ?? event.sha256 }
      : event,
  );
  await removeLog(old);
  await putLog(put, events);
  await rebuildIndex(location, { database: index.given });
}

/** The log of the only store of an archive in a bucket. */
export async function loggedIn(vault: BucketVault): Promise<readonly LogEvent[]> {
  const keys = (await keysOf(vault)).filter((key) => key.startsWith(".dimensioner-archive/log/"));
  const contents: string[] = [];
  for (const key of keys) {
    contents.push(String(await contentOf(vault, key)));
  }
  return eventsOf(contents);
}

async function putLog(put: BucketArchive["put"], events: readonly LogEvent[]): Promise<void> {
  const lines = events.map((event, n) => ({ n, line: entryOf(event).line }));
  const [first] = events;
  const store = first?.what === "begun" ? first.store : assert.fail("no beginning");
  await put([...logParts, store, nameOfBatch(lines)].join("/"), textOfLines(lines));
}

/** Forgets all that was said of packages, in the bucket and in the database. */
async function removeLog({ vault, index }: BucketArchive): Promise<void> {
  for (const key of (await keysOf(vault)).filter((one) => one.startsWith(".dimensioner-archive/log/"))) {
    await vault.bucket.remove(`${vault.bucket.address.prefix}/${key}`);
  }
  for (const sql of [
    "DELETE FROM log",
    "DELETE FROM log_writers",
    "DELETE FROM packages",
    "UPDATE log_head SET size = 0",
  ]) {
    await index.run(sql);
  }
}

async function prune(
  place: BucketLocation | string,
  options: Partial<Parameters<typeof pruneArchive>[1]> = {},
): Promise<PrunedSaid> {
  const said: string[] = [];
  const reasons: Record<string, string | undefined> = {};
  const { database = assert.fail("no database"), ...more } = options;
  const report = await pruneArchive(place, {
    database,
    before: new Date(Date.now() + 1_000),
    // The clock of the store may be rounded.
    leftoverAgeMs: -1_000,
    onPackage: ({ what, path, reason }) => {
      said.push(`${what} ${path}`);
      reasons[path] = reason;
    },
    ...more,
  });
  return { report, said: said.toSorted(), reasons };
}

/** All keys of an archive, below its prefix. */
export async function keysOf(vault: BucketVault): Promise<string[]> {
  const { bucket } = vault;
  const prefix = `${bucket.address.prefix}/`;
  const keys: string[] = [];
  for await (const page of bucket.list(prefix)) {
    keys.push(...page.map(({ key }) => key.slice(prefix.length)));
  }
  return keys;
}
