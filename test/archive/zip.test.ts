import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { open, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { writeZip, zipBytes, type ZipEntry } from "../../src/evidence/export/zip.ts";
import { withFolder } from "../media/support.ts";
import { readZip } from "./read-zip.ts";

const modifiedAt = new Date("2026-11-02T09:14:30Z");

function entryOf(name: string, text: string): ZipEntry {
  const bytes = Buffer.from(text);
  return {
    name,
    bytes: bytes.length,
    crc32: crc32(bytes),
    modifiedAt,
    content: async function* once() {
      yield bytes;
    },
  };
}

async function zipOf(entries: readonly ZipEntry[]): Promise<Buffer> {
  const blocks: Uint8Array[] = [];
  for await (const block of writeZip(entries)) {
    blocks.push(block);
  }
  return Buffer.concat(blocks);
}

/** Other programs for ZIPs that this machine may have: each has to find nothing wrong. */
const programs: readonly (readonly [string, ...string[]])[] = [
  ["unzip", "-tqq"],
  ["python3", "-m", "zipfile", "-t"],
  ["bsdtar", "-tf"],
  ["7z", "t"],
];

function checkWithPrograms(file: string): void {
  for (const [program, ...args] of programs) {
    const { status, error, stdout, stderr } = spawnSync(program, [...args, file], { encoding: "utf8" });
    // A program that is not installed says nothing about the ZIP.
    if (error === undefined) {
      assert.equal(status, 0, `${program}: ${stdout}${stderr}`);
    }
  }
}

describe("archive: a ZIP", () => {
  it("is read by other programs as it was written, with names of any language and times in UTC", () =>
    withFolder(async (folder) => {
      const texts = { "report.html": "<p>", "packages/包裹 Ä €/😀.json": "{}", "packages/empty": "" };
      const entries = Object.entries(texts).map(([name, text]) => entryOf(name, text));
      const file = join(folder, "a.zip");
      const zip = await zipOf(entries);
      await writeFile(file, zip);
      assert.equal(zip.length, zipBytes(entries));
      const read = await readZip(file);
      assert.deepEqual(
        read.map(({ name, content }) => [name, content.toString()]),
        Object.entries(texts),
      );
      assert.deepEqual(new Set(read.map(({ at }) => at.toISOString())), new Set([modifiedAt.toISOString()]));
      checkWithPrograms(file);
    }));

  it("has the same bytes in every time zone", async () => {
    const zone = process.env["TZ"];
    const zips: string[] = [];
    try {
      for (const name of ["UTC", "Europe/Berlin", "Pacific/Apia"]) {
        process.env["TZ"] = name;
        // The hour that summer time skips in Berlin.
        const entry = { ...entryOf("a", "a"), modifiedAt: new Date("2026-03-29T02:30:00Z") };
        zips.push((await zipOf([entry])).toString("hex"));
      }
    } finally {
      if (zone === undefined) {
        delete process.env["TZ"];
      } else {
        process.env["TZ"] = zone;
      }
    }
    assert.equal(new Set(zips).size, 1);
  });

  it("holds a file of more than 4 GB, and files behind it", () =>
    withFolder(async (folder) => {
      const zeros = Buffer.alloc(64 * 1024 * 1024);
      const blocks = 65;
      let sum = 0;
      for (let block = 0; block < blocks; block += 1) {
        sum = crc32(zeros, sum);
      }
      const large: ZipEntry = {
        name: "video.mp4",
        bytes: blocks * zeros.length,
        crc32: sum,
        modifiedAt,
        content: async function* many() {
          for (let block = 0; block < blocks; block += 1) {
            yield zeros;
          }
        },
      };
      const entries = [entryOf("before", "1"), large, entryOf("behind", "2")];
      const file = join(folder, "large.zip");
      const handle = await open(file, "w");
      let position = 0;
      for await (const block of writeZip(entries)) {
        // Zeros need no space on most disks where nothing is written.
        if (block !== zeros) {
          await handle.write(block, 0, block.length, position);
        }
        position += block.length;
      }
      await handle.close();
      assert.equal((await stat(file)).size, zipBytes(entries));
      const read = await readZip(file, (name) => name !== "video.mp4");
      assert.deepEqual(
        read.map(({ name, bytes, content }) => [name, bytes, content.toString()]),
        [
          ["before", 1, "1"],
          ["video.mp4", large.bytes, ""],
          ["behind", 1, "2"],
        ],
      );
    }));

  it("holds more files than the first form of the format can count", () =>
    withFolder(async (folder) => {
      const entries = Array.from({ length: 66_000 }, (_, index) => entryOf(`packages/${index}`, ""));
      const file = join(folder, "many.zip");
      await writeFile(file, await zipOf(entries));
      const names = (await readZip(file, () => false)).map(({ name }) => name);
      assert.equal(names.length, 66_000);
      assert.equal(names.at(-1), "packages/65999");
    }));
});
