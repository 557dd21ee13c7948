import assert from "node:assert/strict";
import { listMissing } from "../../src/index.ts";
import { Archives } from "../../src/jobs/archive.ts";
import type { Submission } from "../../src/jobs/runner.ts";
import type { Archived } from "../../src/jobs/seal.ts";
import type { Intent } from "../../src/vault/packages/intent.ts";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import type { MissingEvidence } from "../../src/model/shapes.ts";
import { readFacts } from "../../src/runtime/archive/intent.ts";
import { Inbox } from "../../src/database/inbox.ts";
import type { Store } from "../../src/vault/store.ts";
import { withFolder } from "../media/support.ts";
import { emptyPostgresOptions } from "../database/databases.ts";
import { measured, received } from "./find/support.ts";
import { openSharedStore } from "./shared-store.ts";
import { ScriptedCloud, ScriptedDevice } from "./scripted-sources.ts";
import { databaseOf, storeIn } from "./store.ts";
import { intentOf, openArchive, until, type Opened } from "./support.ts";

export const raw = '{"errorCode":0}';
export const image = { id: "ColorImageJpeg", type: "image/jpeg" };
const { sentAt, references, tag } = measured("i-1", 0).local;
export const dock = { id: "dock", name: "Dock 4", images: ["annotated", "color"] } as const;

const textOf = (result: object): string => `${JSON.stringify(result, null, 2)}\n`;
const result = { ok: true, source: "newer-device", errorCode: 0, length: 33.5, measuredObjects: [{}] };

/** As an archive node makes it of a message. */
export function intentOfMessage(msg: Readonly<Record<string, unknown>>, more: Partial<Intent> = {}): Intent {
  const { local, filmed, deviceReference, ...facts } = readFacts({ _msgid: "", ...msg });
  const device = facts.device ?? deviceReference;
  const images = local === null ? [] : [...dock.images];
  const by = local ?? filmed;
  return { ...intentOf("1"), ...facts, device, measuredBy: by === null ? null : { ...by, images }, ...more };
}

/** What a device on the local network has measured, and sent behind the measure node. */
export const ofDevice = {
  transactionReference: "ORDER-1",
  payload: result,
  rawResponse: raw,
  measuredBy: { ...dock, surface: "newer-device", sentAt, references, tag, serialNumber: "4711" },
  imageIdentifier: "i-1",
};
/** The record of the same measurement, as the cloud has posted it. */
export const ofRecord = { ...intentOf("1"), measurement: textOf({ source: "webhook", transactionId: "1" }) };

export interface Given {
  readonly opened: Opened;
  readonly cloud: ScriptedCloud;
  readonly device: ScriptedDevice;
  readonly post: (id: string, legacyId?: string) => Promise<void>;
  readonly missing: () => Promise<readonly MissingEvidence[]>;
}

/** A device that has no images any more, and a cloud that has one. */
export async function archiving(kind: string, body: (given: Given) => Promise<void>): Promise<void> {
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
    const { database, release } = await store.connect();
    const inbox = new Inbox(database, { nodeId: "records", runId: "run" });
    try {
      await body({
        opened,
        cloud,
        device,
        post: async (id, legacyId = id) => void (await inbox.add(received(id, 0, { legacyId }).record, 0)),
        missing: () =>
          listMissing(root, { database: options?.address.url ?? databaseOf(root), period: "1d", limit: 100 }),
      });
    } finally {
      await opened.close();
      await release();
    }
  });
}

/** Archives something, and waits until that is in the database. */
export async function archived(given: Given, intent: Intent): Promise<Archived> {
  const submission = await given.opened.runner.submit(intent);
  const archived = await submission.end();
  submission.messageSent();
  await noneOpen(given);
  return archived;
}

/** Ends a job in an error, and waits until that is in the database. */
export async function failed(given: Given, submitted: Promise<Submission>): Promise<void> {
  const submission = await submitted;
  const error = await submission.end().then(
    () => assert.fail("It was archived."),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof DimensionerError);
  submission.messageSent(error);
  await noneOpen(given);
}

/** The row of a job is written right after its message has ended. */
async function noneOpen({ missing }: Given): Promise<void> {
  await until(async () => !(await missing()).some(({ reason }) => reason === "open"), "no job is open");
}

export const readRecordingOf = (video: object): Pick<Intent, "recording"> => ({
  recording: readFacts({ _msgid: "", video }).recording,
});

export const failedLocal = (given: Given, more: Partial<Intent> = {}): Promise<void> =>
  failed(given, given.opened.runner.submit(intentOfMessage(ofDevice, more)));

export async function onlyOne({ missing }: Given): Promise<MissingEvidence> {
  const [one, ...others] = await missing();
  assert.deepEqual(others, []);
  return one ?? assert.fail("Nothing is missing.");
}

export const againOf = async (given: Given): Promise<Readonly<Record<string, unknown>>> => ({
  ...((await onlyOne(given)).archiveAgain ?? assert.fail("It cannot be archived again.")),
});
