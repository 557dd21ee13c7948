import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, readFile, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import { type FileTarget, saveToFile } from "../../src/media/save-to-file.ts";
import type { Download } from "../../src/model/download.ts";
import { bmp, jpeg, mp4s, png } from "./samples.ts";
import {
  blocks,
  facts,
  failing,
  listAll,
  rejectsWith,
  sending,
  untilListed,
  watchedDisk,
  withFolder,
} from "./support.ts";

const lost = new DimensionerError("connectionLost", { surface: "cloud", operation: "x" }, { host: "h" });

function target(folder: string, more: Partial<FileTarget> = {}): FileTarget {
  return { folder, suggestedBase: "annotated 42", ifExists: "rename", ...more };
}

describe("saving a download to a file", () => {
  it("gives path, size, hash and type, and leaves nothing but the file", async () => {
    await withFolder(async (folder) => {
      const saved = await saveToFile(
        sending([png.subarray(0, 9), png.subarray(9)], { contentType: "image/png" }),
        target(folder),
        facts,
      );
      assert.deepEqual(saved, {
        path: join(folder, "annotated 42.png"),
        bytes: png.length,
        sha256: createHash("sha256").update(png).digest("hex"),
        contentType: "image/png",
      });
      assert.deepEqual(await listAll(folder), ["annotated 42.png"]);
      assert.ok((await readFile(saved.path)).equals(png));
    });
  });

  it("names and types by content, also where something else was announced", async () => {
    await withFolder(async (folder) => {
      const saved = await saveToFile(sending([bmp], { contentType: "image/jpeg" }), target(folder), facts);
      assert.deepEqual([saved.path, saved.contentType], [join(folder, "annotated 42.bmp"), "image/bmp"]);
      const unknown = await saveToFile(sending([Buffer.from("?")]), target(folder), facts);
      assert.deepEqual(
        [unknown.path, unknown.contentType],
        [join(folder, "annotated 42.bin"), "application/octet-stream"],
      );
      const unsaid = await saveToFile(sending([mp4s.quicktime]), target(folder), facts);
      assert.deepEqual(
        [unsaid.path, unsaid.contentType],
        [join(folder, "annotated 42.mov"), "video/quicktime"],
      );
    });
  });

  it("takes a given name as it is, with sub-folders of either separator", async () => {
    await withFolder(async (folder) => {
      const saved = await saveToFile(
        sending([jpeg]),
        target(folder, { filename: "2026/11\\box.dat" }),
        facts,
      );
      assert.equal(saved.path, join(folder, "2026", "11", "box.dat"));
      assert.deepEqual(await listAll(folder), ["2026", "2026/11", "2026/11/box.dat"]);
    });
  });

  it("treats names that look alike in Unicode as one", async () => {
    await withFolder(async (folder) => {
      const one = await saveToFile(
        sending([jpeg]),
        target(folder, { filename: "Gr\u00f6\u00dfe.jpg" }),
        facts,
      );
      const two = await saveToFile(
        sending([jpeg]),
        target(folder, { filename: "Gro\u0308\u00dfe.jpg" }),
        facts,
      );
      assert.equal(two.path, one.path);
      assert.equal((await listAll(folder)).length, 1);
    });
  });

  it("syncs the bytes before they get their name, then the name, and each new folder's", async () => {
    await withFolder(async (folder) => {
      const calls: string[] = [];
      const disk = watchedDisk((call, [path]) => {
        const shown =
          typeof path === "string" ? path.replace(folder, "").replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, "*") : "";
        if (call !== "lstat" && call !== "readdir") {
          calls.push(`${call} ${shown}`.trim());
        }
      });
      await saveToFile(sending([jpeg]), target(folder, { filename: "new/x.jpg" }), { ...facts, disk });
      assert.deepEqual(calls, [
        "stat",
        "realpath",
        "mkdir /new",
        "realpath /new",
        "open",
        "file.sync",
        "file.close",
        "open /new/.dimensioner-*.part",
        "file.writev",
        "file.sync",
        "file.stat",
        "file.close",
        "link /new/.dimensioner-*.part",
        "unlink /new/.dimensioner-*.part",
        "open /new",
        "file.sync",
        "file.close",
      ]);
    });
  });

  it("names no file before its bytes are on the disk", async () => {
    await withFolder(async (folder) => {
      const reached = Promise.withResolvers<void>();
      const synced = Promise.withResolvers<void>();
      const disk = watchedDisk(async (call) => {
        if (call === "file.sync") {
          reached.resolve();
          await synced.promise;
        }
      });
      const saving = saveToFile(sending([jpeg]), target(folder), { ...facts, disk });
      await reached.promise;
      await delay(20);
      assert.match((await listAll(folder)).join(), /^\.dimensioner-[0-9a-f-]{36}\.part$/);
      synced.resolve();
      await saving;
      assert.deepEqual(await listAll(folder), ["annotated 42.jpg"]);
    });
  });

  it("does not trust a file that is shorter on the disk than what was written", async () => {
    await withFolder(async (folder) => {
      const disk = watchedDisk(async (call) => {
        const [part = ""] = await listAll(folder);
        if (call === "file.stat") {
          await truncate(join(folder, part), 9);
        }
      });
      const work = saveToFile(sending([jpeg]), target(folder), { ...facts, disk });
      assert.match((await rejectsWith(work, "ERR_FILE", "fileOther")).message, /only 9 of/);
      assert.deepEqual(await listAll(folder), []);
    });
  });

  it("starts hash, check and file anew when the transfer does", async () => {
    await withFolder(async (folder) => {
      const page = Buffer.from("<html>a page that was not meant");
      const download = failing([page, Buffer.alloc(10_000_000)], lost, sending([mp4s.fragments]));
      const saved = await saveToFile(download, target(folder), facts);
      assert.equal(saved.sha256, createHash("sha256").update(mp4s.fragments).digest("hex"));
      assert.ok((await readFile(saved.path)).equals(mp4s.fragments));
      assert.deepEqual(await listAll(folder), ["annotated 42.mp4"]);
    });
  });

  it("lets a slow disk finish what came before the transfer began again", async () => {
    const bytes = 1_500_000;
    const again = Buffer.alloc(bytes, "again");
    async function* slowly(): AsyncGenerator<Uint8Array> {
      yield again.subarray(0, bytes - 1);
      await delay(120);
      yield again.subarray(bytes - 1);
    }
    const first = await sending(blocks(3_000_000), { restart: sending(slowly()) })();
    let writes = 0;
    const disk = watchedDisk(async (call) => {
      if (call === "file.writev" && ++writes <= 2) {
        await delay(40);
        first.body.destroy(lost);
        await delay(20);
      }
    });
    await withFolder(async (folder) => {
      const saved = await saveToFile(async () => first, target(folder), { ...facts, disk });
      assert.ok((await readFile(saved.path)).equals(again));
      assert.equal(saved.sha256, createHash("sha256").update(again).digest("hex"));
    });
  });

  describe("a body that is not a complete medium leaves no file", () => {
    const bad: [
      string,
      Parameters<typeof sending>[0],
      Parameters<typeof sending>[1],
      Parameters<typeof rejectsWith>[2],
    ][] = [
      ["an empty body", [], {}, "responseEmpty"],
      [
        "a web page by its content",
        [Buffer.from(" <!DOCTYPE html><p>")],
        { contentType: "video/mp4" },
        "responseHtml",
      ],
    ];
    for (const [name, chunks, said, sentence] of bad) {
      it(name, async () => {
        await withFolder(async (folder) => {
          const error = await rejectsWith(
            saveToFile(sending(chunks, said), target(folder, { filename: "x.jpg" }), facts),
            "ERR_BAD_RESPONSE",
            sentence,
          );
          assert.deepEqual(
            [error.details.surface, error.details.operation, error.details.url],
            ["cloud", facts.operation, facts.url],
          );
          assert.match(error.message, /the cloud/);
          assert.deepEqual(await listAll(folder), []);
        });
      });
    }
  });

  it("hands on the transport's error untouched and drops what there was", async () => {
    await withFolder(async (folder) => {
      const download = failing([Buffer.alloc(5_000_000)], lost, () => Promise.reject(lost));
      await assert.rejects(saveToFile(download, target(folder), facts), (error) => error === lost);
      assert.deepEqual(await listAll(folder), []);
    });
  });

  it("sends nothing when name or folder cannot be used", async () => {
    await withFolder(async (folder) => {
      const file = join(folder, "file");
      await writeFile(file, "");
      let sent = 0;
      const download = (): Promise<Download> => {
        sent += 1;
        return sending([jpeg])();
      };
      const save = (more: Partial<FileTarget>): Promise<unknown> =>
        saveToFile(download, target(folder, more), facts);
      await rejectsWith(save({ filename: "../x" }), "ERR_INPUT", "inputValue");
      const blank = await rejectsWith(save({ folder: " " }), "ERR_CONFIG", "configFolder");
      assert.equal(blank.details.surface, "config");
      const missing = await rejectsWith(save({ folder: join(folder, "gone") }), "ERR_FILE", "fileNoFolder");
      assert.deepEqual([missing.details.surface, missing.details.hint], ["disk", join(folder, "gone")]);
      await rejectsWith(save({ folder: `${folder}\0` }), "ERR_FILE", "fileNoFolder");
      await rejectsWith(save({ folder: file }), "ERR_FILE", "fileNotFolder");
      await rejectsWith(save({ folder: join(file, "below") }), "ERR_FILE", "fileNotFolder");
      await rejectsWith(save({ filename: "file/x.jpg" }), "ERR_FILE", "fileNotFolder");
      assert.equal(sent, 0);
      assert.deepEqual(await listAll(folder), ["file"]);
    });
  });

  describe("links", () => {
    it("may be the root folder", async () => {
      await withFolder(async (folder) => {
        await mkdir(join(folder, "real"));
        await symlink(join(folder, "real"), join(folder, "root"), "junction");
        const saved = await saveToFile(
          sending([jpeg]),
          target(join(folder, "root"), { filename: "a/b.jpg" }),
          facts,
        );
        assert.equal(saved.path, join(folder, "root", "a", "b.jpg"));
        assert.ok((await stat(join(folder, "real", "a", "b.jpg"))).isFile());
      });
    });

    it("that lead nowhere cannot be the root folder", async () => {
      await withFolder(async (folder) => {
        await symlink(join(folder, "gone"), join(folder, "root"), "junction");
        await rejectsWith(
          saveToFile(sending([jpeg]), target(join(folder, "root")), facts),
          "ERR_FILE",
          "fileNoFolder",
        );
      });
    });

    it("in the folder may lead to a place inside it, but not out of it, to its parent, to a folder with a similar name, or nowhere", async () => {
      await withFolder(async (folder) => {
        const root = join(folder, "root");
        await mkdir(join(root, "inside"), { recursive: true });
        await mkdir(join(folder, "root-2"));
        await symlink(join(folder, "root-2"), join(root, "out"), "junction");
        await symlink(folder, join(root, "up"), "junction");
        await symlink(join(folder, "gone"), join(root, "nowhere"), "junction");
        await symlink(join(root, "round"), join(root, "round"), "junction");
        await symlink(join(root, "inside"), join(root, "in"), "junction");
        for (const filename of ["out/x.jpg", "up/x.jpg", "nowhere/x.jpg", "round/x.jpg", "in/../../x.jpg"]) {
          const code = filename.includes("..") ? "ERR_INPUT" : "ERR_FILE";
          await rejectsWith(
            saveToFile(sending([jpeg]), target(root, { filename }), facts),
            code,
            code === "ERR_FILE" ? "fileOutside" : "inputValue",
          );
        }
        await saveToFile(sending([jpeg]), target(root, { filename: "in/x.jpg" }), facts);
        assert.deepEqual(await listAll(join(folder, "root-2")), []);
        assert.deepEqual(await listAll(join(root, "inside")), ["x.jpg"]);
      });
    });
  });

  describe("an abort", () => {
    it("before the start sends nothing", async () => {
      await withFolder(async (folder) => {
        const download = (): Promise<Download> => assert.fail("it was started");
        const signal = AbortSignal.abort();
        const error = await rejectsWith(
          saveToFile(download, target(folder), { ...facts, signal }),
          "ERR_CANCELLED",
          "cancelledClose",
        );
        assert.equal(error.details.surface, "cloud");
      });
    });

    const steps = ["file.writev", "file.sync", "file.close", "lstat"].flatMap((step) =>
      (["rename", "replace"] as const).map((ifExists) => ({ step, ifExists })),
    );
    for (const { step, ifExists } of steps) {
      it(`at ${step}, ${ifExists}, leaves neither file nor part`, async () => {
        await withFolder(async (folder) => {
          // Equal size, so that the look at the other file is reached.
          await writeFile(join(folder, "x.jpg"), "x".repeat(step === "lstat" ? jpeg.length : 9));
          const controller = new AbortController();
          const disk = watchedDisk((call) => void (call === step && controller.abort()));
          await rejectsWith(
            saveToFile(sending([jpeg]), target(folder, { filename: "x.jpg", ifExists }), {
              ...facts,
              disk,
              signal: controller.signal,
            }),
            "ERR_CANCELLED",
            "cancelledClose",
          );
          await untilListed(folder, ["x.jpg"]);
          assert.match(await readFile(join(folder, "x.jpg"), "utf8"), /^x+$/);
        });
      });
    }

    it("throws its own reason where it has one", async () => {
      await withFolder(async (folder) => {
        const reason = new DimensionerError("cancelledReset", { surface: "cloud", operation: "x" });
        const signal = AbortSignal.abort(reason);
        await assert.rejects(
          saveToFile(sending([jpeg]), target(folder), { ...facts, signal }),
          (error) => error === reason,
        );
      });
    });
  });
});
