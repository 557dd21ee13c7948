/**
 * A process that opens a PostgreSQL database as a store does, and has nothing else in its memory. It says how the opening ended, and how far
 * its memory has grown.
 */
import { readPostgresUrl } from "../../src/database/postgres-address.ts";
import { PostgresDatabase } from "../../src/database/postgres-database.ts";
import { migrations } from "../../src/database/schema.ts";
import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";

const [, , url = ""] = process.argv;
const open = () => PostgresDatabase.open({ address: readPostgresUrl(url), migrations, access: "create" });
const nobody = readPostgresUrl("postgres://nobody@127.0.0.1:1/nothing");
// What is loaded only for the first connection.
await PostgresDatabase.open({ address: nobody, migrations, access: "create" }).catch(() => undefined);

const before = process.memoryUsage().rss;
const error: unknown = await open().then(
  () => undefined,
  (rejected: unknown) => rejected,
);
process.send?.({
  sentence: isDimensionerError(error) ? error.sentence : String(error),
  message: error instanceof Error ? error.message : "",
  // In kilobytes.
  grownMb: (process.resourceUsage().maxRSS * 1024 - before) / 1e6,
});
process.disconnect();
