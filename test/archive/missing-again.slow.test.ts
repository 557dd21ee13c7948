import assert from "node:assert/strict";
import type { Submission } from "../../src/jobs/runner.ts";
import type { Intent } from "../../src/vault/packages/intent.ts";
import {
  againOf,
  archived,
  archiving,
  dock,
  failed,
  failedLocal,
  image,
  intentOfMessage,
  ofDevice,
  ofRecord,
  onlyOne,
  raw,
  type Given,
} from "./archiving-again.ts";
import { intentOf, mediumOf, sha256Of } from "./support.ts";

/** A message with these pictures. */
function submitMedia(
  { opened }: Given,
  pictures: readonly string[],
  more: Partial<Intent> = {},
): Promise<Submission> {
  return opened.runner.submitMedia(intentOfMessage(ofDevice, more), pictures.map(mediumOf), null);
}

async function archivedMedia(...given: Parameters<typeof submitMedia>): Promise<void> {
  const submission = await submitMedia(...given);
  await submission.end();
  submission.messageSent();
}

/** Of a webcam: its message has the transaction, and nothing that a device has measured. */
const withoutMeasurement: Partial<Intent> = { measurement: null, raw: null, measuredBy: null };

async function reasons({ missing }: Given): Promise<unknown[]> {
  return (await missing()).map(({ reason, archiveAgain }) => [reason, archiveAgain]);
}

for (const kind of ["SQLite", "PostgreSQL"]) {
  describe(`archive: what is archived again of a failed job (${kind})`, () => {
    it("is what the device has answered, and not the record of the same measurement", () =>
      archiving(kind, async (given) => {
        await given.post("1");
        await failedLocal(given);
        const { reason, errorCode } = await onlyOne(given);
        assert.deepEqual([reason, errorCode], ["failed", "ERR_MEDIA_INCOMPLETE"]);
        assert.deepEqual(intentOfMessage(await againOf(given)), intentOfMessage(ofDevice));
      }));

    it("is the same, and once, if the record has a GUID and the job the integer beside it", () =>
      archiving(kind, async (given) => {
        await given.post("6B2E0a2c-0000-4000-8000-00c04fc964ff", "1");
        await failedLocal(given);
        assert.deepEqual(intentOfMessage(await againOf(given)), intentOfMessage(ofDevice));
      }));

    it("is the same if the job of the record has failed later", () =>
      archiving(kind, async (given) => {
        await given.post("1");
        await failedLocal(given);
        given.cloud.have = [];
        await failed(given, given.opened.runner.submit(ofRecord));
        assert.equal((await againOf(given))["rawResponse"], raw);
      }));

    it("is the record with the transaction, if the job had no measurement", () =>
      archiving(kind, async (given) => {
        await given.post("1");
        given.cloud.have = [];
        await failed(given, given.opened.runner.submit(intentOf("1")));
        const { payload, transactionId } = await againOf(given);
        assert.deepEqual([payload instanceof Object && "source" in payload, transactionId], [true, "1"]);
      }));

    it("is the record, and not what was kept of another payload", () =>
      archiving(kind, async (given) => {
        await given.post("1");
        given.cloud.have = [];
        const keep = { payload: { shift: "early" } };
        await failed(given, given.opened.runner.submit({ ...intentOf("1"), keep }));
        const again = await againOf(given);
        assert.match(intentOfMessage(again).measurement ?? "", /"source": "webhook"/);
      }));

    it("is nothing if media came with its message, although the record is there", () =>
      archiving(kind, async (given) => {
        await given.post("1");
        await failed(given, submitMedia(given, ["1"]));
        const { reason, archiveAgain } = await onlyOne(given);
        assert.deepEqual([reason, archiveAgain], ["failed", null]);
      }));

    it("is what else of its transaction has failed, before a message with media is listed by itself", () =>
      archiving(kind, async (given) => {
        await given.post("1");
        await failedLocal(given);
        given.cloud.have = [];
        await failed(given, submitMedia(given, ["1"], withoutMeasurement));
        const again = await againOf(given);
        assert.equal(again["rawResponse"], raw);
        given.device.pictures = dock.images;
        given.cloud.have = [image];
        assert.equal((await archived(given, intentOfMessage(again))).complete, true);
        assert.deepEqual(await reasons(given), [["failed", null]]);
      }));

    it("is the record, before a message with media and without a measurement is listed by itself", () =>
      archiving(kind, async (given) => {
        await given.post("1");
        given.cloud.have = [];
        await failed(given, submitMedia(given, ["1"], withoutMeasurement));
        const { payload, rawResponse, transactionId } = await againOf(given);
        assert.deepEqual(
          [payload instanceof Object && "source" in payload, rawResponse, transactionId],
          [true, undefined, "1"],
        );
        given.cloud.have = [image];
        assert.equal((await archived(given, ofRecord)).complete, true);
        assert.deepEqual(await reasons(given), [["failed", null]]);
      }));

    it("is missing until a package has the exact answer, and that of the record has none", () =>
      archiving(kind, async (given) => {
        await given.post("1");
        await failedLocal(given);
        assert.equal((await archived(given, ofRecord)).complete, true);
        const again = await againOf(given);
        assert.equal(again["rawResponse"], raw);
        given.device.pictures = dock.images;
        const { manifest } = await archived(given, intentOfMessage(again));
        assert.deepEqual([manifest.complete, manifest.raw?.sha256], [true, sha256Of(raw)]);
        assert.notEqual(manifest.supplements, null);
        assert.deepEqual(await given.missing(), []);
      }));

    for (const transactionId of ["1", null]) {
      it(`is missing until a package has the media of its message: with the transaction ${transactionId}`, () =>
        archiving(kind, async (given) => {
          await failed(given, submitMedia(given, ["1", "2"], { transactionId }));
          given.device.pictures = dock.images;
          await archived(given, intentOfMessage(ofDevice));
          assert.deepEqual(await reasons(given), [["failed", null]], "the answer alone is archived");
          await archivedMedia(given, ["1"], { transactionId });
          assert.deepEqual(await reasons(given), [["failed", null]], "one of two media is archived");
          await archivedMedia(given, ["1", "2"], { transactionId });
          assert.deepEqual(await reasons(given), []);
        }));
    }

    it("is not missing if any package is complete and it has no exact answer", () =>
      archiving(kind, async (given) => {
        given.cloud.have = [];
        await failed(given, given.opened.runner.submit(ofRecord));
        given.cloud.have = [image];
        await archived(given, intentOf("1"));
        assert.deepEqual(await given.missing(), []);
      }));

    it("is once what has failed several times without a transaction, and nothing once it was archived with one", () =>
      archiving(kind, async (given) => {
        const intent = intentOfMessage(ofDevice, { transactionId: null });
        for (let time = 0; time < 2; time += 1) {
          await failed(given, given.opened.runner.submit(intent));
        }
        assert.equal((await onlyOne(given)).transactionId, null);
        given.device.pictures = dock.images;
        await archived(given, { ...intent, transactionId: "1" });
        assert.deepEqual(await given.missing(), []);
      }));

    it("is only the rest of an incomplete package that has the exact answer", () =>
      archiving(kind, async (given) => {
        await given.post("1");
        await failedLocal(given);
        await archived(given, intentOfMessage(ofDevice, { onIncomplete: "keep" }));
        const { reason, archiveAgain } = await onlyOne(given);
        assert.equal(reason, "incomplete");
        assert.ok(archiveAgain !== null && !("rawResponse" in archiveAgain));
      }));
  });
}
