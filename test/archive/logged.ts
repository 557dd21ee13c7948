import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type LogEvent, readEvent } from "../../src/vault/log/events.ts";

/** The events of a log from the contents of its files, after it was checked that no line is missing, or there in two ways. */
export function eventsOf(contents: Iterable<string>): readonly LogEvent[] {
  const lines: string[] = [];
  for (const content of contents) {
    // What a kill has cut off is there once more.
    for (const [, n, line = ""] of content.matchAll(/^(\d+) (\{.*\})\n/gm)) {
      assert.ok((lines[Number(n)] ?? line) === line, `line ${n} is there in two ways`);
      lines[Number(n)] = line;
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

/** The log of the only store beside the packages in a folder. */
export async function readLogged(root: string): Promise<readonly LogEvent[]> {
  const logs = join(root, ".dimensioner-archive", "log");
  const [store, ...others] = await readdir(logs);
  assert.ok(store !== undefined && others.length === 0, "one log");
  const names = await readdir(join(logs, store));
  return eventsOf(await Promise.all(names.map((name) => readFile(join(logs, store, name), "utf8"))));
}

/** Checks that a log says of each of these packages once that it was archived, and of no other one. */
export function assertLogged(events: readonly LogEvent[], paths: Iterable<string>): void {
  const archived = events.flatMap((event) => (event.what === "archived" ? [event.path] : []));
  assert.deepEqual(archived.toSorted(), [...paths].toSorted(), "one line of each package");
}
