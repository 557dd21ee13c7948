import assert from "node:assert/strict";
import type { ReadDisk } from "../../src/vault/archive-disk.ts";
import { type LogEvent, readEvent } from "../../src/vault/log/events.ts";
import { LogFilesReader, storesWithLog } from "../../src/vault/log/log-files.ts";

/** The log of the only store beside some packages, after it was checked that no line is missing, or there in two ways. */
export async function readLogged(root: string, disk: ReadDisk): Promise<readonly LogEvent[]> {
  const [store, ...others] = await storesWithLog(root, disk);
  assert.ok(store !== undefined && others.length === 0, "one log");
  const reader = new LogFilesReader(root, store, disk);
  const lines: string[] = [];
  for await (const read of reader.read()) {
    for (const { n, line } of read) {
      assert.ok((lines[n] ?? line) === line, `line ${n} is there in two ways`);
      lines[n] = line;
    }
  }
  const events = Array.from(lines, (line, n) => {
    const event = line === undefined ? undefined : readEvent(line);
    assert.ok(event !== undefined, `no line ${n}: ${line}`);
    return event;
  });
  assert.equal(events[0]?.what, "begun");
  assert.equal(events.filter(({ what }) => what === "begun").length, 1, "one beginning");
  return events;
}

/** Checks that the log says of each of these packages once that it was archived, and of no other one. */
export async function assertLogged(root: string, disk: ReadDisk, paths: Iterable<string>): Promise<void> {
  const events = await readLogged(root, disk);
  const archived = events.flatMap((event) => (event.what === "archived" ? [event.path] : []));
  assert.deepEqual(archived.toSorted(), [...paths].toSorted(), "one line of each package");
}
