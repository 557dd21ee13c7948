import { bmp, mp4s } from "../media/samples.ts";
import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import { Inbox } from "../../src/database/inbox.ts";
import { decodeTransactionRecord } from "../../src/model/transaction-record.ts";
import { rejectsWith, withFolder } from "../media/support.ts";
import { simulatedCloudOfSuite } from "./simulated-cloud.ts";
import { storeIn } from "./store.ts";
import { openArchive, pictureOf, readPackages, until, workFolders } from "./support.ts";

describe("archive: jobs of the cloud", () => {
  const cloud = simulatedCloudOfSuite();

  it("makes a package of all media, named by what they are, with manifest and measurement", async () => {
    await withFolder(async (root) => {
      const photo = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 2, 0xff, 0xd9]);
      cloud.sim.cloud.addMedia("905865", { contentType: "image/jpeg", bytes: photo });
      const video = cloud.sim.cloud.addMedia("905865", { contentType: "video/mp4", generateBytes: 300_000 });
      const archive = await openArchive(root, cloud.client);
      const raw = '{"errorCode":0, "length": 10.10}';
      const submission = await archive.runner.submit(
        cloud.intentFor("905865", { measurement: '{"ok":true}\n', raw, legalForTrade: true }),
      );
      const archived = await submission.end();
      submission.messageSent();
      await archive.close();

      assert.equal(archived.path, "2026-11-02/ORDER-1-905865");
      assert.deepEqual((await readdir(archived.folder)).sort(), [
        "ColorImageJpeg.jpg",
        "ColorVideoMp4.mp4",
        "manifest.json",
        "measurement.json",
        "measurement.raw",
      ]);
      assert.equal(await readFile(join(archived.folder, "measurement.raw"), "utf8"), raw);
      assert.deepEqual(await readFile(join(archived.folder, "ColorImageJpeg.jpg")), photo);
      const manifest = (await readPackages(root)).get(archived.path);
      assert.equal(manifest?.complete, true);
      assert.equal(manifest.legalForTrade, true);
      assert.equal(manifest.cloud, cloud.client.peer.origin);
      const item = manifest.items.find(({ contentId }) => contentId === video.contentId);
      assert.equal(item?.contentTypeFound, "video/mp4");
      assert.equal(item.url, `/api/transactionmedia/905865/${video.contentId}`);
      assert.deepEqual(await workFolders(root), []);
    });
  });

  it("gives the same job once more the same files: at once, later, and after a restart", async () => {
    await withFolder(async (root) => {
      cloud.sim.cloud.addMedia("7", { contentType: "video/mp4", generateBytes: 200_000 });
      let archive = await openArchive(root, cloud.client);
      const submissions = await Promise.all([1, 2, 3].map(() => archive.runner.submit(cloud.intentFor("7"))));
      const ends = await Promise.all(submissions.map((submission) => submission.end()));
      assert.deepEqual(ends.map(({ wasThere }) => wasThere).sort(), [false, true, true]);
      assert.equal(new Set(ends.map(({ folder }) => folder)).size, 1);
      for (const submission of submissions) {
        submission.messageSent();
      }
      const later = await (await archive.runner.submit(cloud.intentFor("7"))).end();
      assert.equal(later.wasThere, true);
      await archive.close();
      archive = await openArchive(root, cloud.client);
      assert.deepEqual([...archive.runner.resume(() => true)], []);
      const restarted = await (await archive.runner.submit(cloud.intentFor("7"))).end();
      assert.equal(restarted.wasThere, true);
      assert.equal(restarted.folder, later.folder);
      await archive.close();
      assert.equal((await readPackages(root)).size, 1);
      assert.equal(cloud.sim.requestsTo("cloud").length, 2);
    });
  });

  for (const isEarly of [true, false]) {
    const when = isEarly ? "just before" : "after";
    it(`does a job once that is sent again ${when} it is resumed`, async () => {
      await withFolder(async (root) => {
        const wait = { waitMs: 60_000 };
        const first = await openArchive(root, cloud.client);
        const cut = await first.runner.submit(cloud.intentFor("7", wait));
        await first.close();
        await rejectsWith(cut.end(), "ERR_CANCELLED", "cancelledKept");
        const archive = await openArchive(root, cloud.client);
        const submit = () => archive.runner.submit(cloud.intentFor("7", wait));
        const early = isEarly ? submit() : undefined;
        const [resumed] = [...archive.runner.resume(() => true)];
        const again = await (early ?? submit());
        assert.equal([...archive.runner.jobs].length, 1);
        cloud.sim.cloud.addMedia("7", { contentType: "video/mp4", generateBytes: 9_000 });
        const [one, other] = await Promise.all([resumed?.end(), again.end()]);
        assert.equal(one?.folder, other.folder);
        await archive.close();
        assert.equal((await readPackages(root)).size, 1);
      });
    });
  }

  it("counts the webhook's records as handled, also where the job is at work or done already", async () => {
    await withFolder(async (root) => {
      const store = storeIn(root);
      const archive = await openArchive(root, cloud.client, { store });
      const connection = await store.connect();
      const inbox = new Inbox(connection.database, { nodeId: "in", runId: "run 1" });
      const later = new Inbox(connection.database, { nodeId: "in", runId: "run 2" });
      const submit = async () => {
        await inbox.add(decodeTransactionRecord({ id: 7, errorCode: 0 }), 0);
        assert.equal((await later.unsent(0, 9)).records.length, 1);
        const submission = await archive.runner.submit(cloud.intentFor("7", { waitMs: 60_000 }));
        assert.deepEqual((await later.unsent(0, 9)).records, []);
        return submission;
      };
      const first = await submit();
      const joined = await submit();
      cloud.sim.cloud.addMedia("7", { contentType: "image/jpeg", bytes: pictureOf("7") });
      first.running?.wake();
      assert.deepEqual([(await first.end()).wasThere, (await joined.end()).wasThere], [false, true]);
      first.messageSent();
      assert.equal((await (await submit()).end()).wasThere, true);
      await connection.release();
      await archive.close();
    });
  });

  it("keeps transactions apart that would have the same folder", async () => {
    await withFolder(async (root) => {
      const archive = await openArchive(root, cloud.client);
      for (const id of ["a", "b", "c"]) {
        cloud.sim.cloud.addMedia(id, { contentType: "video/mp4", generateBytes: 9_000 });
      }
      const submissions = await Promise.all(
        ["a", "b", "c"].map((id) => archive.runner.submit(cloud.intentFor(id, { folder: ["same.5"] }))),
      );
      await Promise.all(submissions.map((submission) => submission.end()));
      await archive.close();
      assert.deepEqual([...(await readPackages(root)).keys()].sort(), ["same.5", "same.5 (1)", "same.5 (2)"]);
    });
  });

  for (const afterMs of [0, 150, 600]) {
    it(`waits for media that come after ${afterMs} ms`, async () => {
      await withFolder(async (root) => {
        cloud.sim.cloud.addMedia("9", {
          contentType: "image/bmp",
          bytes: bmp,
        });
        const archive = await openArchive(root, cloud.client);
        const submission = await archive.runner.submit(
          cloud.intentFor("9", { expect: ["video/mp4", "image/bmp"], waitMs: 600_000 }),
        );
        setTimeout(
          () => cloud.sim.cloud.addMedia("9", { contentType: "video/mp4", generateBytes: 9_000 }),
          afterMs,
        );
        const { manifest } = await submission.end();
        assert.equal(manifest.items.length, 2);
        assert.equal(manifest.complete, true);
        await archive.close();
      });
    });
  }

  it("never completes a package with a document or an unknown format in place of a picture, or with a picture or a film without its index in place of a film", async () => {
    await withFolder(async (root) => {
      const document = '{"errorCode":1203,"errorMessage":"image expired"}';
      cloud.sim.cloud.addMedia("31", { contentType: "image/jpeg", bytes: Buffer.from(document) });
      cloud.sim.cloud.addMedia("32", { contentType: "image/jpeg", bytes: Buffer.from([0, 1, 2, 3, 4]) });
      cloud.sim.cloud.addMedia("33", { contentType: "application/json", bytes: Buffer.from("{}") });
      cloud.sim.cloud.addMedia("34", { contentType: "video/mp4", bytes: bmp });
      const bytes = mp4s["index last"].subarray(0, -4);
      cloud.sim.cloud.addMedia("35", { contentType: "video/mp4", bytes });
      const archive = await openArchive(root, cloud.client);
      const keep = { onIncomplete: "keep", waitMs: 1_500, giveUpMs: 1_500 } as const;
      const ends = await Promise.all(
        ["31", "32", "33", "34", "35"].map(async (id) => {
          const submission = await archive.runner.submit(cloud.intentFor(id, keep));
          return submission.end().then(
            ({ manifest }) => manifest,
            (error: unknown) => String(error),
          );
        }),
      );
      const [expired, unknown, listed, poster, film] = ends;
      assert.ok(typeof expired === "string");
      assert.match(expired, /a JSON document .*: image expired \(error code 1203\)/);
      assert.ok(typeof unknown === "object" && !unknown.complete);
      assert.deepEqual(unknown.missing, ["ColorImageJpeg"]);
      assert.deepEqual(
        unknown.items.map(({ recognized }) => recognized),
        [false],
      );
      assert.ok(typeof listed === "object" && listed.complete);
      assert.ok(typeof poster === "object" && !poster.complete);
      assert.deepEqual(poster.missing, ["ColorVideoMp4"]);
      assert.ok(typeof film === "object" && !film.complete && film.items[0]?.recognized === false);
      await archive.close();
    });
  });

  it("shows no progress of a download that has ended while it waits for other media", async () => {
    await withFolder(async (root) => {
      cloud.sim.cloud.addMedia("9", { contentType: "image/jpeg", generateBytes: 20_000 });
      let mostBytes = 0;
      const archive = await openArchive(root, cloud.client, {
        onChange: ({ doneBytes }) => (mostBytes = Math.max(mostBytes, doneBytes)),
      });
      const submission = await archive.runner.submit(
        cloud.intentFor("9", { expect: ["image/jpeg", "video/mp4"], waitMs: 600_000 }),
      );
      const [running] = archive.runner.jobs;
      await until(
        () => running?.state === "waiting" && running.job.items.size === 1,
        "it waits for the video",
      );
      assert.ok(mostBytes >= 20_000);
      assert.deepEqual([running?.doneBytes, running?.totalBytes], [0, null]);
      await archive.close();
      await assert.rejects(submission.end());
    });
  });

  it("asks for the media of many new jobs one right after the other, however slowly it asks again", async () => {
    await withFolder(async (root) => {
      const archive = await openArchive(root, cloud.client, {
        poll: { firstMs: 20, longestMs: 50, paceMs: 60_000 },
      });
      const ids = Array.from({ length: 20 }, (_, index) => `job-${index}`);
      const submissions = await Promise.all(
        ids.map((id) => {
          cloud.sim.cloud.addMedia(id, { contentType: "image/jpeg", generateBytes: 1_000 });
          return archive.runner.submit(cloud.intentFor(id, { folder: [id] }));
        }),
      );
      const ends = await Promise.all(submissions.map((submission) => submission.end()));
      assert.ok(ends.every(({ manifest }) => manifest.complete));
      await archive.close();
    });
  });

  it("names what is missing when the wait is over", async () => {
    await withFolder(async (root) => {
      cloud.sim.cloud.addMedia("9", {
        contentType: "image/jpeg",
        bytes: Buffer.from([0xff, 0xd8, 0xff, 0xd9]),
      });
      const archive = await openArchive(root, cloud.client);
      const submission = await archive.runner.submit(
        cloud.intentFor("9", { expect: ["video/mp4"], waitMs: 200 }),
      );
      const error = await rejectsWith(submission.end(), "ERR_MEDIA_INCOMPLETE", "mediaIncomplete");
      assert.match(error.message, /video\/mp4/);
      submission.messageSent();
      const nothing = await archive.runner.submit(cloud.intentFor("10", { waitMs: 100 }));
      await rejectsWith(nothing.end(), "ERR_MEDIA_INCOMPLETE", "mediaIncomplete");
      nothing.messageSent();
      await archive.close();
      assert.equal((await readPackages(root)).size, 0);
      assert.deepEqual(await workFolders(root), []);
    });
  });

  it("keeps what there is, where that is wanted, and says so", async () => {
    await withFolder(async (root) => {
      cloud.sim.cloud.addMedia("9", {
        contentType: "image/jpeg",
        bytes: Buffer.from([0xff, 0xd8, 0xff, 0xd9]),
      });
      const archive = await openArchive(root, cloud.client);
      const submission = await archive.runner.submit(
        cloud.intentFor("9", { expect: ["video/mp4"], waitMs: 100, onIncomplete: "keep" }),
      );
      const { manifest } = await submission.end();
      assert.deepEqual(
        [manifest.complete, manifest.missing, manifest.items.length],
        [false, ["video/mp4"], 1],
      );
      await archive.close();
      await readPackages(root);
    });
  });

  it("goes on by itself after lost connections, 5xx, 429, 401 and the sign-in page of a network", async () => {
    await withFolder(async (root) => {
      cloud.sim.cloud.addMedia("9", { contentType: "video/mp4", generateBytes: 90_000 });
      const archive = await openArchive(root, cloud.client);
      const path = "/api/transactionmedia/9";
      for (const fault of [
        { kind: "status", status: 401 },
        { kind: "status", status: 429, headers: { "retry-after": "0" } },
        { kind: "status", status: 503 },
        { kind: "reset" },
        { kind: "status", status: 302, headers: { location: "https://sign-in.example/" } },
        { kind: "body", text: "<!doctype html><html></html>", contentType: "text/html" },
      ] as const) {
        cloud.sim.faults.add({ surface: "cloud", path, times: 1, fault });
      }
      const causes = new Set<string>();
      const second = await openArchive(root, cloud.client).catch((error: unknown) => error);
      assert.match(String(second), /in use by another process/);
      const submission = await archive.runner.submit(cloud.intentFor("9"));
      const running = submission.running;
      const watch = setInterval(() => void causes.add(running?.trouble?.code ?? ""), 1);
      const { manifest } = await submission.end();
      clearInterval(watch);
      assert.equal(manifest.items.length, 1);
      assert.ok(causes.has("ERR_UNAUTHORIZED") && causes.has("ERR_HTTP"), [...causes].join());
      await archive.close();
    });
  });

  it("takes a medium that is listed and not there yet for one that is still to come", async () => {
    await withFolder(async (root) => {
      const { contentId } = cloud.sim.cloud.addMedia("9", { contentType: "video/mp4", generateBytes: 9_000 });
      const path = `/api/transactionmedia/9/${contentId}`;
      cloud.sim.faults.add({ surface: "cloud", path, times: 2, fault: { kind: "status", status: 404 } });
      const archive = await openArchive(root, cloud.client);
      const { manifest } = await (
        await archive.runner.submit(cloud.intentFor("9", { waitMs: 600_000 }))
      ).end();
      assert.equal(manifest.complete, true);
      await archive.close();
    });
  });

  it("comes to all media, whatever one of them is refused with, or sends in place of itself", async () => {
    await withFolder(async (root) => {
      const archive = await openArchive(root, cloud.client);
      const refusals = {
        gone: { kind: "status", status: 410 },
        forbidden: { kind: "status", status: 403 },
        failing: { kind: "status", status: 500 },
        document: { kind: "body", text: '{"errorCode":1203}', contentType: "image/jpeg" },
        cut: { kind: "cut", atByte: 10 },
        // Nobody can ask for such an ID.
        odd: { kind: "json-patch", set: { "0.contentId": "a/b" } },
      } as const;
      const ends = Object.entries(refusals).map(async ([id, fault]) => {
        const [first] = ["image/jpeg", "video/mp4"].map((contentType) =>
          cloud.sim.cloud.addMedia(id, { contentType, generateBytes: 9_000 }),
        );
        const path = `^/api/transactionmedia/${id}${id === "odd" ? "" : `/${first?.contentId}`}$`;
        cloud.sim.faults.add({ surface: "cloud", path, times: 0, fault });
        const keep = { onIncomplete: "keep", waitMs: 500, giveUpMs: 2_000 } as const;
        const { manifest } = await (await archive.runner.submit(cloud.intentFor(id, keep))).end();
        assert.deepEqual([manifest.complete, manifest.missing], [false, ["ColorImageJpeg"]], id);
        assert.deepEqual(
          manifest.items.map(({ contentTypeFound }) => contentTypeFound),
          ["video/mp4"],
          id,
        );
      });
      await Promise.all(ends);
      await archive.close();
    });
  });

  it("says why a medium is missing that the cloud refuses", async () => {
    await withFolder(async (root) => {
      const { contentId } = cloud.sim.cloud.addMedia("9", {
        contentType: "image/jpeg",
        generateBytes: 9_000,
      });
      const path = `/api/transactionmedia/9/${contentId}`;
      cloud.sim.faults.add({ surface: "cloud", path, times: 0, fault: { kind: "status", status: 410 } });
      const archive = await openArchive(root, cloud.client);
      const submission = await archive.runner.submit(cloud.intentFor("9", { waitMs: 0 }));
      const error = await submission.end().catch((thrown: unknown) => thrown);
      assert.ok(error instanceof DimensionerError && error.code === "ERR_MEDIA_INCOMPLETE");
      assert.match(String(error.cause), /410/);
      await archive.close();
    });
  });

  it("downloads no medium again that it had stored before the next one failed", async () => {
    await withFolder(async (root) => {
      const [first, second] = [20_000, 30_000].map((generateBytes) =>
        cloud.sim.cloud.addMedia("9", { contentType: "video/mp4", generateBytes }),
      );
      const pathOf = (medium = second): string => `/api/transactionmedia/9/${medium?.contentId}`;
      cloud.sim.faults.add({
        surface: "cloud",
        path: pathOf(second),
        times: 3,
        fault: { kind: "status", status: 401 },
      });
      const archive = await openArchive(root, cloud.client);
      const { manifest } = await (await archive.runner.submit(cloud.intentFor("9"))).end();
      assert.equal(manifest.items.length, 2);
      const timesOf = (path: string): number => cloud.sim.requests.filter((one) => one.path === path).length;
      assert.deepEqual([timesOf(pathOf(first)), timesOf(pathOf(second))], [1, 4]);
      await archive.close();
    });
  });

  it("notes a large medium in the database before it downloads the next one", async () => {
    await withFolder(async (root) => {
      cloud.sim.cloud.addMedia("9", { contentType: "video/mp4", generateBytes: 1_000_000 });
      const { contentId } = cloud.sim.cloud.addMedia("9", { contentType: "video/mp4", generateBytes: 9_000 });
      const held = cloud.sim.faults.add({
        surface: "cloud",
        path: `/api/transactionmedia/9/${contentId}`,
        times: 0,
        fault: { kind: "delay", ms: 600_000 },
      });
      const archive = await openArchive(root, cloud.client);
      const submission = await archive.runner.submit(cloud.intentFor("9"));
      await until(() => submission.running?.job.items.size === 1, "the large medium is noted");
      cloud.sim.faults.remove(held);
      assert.equal((await submission.end()).manifest.items.length, 2);
      await archive.close();
    });
  });

  it("keeps what it has when it is given up, where that is wanted", async () => {
    await withFolder(async (root) => {
      cloud.sim.cloud.addMedia("9", {
        contentType: "image/jpeg",
        bytes: Buffer.from([0xff, 0xd8, 0xff, 0xd9]),
      });
      const { contentId } = cloud.sim.cloud.addMedia("9", { contentType: "video/mp4", generateBytes: 9_000 });
      const path = `/api/transactionmedia/9/${contentId}`;
      cloud.sim.faults.add({ surface: "cloud", path, times: 0, fault: { kind: "status", status: 401 } });
      const archive = await openArchive(root, cloud.client);
      const { manifest } = await (
        await archive.runner.submit(cloud.intentFor("9", { giveUpMs: 2_000, onIncomplete: "keep" }))
      ).end();
      assert.deepEqual([manifest.complete, manifest.missing], [false, ["ColorVideoMp4"]]);
      await archive.close();
      await readPackages(root);
    });
  });

  it("keeps one error for all jobs that the same cause holds up", async () => {
    await withFolder(async (root) => {
      cloud.sim.faults.add({ surface: "cloud", times: 0, fault: { kind: "status", status: 401 } });
      const archive = await openArchive(root, cloud.client);
      for (const id of ["1", "2"]) {
        await archive.runner.submit(cloud.intentFor(id));
      }
      const troubles = () => [...archive.runner.jobs].map(({ trouble }) => trouble);
      await until(() => !troubles().includes(undefined), "both are held up");
      const [one, other] = troubles();
      assert.equal(one?.code, "ERR_UNAUTHORIZED");
      assert.ok(one === other);
      assert.ok([...archive.runner.jobs].every(({ seen }) => seen.failure === undefined));
      await archive.close();
    });
  });

  it("ends in the error that kept it when it is given up", async () => {
    await withFolder(async (root) => {
      cloud.sim.faults.add({ surface: "cloud", times: 0, fault: { kind: "status", status: 401 } });
      const archive = await openArchive(root, cloud.client);
      const submission = await archive.runner.submit(cloud.intentFor("9", { giveUpMs: 1_000 }));
      await rejectsWith(submission.end(), "ERR_UNAUTHORIZED", "unauthorized");
      submission.messageSent();
      await archive.close();
      const next = await openArchive(root, cloud.client);
      assert.deepEqual([...next.runner.resume(() => true)], []);
      await next.close();
    });
  });

  it("drops what waits, and goes on with an open job in the next process life", async () => {
    await withFolder(async (root) => {
      const archive = await openArchive(root, cloud.client);
      const dropped = await archive.runner.submit(cloud.intentFor("1", { waitMs: 60_000 }));
      const kept = await archive.runner.submit(
        cloud.intentFor("2", { waitMs: 60_000, keep: { topic: "t" } }),
      );
      await until(() => [...archive.runner.jobs].every(({ state }) => state === "waiting"), "both wait");
      dropped.running?.drop();
      await rejectsWith(dropped.end(), "ERR_CANCELLED", "cancelledReset");
      dropped.messageSent();
      await archive.close();
      const error = await rejectsWith(kept.end(), "ERR_CANCELLED", "cancelledKept");
      assert.equal(error.details.retryable, false);

      cloud.sim.cloud.addMedia("2", { contentType: "video/mp4", generateBytes: 9_000 });
      const next = await openArchive(root, cloud.client);
      const resumed = [...next.runner.resume(() => true)];
      assert.equal(resumed.length, 1);
      const [submission] = resumed;
      assert.deepEqual(await submission?.kept(), { topic: "t" });
      assert.equal((await submission?.end())?.manifest.transactionId, "2");
      await next.close();
      // Not reported: the next start tells it again.
      const third = await openArchive(root, cloud.client);
      const [again] = [...third.runner.resume(() => true)];
      assert.equal((await again?.end())?.manifest.transactionId, "2");
      again?.messageSent();
      await third.close();
      const fourth = await openArchive(root, cloud.client);
      assert.deepEqual([...fourth.runner.resume(() => true)], []);
      await fourth.close();
      assert.equal((await readPackages(root)).size, 1);
    });
  });
});
