import assert from "node:assert/strict";
import { listMissing } from "../../src/index.ts";
import { Archives } from "../../src/archive/jobs/archives.ts";
import type { Submission } from "../../src/archive/jobs/accept/submission.ts";
import type { Archived } from "../../src/archive/jobs/seal/job-results.ts";
import type { Intent } from "../../src/archive/packages/intent.ts";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import type { MissingEvidence } from "../../src/model/shapes.ts";
import { readFacts } from "../../src/runtime/archive/archive-facts.ts";
import { Inbox } from "../../src/store/inbox.ts";
import type { Store } from "../../src/store/store.ts";
import { withFolder } from "../media/support.ts";
import { emptyPostgresOptions } from "../store/databases.ts";
import { measured, received } from "./find/support.ts";
import { openSharedStore } from "./shared-store.ts";
import { ScriptedCloud, ScriptedDevice } from "./scripted-sources.ts";
import { databaseOf, storeIn } from "./store.ts";
import { intentOf, openArchive, pictureOf, sha256Of, type Opened } from "./support.ts";

const raw = '{"errorCode":0}';
const image = { id: "ColorImageJpeg", type: "image/jpeg" };
const { sentAt, references, tag } = measured("i-1", 0).local;
const dock = { id: "dock", name: "Dock 4", images: ["annotated", "color"] } as const;

const textOf = (result: object): string => `${JSON.stringify(result, null, 2)}\n`;
const result = { ok: true, source: "newer-device", errorCode: 0, length: 33.5, measuredObjects: [{}] };

/** As an archive node makes it of a message. */
function intentOfMessage(msg: Readonly<Record<string, unknown>>, more: Partial<Intent> = {}): Intent {
  const { local, filmed, ...facts } = readFacts({ _msgid: "", ...msg });
  const images = local === null ? [] : [...dock.images];
  const by = local ?? filmed;
  return { ...intentOf("1"), ...facts, measuredBy: by === null ? null : { ...by, images }, ...more };
}

/** What a device on the local network has measured, and sent behind the measure node. */
const ofDevice = {
  transactionReference: "ORDER-1",
  payload: result,
  rawResponse: raw,
  measuredBy: { ...dock, surface: "newer-device", sentAt, references, tag },
  imageIdentifier: "i-1",
};
/** The record of the same measurement, as the cloud has posted it. */
const ofRecord = { ...intentOf("1"), measurement: textOf({ source: "webhook", transactionId: "1" }) };

interface Given {
  readonly opened: Opened;
  readonly cloud: ScriptedCloud;
  readonly device: ScriptedDevice;
  readonly post: (id: string) => Promise<void>;
  readonly missing: () => Promise<readonly MissingEvidence[]>;
}

/** A device that has no images any more, and a cloud that has one. */
async function archiving(kind: string, body: (given: Given) => Promise<void>): Promise<void> {
  await withFolder(async (root) => {
    const options = kind === "PostgreSQL" ? await emptyPostgresOptions() : undefined;
    const store: Store = options === undefined ? storeIn(root) : (await openSharedStore(root, options)).store;
    const [cloud, device] = [new ScriptedCloud(image), new ScriptedDevice()];
    const opened = await openArchive(root, undefined, {
      archives: new Archives({ settleMs: 20 }),
      store,
      cloud: () => cloud,
      device: () => device,
    });
    const { database, release } = await store.lease();
    const inbox = new Inbox(database, { nodeId: "records", runId: "run" });
    try {
      await body({
        opened,
        cloud,
        device,
        post: async (id) => void (await inbox.add(received(id, 0).record, 0)),
        missing: () =>
          listMissing(root, { database: options?.address.url ?? databaseOf(root), period: "1d", limit: 100 }),
      });
    } finally {
      await opened.close();
      await release();
    }
  });
}

async function archived({ opened }: Given, intent: Intent): Promise<Archived> {
  const submission = await opened.runner.submit(intent);
  const archived = await submission.end();
  submission.messageSent();
  return archived;
}

/** Ends a job in an error, and waits until that is in the database. */
async function failed(given: Given, submitted: Promise<Submission>): Promise<void> {
  const submission = await submitted;
  const error = await submission.end().then(
    () => assert.fail("It was archived."),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof DimensionerError);
  submission.messageSent(error);
  const open = async () => (await given.missing()).some(({ reason }) => reason === "open");
  while (await open()) {
    // Its row is written right after its message has ended.
  }
}

const failedLocal = (given: Given, more: Partial<Intent> = {}): Promise<void> =>
  failed(given, given.opened.runner.submit(intentOfMessage(ofDevice, more)));

async function onlyOne({ missing }: Given): Promise<MissingEvidence> {
  const [one, ...others] = await missing();
  assert.deepEqual(others, []);
  return one ?? assert.fail("Nothing is missing.");
}

const againOf = async (given: Given): Promise<Readonly<Record<string, unknown>>> => ({
  ...((await onlyOne(given)).archiveAgain ?? assert.fail("It cannot be archived again.")),
});

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

    it("is nothing if media came with its message, although the record is there", () =>
      archiving(kind, async (given) => {
        await given.post("1");
        const { opened } = given;
        const content = pictureOf("1");
        const medium = {
          content,
          contentType: "image/jpeg",
          contentId: null,
          description: null,
          filename: null,
        };
        await failed(given, opened.runner.submitMedia(intentOfMessage(ofDevice), [medium], null));
        const { reason, archiveAgain } = await onlyOne(given);
        assert.deepEqual([reason, archiveAgain], ["failed", null]);
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
