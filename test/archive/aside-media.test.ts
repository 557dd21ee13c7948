import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import type { ArchiveWarning } from "../../src/jobs/runner.ts";
import { pruneArchive, verifyArchive } from "../../src/vault/upkeep/upkeep.ts";
import { openBucketVault } from "../../src/vault/open-vault.ts";
import { rejectsWith } from "../media/support.ts";
import { useCredentials } from "../support/s3-servers.ts";
import { prefix } from "./bucket-objects.ts";
import { type TestPlace, withPlace } from "./store-places.ts";
import { intentOf, mediumOf, openArchive, pictureOf, sha256Of, until } from "./support.ts";
import { tidyBucket } from "./tidy-bucket.ts";

const state = `${prefix}/.dimensioner-archive`;
const incomplete = intentOf("1", { origin: null, expect: ["video/mp4"] });
const part = { id: "sequence", index: 0, count: 2 };
const given = mediumOf("of the message");
const content = pictureOf("of the message");

describe("archive: media of a failed job of several workers with a bucket", () => {
  useCredentials();
  const withBucket = (act: (place: TestPlace) => Promise<void>): Promise<void> =>
    withPlace({ files: "bucket", database: "PostgreSQL" }, act);

  /** The archive's own objects, without the prefix, its log and the one that every archive has. */
  const own = ({ stub }: TestPlace): string[] =>
    [...(stub?.objects.keys() ?? [])].filter(
      (key) =>
        key.startsWith(`${state}/`) && key !== `${state}/archive.json` && !key.startsWith(`${state}/log/`),
    );

  /** Lets a worker fail a job, and removes its disk. Returns the job's id, and what the worker has said. */
  async function fail(place: TestPlace) {
    const { store } = await place.open();
    const warnings: ArchiveWarning[] = [];
    const onWarning = (warning: ArchiveWarning): void => void warnings.push(warning);
    const { runner, archive, close } = await openArchive("", undefined, { store, onWarning });
    const submission = await runner.submitMedia(incomplete, [given], null);
    const job = submission.running?.job.id ?? assert.fail("no job");
    submission.messageSent(await rejectsWith(submission.end(), "ERR_MEDIA_INCOMPLETE", "mediaIncomplete"));
    await until(() => warnings.length > 0, "it says where they are");
    await close();
    await rm(archive.store.folder, { recursive: true });
    return { job, warnings };
  }

  /** As a worker that opens the store a month later, and tidies up, with a person who prunes the bucket. */
  async function tidyLater(place: TestPlace): Promise<void> {
    const { stub, vault, database } = place;
    const { store, query, close } = await place.open();
    await query("UPDATE jobs SET changed_at = '2020-01-01T00:00:00.000Z'");
    await (await openArchive("", undefined, { store })).close();
    assert.deepEqual(await query("SELECT job_id FROM jobs"), []);
    assert.ok(vault.kind === "s3");
    const opened = await openBucketVault(vault, {});
    const connection = await store.connect();
    await tidyBucket(opened, connection.database);
    await connection.release();
    await opened.close();
    const report = await pruneArchive(stub?.url(prefix) ?? "", {
      database,
      before: new Date(Date.now() + 60_000),
      leftoverAgeMs: -60_000,
    });
    assert.deepEqual([report.leftovers, report.leftoversKept], [0, null]);
    await close();
  }

  it("are in the bucket, where nothing removes them: without the disk, the row and however they are tidied up", async () => {
    await withBucket(async (place) => {
      const { job, warnings } = await fail(place);
      const key = `${state}/aside/${job}/item.jpg`;
      assert.deepEqual(own(place), [key]);
      const path = `${place.vault.kind === "s3" ? place.vault.address.name : ""}/.dimensioner-archive/aside/${job}`;
      assert.deepEqual(warnings, [{ warning: "keptAside", values: { path } }]);
      await tidyLater(place);
      assert.deepEqual(own(place), [key]);
      assert.equal(sha256Of(place.stub?.objects.get(key)?.body ?? ""), sha256Of(content));
      const { notes } = await verifyArchive(place.stub?.url(prefix) ?? "", {});
      assert.deepEqual(
        notes.map(({ kind }) => kind),
        ["aside"],
      );
    });
  });

  it("are moved there where an earlier version has left them staged", async () => {
    await withBucket(async (place) => {
      const { job } = await fail(place);
      const [key = ""] = own(place);
      const object = place.stub?.objects.get(key) ?? assert.fail("nothing is kept");
      place.stub?.objects.delete(key);
      place.stub?.objects.set(`${state}/work/${job}/${sha256Of(content)}`, object);
      await tidyLater(place);
      assert.deepEqual(own(place), [`${state}/aside/${job}/item.jpg`]);
    });
  });

  it("keep their job open while the bucket refuses them", async () => {
    await withBucket(async (place) => {
      const { store, query } = await place.open();
      const { runner, close } = await openArchive("", undefined, { store });
      const submission = await runner.submitMedia(incomplete, [given], null);
      const error = await rejectsWith(submission.end(), "ERR_MEDIA_INCOMPLETE", "mediaIncomplete");
      let refused = 0;
      const { stub = assert.fail("no bucket") } = place;
      stub.fault = ({ method, key }) => {
        const isAside = method === "PUT" && key.includes("/aside/");
        refused += isAside ? 1 : 0;
        return isAside ? { status: 403, code: "AccessDenied" } : undefined;
      };
      submission.messageSent(error);
      await until(() => refused > 0, "it is refused");
      const states = async (): Promise<string> =>
        (await query("SELECT state FROM jobs")).map((row) => row["state"]).join();
      assert.notEqual(await states(), "failed");
      stub.fault = () => undefined;
      await until(async () => (await states()) === "failed", "it has ended");
      await until(() => own(place).every((key) => key.includes("/aside/")), "nothing is staged");
      assert.equal(own(place).length, 1);
      await close();
    });
  });

  it("are named by the error of a sequence that lacks a part", async () => {
    await withBucket(async (place) => {
      const { store } = await place.open();
      const { runner, close } = await openArchive("", undefined, { store });
      const begun = intentOf("1", { origin: null, sequence: part.id, expect: [] });
      const submission = await runner.submitMedia(begun, [given], part);
      const error = await rejectsWith(submission.end(), "ERR_MEDIA_INCOMPLETE", "partsIncomplete");
      const job = submission.running?.job.id ?? "";
      assert.match(
        error.message,
        new RegExp(String.raw`kept in s3://.+/\.dimensioner-archive/aside/${job}\.`),
      );
      submission.messageSent(error);
      await until(() => own(place).join() === `${state}/aside/${job}/item.jpg`, "it is there");
      await close();
    });
  });
});
