/** What the log in a store's database says of packages at the moment. The last line about a package counts. */
import { type Condition, type Database, marksFor } from "../../database/database.ts";
import { ofFamily } from "../packages/package-index.ts";
import { type EventOf, type LogEvent, readEvent } from "./events.ts";

const idsAtOnce = 200;

/** The line of a log that puts a package on hold. */
export type HeldEvent = EventOf<"held">;
/** The line of a log that says that a package was deleted. */
export type PrunedEvent = EventOf<"pruned">;

/** The line of a log that adds a number to a package. */
export type NamedEvent = EventOf<"named">;

type Reads = Pick<Database, "transaction">;

/** The last line of each package, of those that begin or end something. An index has only these lines. */
const last = (id: string, begin: string, end: string): string =>
  `SELECT what FROM log WHERE package_id = ${id} AND what IN ('${begin}', '${end}') ORDER BY n DESC LIMIT 1`;

/** The condition that no package of a family is on hold. `family`: the SHA-256 of the manifest that all others supplement. */
export function notHeld(family: string): Condition {
  const { sql, values } = ofFamily(family);
  return {
    sql: `NOT EXISTS (SELECT 1 FROM packages AS one
      WHERE ${sql} AND (${last("one.package_id", "held", "released")}) = 'held')`,
    values,
  };
}

/** The condition that the log says of a package that it was archived. */
export function isLogged(packageId: string): Condition {
  return {
    sql: "EXISTS (SELECT 1 FROM log WHERE package_id = ? AND what = 'archived')",
    values: [packageId],
  };
}

/** The condition that the log says, or does not say, that a package was deleted. */
export function isPruned(packageId: string): Condition {
  return { sql: wasPruned("?"), values: [packageId] };
}

/** The condition that the log says that the package was deleted whose ID is in a column. */
export function wasPruned(column: string): string {
  return `coalesce((${last(column, "pruned", "kept")}), '') = 'pruned'`;
}

/** Those of these packages that are on hold, by their IDs. */
export function heldOf(database: Reads, ids: readonly string[]): Promise<ReadonlyMap<string, HeldEvent>> {
  return lastEvents(database, ids, ["held", "released"], (event) =>
    event.what === "held" ? event : undefined,
  );
}

/** The numbers that were added to these packages, in their order; by the IDs of the packages. */
export async function namedOf(
  database: Reads,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly NamedEvent[]>> {
  const named = new Map<string, NamedEvent[]>();
  for (let from = 0; from < ids.length; from += idsAtOnce) {
    const some = ids.slice(from, from + idsAtOnce);
    const [rows = []] = await database.transaction([
      {
        sql: `SELECT line FROM log WHERE package_id IN (${marksFor(some)}) AND what = 'named' ORDER BY n`,
        values: some,
      },
    ]);
    for (const row of rows) {
      const event = readEvent(String(row["line"]));
      if (event?.what === "named") {
        named.set(event.package, [...(named.get(event.package) ?? []), event]);
      }
    }
  }
  return named;
}

/** By what packages that were deleted are looked up: their IDs, the SHA-256 of their manifests, or their transactions in small letters. */
type PrunedBy = "package_id" | "sha256" | "transaction_id";

/** Those packages that were deleted. Of several with the same transaction, the last one that was. */
export function prunedOf(
  database: Reads,
  values: readonly string[],
  by: PrunedBy = "package_id",
): Promise<ReadonlyMap<string, PrunedEvent>> {
  const pick = (event: LogEvent): PrunedEvent | undefined => (event.what === "pruned" ? event : undefined);
  return lastEvents(database, values, ["pruned", "kept"], pick, by);
}

async function lastEvents<T>(
  database: Reads,
  ids: readonly string[],
  kinds: readonly [string, string],
  pick: (event: LogEvent) => T | undefined,
  by: PrunedBy = "package_id",
): Promise<ReadonlyMap<string, T>> {
  const found = new Map<string, T>();
  for (let from = 0; from < ids.length; from += idsAtOnce) {
    const some = ids.slice(from, from + idsAtOnce);
    const [rows = []] = await database.transaction([
      {
        sql: `SELECT ${by} AS sought, line FROM log WHERE ${by} IN (${marksFor(some)})
          AND what IN ('${kinds[0]}', '${kinds[1]}') ORDER BY n`,
        values: some,
      },
    ]);
    for (const row of rows) {
      const event = readEvent(String(row["line"]));
      const picked = event === undefined ? undefined : pick(event);
      const id = String(row["sought"]);
      if (picked === undefined) {
        found.delete(id);
      } else {
        found.set(id, picked);
      }
    }
  }
  return found;
}

/** Where the packages that are on hold lie, below the folder of packages; the one that was put on hold last comes last. */
export async function heldPaths(database: Reads): Promise<string[]> {
  const [rows = []] = await database.transaction([
    { sql: "SELECT line FROM log WHERE what IN ('held', 'released') ORDER BY n" },
  ]);
  const held = new Map<string, string>();
  for (const row of rows) {
    const event = readEvent(String(row["line"]));
    if (event?.what === "held" || event?.what === "released") {
      held.delete(event.package);
    }
    if (event?.what === "held") {
      held.set(event.package, event.path);
    }
  }
  return [...held.values()];
}
