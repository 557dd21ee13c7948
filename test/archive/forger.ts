import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sha256Of } from "../../src/model/sha256.ts";
import { plainDisk } from "../../src/vault/archive-disk.ts";
import { type LogEvent, columnsOf, entryOf } from "../../src/vault/log/events.ts";
import { storesWithLog } from "../../src/vault/log/log-files.ts";
import { GrowingTree, leafHash } from "../../src/vault/log/tree.ts";
import { readLogged } from "./logged.ts";
import { databaseOf } from "./store.ts";

/**
 * Writes another log, beside the packages and into the database, as somebody would who may write to both: with new numbers, and with the
 * roots that the lines about time stamps would have to name.
 */
export async function forgeLog(
  root: string,
  change: (events: readonly LogEvent[]) => readonly LogEvent[],
): Promise<void> {
  const [store = ""] = await storesWithLog(root, plainDisk);
  const tree = new GrowingTree();
  const roots = [tree.root().toString("base64")];
  const forged = change(await readLogged(root, plainDisk)).map((event, n) => {
    const fitting = event.what === "stamped" ? { ...event, root: roots[event.size] ?? event.root } : event;
    const { line } = entryOf(fitting);
    tree.add(leafHash(line));
    roots.push(tree.root().toString("base64"));
    return { n, line, ...columnsOf(fitting) };
  });
  const folder = join(root, ".dimensioner-archive", "log", store);
  await rm(folder, { recursive: true });
  await mkdir(folder);
  await writeFile(join(folder, "forged.log"), forged.map(({ n, line }) => `${n} ${line}\n`).join(""));
  const database = new DatabaseSync(databaseOf(root));
  try {
    database.exec("DELETE FROM log; DELETE FROM log_blocks");
    const insert = database.prepare(
      "INSERT INTO log (n, what, package_id, sha256, transaction_id, writer, line) VALUES (?, ?, ?, ?, ?, 'forged', ?)",
    );
    for (const { n, what, packageId, sha256, transactionId, line } of forged) {
      insert.run(n, what, packageId, sha256, transactionId, line);
    }
    database.prepare("UPDATE log_head SET size = ?").run(forged.length);
    database.prepare("UPDATE log_writers SET published = ?").run(forged.length);
  } finally {
    database.close();
  }
}

/** Changes files of a package, and the hashes in its manifest with them; `change` gets what the manifest says. Returns its new hash. */
export async function forgePackage(
  root: string,
  path: string,
  change: (manifest: Record<string, unknown>) => void,
  files: Readonly<Record<string, string>> = {},
): Promise<{ readonly before: string; readonly after: string }> {
  const file = join(root, path, "manifest.json");
  const text = await readFile(file, "utf8");
  const manifest = JSON.parse(text) as Record<string, unknown>;
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(root, path, name), content);
    manifest["measurement"] = { path: name, bytes: Buffer.byteLength(content), sha256: sha256Of(content) };
  }
  change(manifest);
  const forged = `${JSON.stringify(manifest, null, 2)}\n`;
  await writeFile(file, forged);
  return { before: sha256Of(text), after: sha256Of(forged) };
}

/** Gives the row of a package the hash of another manifest. */
export function forgeRow(
  root: string,
  { before, after }: { readonly before: string; readonly after: string },
): void {
  const database = new DatabaseSync(databaseOf(root));
  try {
    database.prepare("UPDATE packages SET manifest_sha256 = ? WHERE manifest_sha256 = ?").run(after, before);
  } finally {
    database.close();
  }
}

/** The events with the hash of another manifest in those that name it. */
export function withManifest(
  events: readonly LogEvent[],
  { before, after }: { readonly before: string; readonly after: string },
): LogEvent[] {
  return events.map((event) =>
    "sha256" in event && event.sha256 === before ? { ...event, sha256: after } : event,
  );
}
