import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { saveToFile } from "../../src/media/save-to-file.ts";
import {
  blocks,
  facts,
  listAll,
  rejectsWith,
  sending,
  systemError,
  watchedDisk,
  withFolder,
} from "../media/support.ts";

const kilobyte = 1024;

/** Saves that between them make every kind of call to the disk: names that are free, taken, and under a claim. */
const saves = {
  "a free name": { ifExists: "rename", isThere: false, canLink: true },
  "a taken name": { ifExists: "rename", isThere: true, canLink: true },
  "a file to replace": { ifExists: "replace", isThere: true, canLink: true },
  "a disk without links": { ifExists: "error", isThere: false, canLink: false },
} as const;

type Save = (typeof saves)[keyof typeof saves];

/** Runs one save, with `before` told of each call to the disk. */
async function run(
  folder: string,
  { ifExists, isThere, canLink }: Save,
  before: (call: string) => unknown,
  signal?: AbortSignal,
): Promise<unknown> {
  if (isThere) {
    await writeFile(join(folder, "video.bin"), "x".repeat(64 * kilobyte));
  }
  const disk = watchedDisk(async (call) => {
    await before(call);
    if (call === "link" && !canLink) {
      throw systemError("EPERM");
    }
  });
  const filename = isThere ? "video.bin" : "parcels/video.bin";
  const target = { folder, filename, suggestedBase: "video", ifExists };
  return await saveToFile(sending(blocks(64 * kilobyte)), target, { ...facts, disk, signal });
}

describe("C3: a save on a disk that hangs", () => {
  const seen = new Set<string>();

  for (const [what, save] of Object.entries(saves)) {
    it(`ends with its abort, whichever call to the disk hangs (${what})`, async () => {
      const calls: string[] = [];
      await withFolder(async (folder) => {
        await run(folder, save, (call) => void calls.push(call));
      });
      calls.forEach((call) => seen.add(call));
      await Promise.all(calls.map((_call, index) => abortWhileHung(save, index)));
    });
  }

  it("has seen every call that a save makes", () => {
    const all = ["link", "lstat", "mkdir", "open", "readdir", "realpath", "rename", "stat", "unlink"];
    const ofFiles = ["file.close", "file.read", "file.stat", "file.sync", "file.writev"];
    assert.deepEqual([...seen].sort(), [...all, ...ofFiles].sort());
  });
});

/** The save ends with its abort while the disk still hangs, and leaves no partial file once the disk answers again. */
async function abortWhileHung(save: Save, hungIndex: number): Promise<void> {
  await withFolder(async (folder) => {
    const controller = new AbortController();
    const disk = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<string>();
    let index = -1;
    const saving = run(
      folder,
      save,
      (call) => {
        index += 1;
        if (index === hungIndex) {
          reached.resolve(call);
          return disk.promise;
        }
        return undefined;
      },
      controller.signal,
    );
    const call = await reached.promise;
    controller.abort();
    await rejectsWith(saving, "ERR_CANCELLED", "cancelledClose");
    disk.resolve();
    await noPartIn(folder, call);
  });
}

async function noPartIn(folder: string, call: string): Promise<void> {
  const until = performance.now() + 60_000;
  let parts: string[];
  do {
    await delay(10);
    parts = (await listAll(folder)).filter((name) => name.includes(".dimensioner-"));
  } while (parts.length > 0 && performance.now() < until);
  assert.deepEqual(parts, [], `left behind after ${call} hung`);
}
