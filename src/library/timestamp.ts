import { checkArguments } from "../errors/check.ts";
import { withSource } from "../evidence/packages.ts";
import type { TimestampResult } from "../model/shapes.ts";
import { TimestampServer, type TimestampServerOptions } from "../vault/timestamp-server/client.ts";
import { timestampArguments } from "./arguments.ts";

/** Whose newest package is time-stamped, and by which server. */
export interface TimestampArchiveOptions extends TimestampServerOptions {
  /** The file of the store's database, or the folder that holds it. Node-RED may have it open. */
  readonly database: string;
  /** A PEM file with the root certificates that the server's signer is checked against. */
  readonly roots?: string | undefined;
  /** Aborting ends it with ERR_CANCELLED. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Has the newest manifest of a store time-stamped (RFC 3161) and keeps the time stamp in the folder of packages. It is verified before it
 * is kept. In the place of a folder, it takes the address of a bucket, as `findPackages` does. If the server has already time-stamped
 * this manifest, nothing is sent, and that time stamp is returned.
 *
 * Rejects with ERR_CONFIG, ERR_INPUT, ERR_FILE, ERR_STORE, ERR_NOT_FOUND (no package), ERR_BAD_RESPONSE (a time stamp that cannot be
 * verified, or none), and the errors of a connection.
 *
 *     const { atUtc, signer } = await timestampArchive("/srv/archive", { database: "/data/dimensioner", server: "https://freetsa.org/tsr" });
 */
export async function timestampArchive(
  folder: string,
  options: TimestampArchiveOptions,
): Promise<TimestampResult> {
  checkArguments({ surface: "store", operation: "timestamp" }, { folder, options }, timestampArguments);
  const { database, roots, signal, ...server } = options;
  const authority = new TimestampServer(server);
  try {
    // Loaded only now: what reads and writes time stamps is seldom needed.
    const { makeTimestamp } = await import("../evidence/make-timestamp.ts");
    return await withSource(
      { folder, database, operation: "timestamp" },
      (source) => makeTimestamp(source, authority, { roots, signal }),
      signal,
    );
  } finally {
    await authority.close();
  }
}
