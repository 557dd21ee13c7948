/** The messages of an archive node: each becomes a job or joins one, waits for it, and goes out as the job ends. */
import type { Node, NodeAPI } from "node-red";
import type { CloudClient } from "../../cloud/client.ts";
import { readExpected } from "../../cloud/expected-media.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { field, phrase } from "../../errors/interpolation.ts";
import type { DeviceSource, MediaSource } from "../../jobs/collect.ts";
import { lacksUnaskedVideo } from "../../jobs/completeness.ts";
import { type OpenJob, positionOf } from "../../jobs/job-rows.ts";
import { type RunningJob, asideOf } from "../../jobs/job.ts";
import type { Submission } from "../../jobs/runner.ts";
import type { Archived } from "../../jobs/seal.ts";
import { Semaphore } from "../../jobs/semaphore.ts";
import type { ArchivedPackage, MediaItem } from "../../model/shapes.ts";
import { diskFacts } from "../../vault/archive-disk.ts";
import { firstOfEach } from "../../rules/first-of-each.ts";
import { archivedFiles } from "../../vault/packages/manifest.ts";
import { type Intent, type IntentFacts, messageOf } from "../../vault/packages/intent.ts";
import type { Job } from "../action/serve.ts";
import type { ValueReader } from "../action/values.ts";
import { type ConfigChoice, deployed, deviceChoice } from "../config/config-choice.ts";
import type { Message, Outputs } from "../messages.ts";
import { type IntentProperties, measurementOf, pathOf, putAt, readMedia } from "./intent.ts";
import type { ArchiveStatus, HeldUpWarnings } from "./status.ts";

interface MessagesOptions {
  readonly RED: NodeAPI;
  readonly properties: IntentProperties;
  /** Hands a message to the archive; resolves once its job is in the database. */
  readonly submit: (job: Job) => Promise<Submission>;
  /** Reads what settings say of a message. */
  readonly valuesOf: (msg: Message) => ValueReader;
  readonly status: ArchiveStatus;
  readonly warnings: HeldUpWarnings;
  /** The address of a package on the evidence page; null if there is none. */
  readonly linkTo: (packageId: string) => string | null;
}

/** Enough that they share the database's syncs; a message that waits for its turn takes no memory beside itself. */
const acceptedAtOnce = 64;
/** As many as there may be open jobs, and as many more as any other node processes. */
export const mostMessages = 11_000;

/** The messages of an archive node: each is handed to the archive, waits for its job, and ends as the job does. */
export class ArchiveMessages {
  readonly #options: MessagesOptions;
  readonly #accepting = new Semaphore(acceptedAtOnce);
  readonly #waiting = new Set<Submission>();
  /** Jobs that were open at the start come in like messages, so that they end like messages. */
  readonly #resumed = new WeakMap<object, Submission>();

  constructor(options: MessagesOptions) {
    this.#options = options;
  }

  /** Says which open job a message is about. */
  resume(msg: Message, submission: Submission): void {
    this.#resumed.set(msg, submission);
  }

  wasAccepted(msg: Message): boolean {
    return this.#resumed.has(msg);
  }

  /** Ends the jobs that wait for something. */
  reset(): void {
    this.#waiting.forEach(({ running }) => running?.drop());
  }

  /** Takes one message; what is returned goes out. Throws what ends the message in an error. */
  async take(job: Job): Promise<Outputs> {
    const { status, warnings } = this.#options;
    status.nodeStatus = job.status;
    const submission = this.#resumed.get(job.msg) ?? (await this.#accept(job));
    // The message may be sent again.
    this.#resumed.delete(job.msg);
    const { running } = submission;
    status.update(running);
    if (running !== undefined) {
      warnings.update(running);
    }
    this.#waiting.add(submission);
    // The reset may have come while the job was being accepted.
    if (job.waitSignal.aborted) {
      running?.drop();
    }
    try {
      const archived = await submission.end();
      throwIfKept(submission, job);
      const outputs = this.#outputsOf(submission, archived, job);
      endWhenSent(submission, job);
      return outputs;
    } catch (thrown) {
      throwIfKept(submission, job);
      const error = await this.#endOf(submission, job, thrown);
      // It may have been closed meanwhile.
      throwIfKept(submission, job);
      const isKept = error instanceof DimensionerError && error.sentence === "cancelledKept";
      if (!isKept) {
        endWhenSent(submission, job, error instanceof DimensionerError ? error : undefined);
      }
      const isOfCloud = running?.job.intent.origin !== null && !submission.isOfSequence;
      if (isOfCloud && error instanceof DimensionerError && error.code === "ERR_MEDIA_INCOMPLETE") {
        putListed(job.msg, running?.seen.listed ?? [], this.#options.properties);
      }
      throw error;
    } finally {
      this.#waiting.delete(submission);
    }
  }

  async #accept(job: Job): Promise<Submission> {
    await new Promise<void>((resolve) => {
      if (this.#accepting.enter({ go: resolve })) {
        resolve();
      }
    });
    try {
      // The node may have been closed before the message's turn came: what it needs is gone by then.
      if (job.signal.aborted) {
        throw new DimensionerError("cancelledClose", diskFacts);
      }
      return await this.#options.submit(job);
    } finally {
      this.#accepting.leave();
    }
  }

  /** Makes the message ready for being sent again, and returns the error that says whether it may. */
  async #endOf({ running, isResumed }: Submission, { msg }: Job, error: unknown): Promise<unknown> {
    const isLeft = isResumed && running !== undefined;
    return isLeft ? await putBack(msg, running, { ...this.#options, error }) : error;
  }

  #outputsOf(submission: Submission, archived: Archived, job: Job): Outputs {
    if (!submission.sendsMessage) {
      return [];
    }
    const { msg } = job;
    const payload = describePackage(archived, this.#options.linkTo);
    Object.assign(msg, { payload, filename: payload.manifest });
    if (submission.isOfSequence) {
      delete msg["parts"];
    }
    const key = archived.wasThere ? "alreadyArchived" : archivedKeyOf(archived, payload);
    const style = payload.complete ? "done" : "incomplete";
    job.status.show(style, () => this.#options.status.say(key, { size: { bytes: payload.bytes } }));
    return [msg, null];
  }
}

/**
 * Throws if the node was closed before the job had ended, with its package or an error: it ends anew after the start, as a
 * message of its own. This is no promise, because each waiting job would keep it in memory.
 */
function throwIfKept({ running }: Submission, { signal }: Job): void {
  if (signal.aborted && running !== undefined) {
    throw new DimensionerError("cancelledKept", diskFacts);
  }
}

/**
 * Ends the job when the flow has received its message, unless the node was closed at this very moment: then it goes out after the
 * start. The note comes behind the message in the same turn of the event loop. In front of it, a kill between the two would lose the
 * message; a turn later, a deploy in between would have it sent twice.
 */
function endWhenSent(submission: Submission, job: Job, error?: DimensionerError): void {
  job.onSent = () =>
    setImmediate(() => {
      if (!job.signal.aborted && submission.sendsMessage) {
        submission.messageSent(error);
      }
    });
}

/** The package as an archive node puts it on msg.payload. `linkTo` gives the address of a package on the evidence page. */
function describePackage(
  { folder, addressOf, path: location, manifest, packages, complete, wasThere }: Archived,
  linkTo: (packageId: string) => string | null,
): ArchivedPackage {
  const { transactionId, references, job, supplements = null } = manifest;
  const files = packages.flatMap((one) => archivedFiles(addressOf(one.path), one.manifest));
  return {
    packageId: job,
    location,
    folder,
    manifest: addressOf(`${location}/manifest.json`),
    transactionId,
    transactionReference: references.transactionReference,
    measurement: manifest.measured ?? null,
    files,
    // A file may be that of two sources.
    bytes: firstOfEach(files, ({ path }) => path).reduce((sum, { bytes }) => sum + bytes, 0),
    complete,
    alreadyArchived: wasThere,
    supplements: supplements === null ? null : addressOf(supplements.path),
    link: linkTo(job),
  };
}

/** What the status says of a new package. */
function archivedKeyOf({ manifest, packages }: Archived, { complete, files }: ArchivedPackage) {
  if (!complete) {
    const { manifest: last } = packages.at(-1) ?? { manifest };
    return lacksUnaskedVideo(last) ? "archivedWithoutVideo" : "archivedIncomplete";
  }
  return files.length === 0 ? "archivedWithoutMedia" : "archived";
}

/**
 * Returns the cloud of a job, also of one that an earlier process accepted. Throws ERR_CONFIG if it is not deployed: no
 * other cloud is used in its place.
 */
export function jobCloud(
  clouds: ConfigChoice<CloudClient>,
  { intent: { cloudName, origin } }: OpenJob,
): MediaSource {
  const { client } = clouds.chooseNamed(cloudName, "archive", false);
  if (client.peer.origin !== origin) {
    throw new DimensionerError(
      "configInvalid",
      { surface: "config", operation: "archive" },
      {
        what: phrase("cloud"),
        field: field("baseUrl"),
        problem: origin === null ? phrase("jobWaitsForOther") : phrase("jobWaitsFor", { origin }),
      },
    );
  }
  return client;
}

/**
 * Returns the device that measured for a job. Throws ERR_CONFIG if it is not deployed: a message selects a deployed
 * device, and nothing in it is used as an address.
 */
export function jobDevice(
  RED: NodeAPI,
  id: string,
): DeviceSource & { readonly hasImages: boolean; readonly takesReferences: boolean } {
  const devices = deviceChoice(RED, { device: id, deviceFrom: "" });
  const { client, recordings, deviceKey } = devices.chooseNamed(null, "archive", false);
  return {
    peer: client.peer,
    hasImages: client.generation === "newer",
    takesReferences: client.takesReferences,
    image: (...given) => client.image(...given),
    keepsVideoOf: (reference) => recordings.savedVideoOf(deviceKey, reference)?.recording === "own",
    video: (options) => client.video("download", options),
  };
}

/** Returns the device that measured for a job, with the video of the one that has filmed. Throws like jobDevice. */
export function jobDevices(RED: NodeAPI, { measuredBy, recordedBy = null }: IntentFacts): DeviceSource {
  const measured = jobDevice(RED, measuredBy?.id ?? "");
  if (recordedBy === null || measuredBy === null || measuredBy.videoAt === null) {
    return measured;
  }
  const { keepsVideoOf, video } = jobDevice(RED, recordedBy.id);
  return { ...measured, keepsVideoOf, video };
}

/** Whether a node with this id is deployed and enabled; inside a subflow the id consists of several ids. */
export function isDeployed(RED: NodeAPI, id: string): boolean {
  if (deployed(RED, id) !== null) {
    return true;
  }
  // A node that a deploy is about to start again is only defined yet, and so is one that is disabled.
  const places = new Map<string, string>();
  const disabledTabs = new Set<string>();
  RED.nodes.eachNode((definition) => {
    if (definition.type === "tab" && "disabled" in definition && definition.disabled === true) {
      disabledTabs.add(definition.id);
    }
    if (!("d" in definition && definition.d === true)) {
      places.set(definition.id, definition.z);
    }
  });
  const isEnabled = (part: string): boolean => {
    const place = places.get(part);
    return places.has(part) && (place === undefined || !disabledTabs.has(place));
  };
  return isEnabled(id) || (id.includes("-") && id.split("-").every(isEnabled));
}

/** How people know the nodes of a type that may be gone: by their names, and by their IDs where they have none. */
export class NodeNames {
  readonly #RED: NodeAPI;
  /** Of those that this process has had. */
  readonly #had = new Map<string, string>();

  constructor(RED: NodeAPI) {
    this.#RED = RED;
  }

  had(node: Pick<Node, "id" | "name">): void {
    this.#had.set(node.id, nameIn(node));
  }

  nameOf(id: string): string {
    let name = this.#had.get(id) ?? "";
    // One that is disabled is defined nevertheless.
    this.#RED.nodes.eachNode((definition) => {
      name = definition.id === id ? nameIn(definition) : name;
    });
    return name === "" ? id : name;
  }
}

/** A flow that nobody has made in the editor may give a node no name at all. */
function nameIn({ name }: { readonly name?: unknown }): string {
  return typeof name === "string" ? name.trim() : "";
}

// A message that archive has called retryable is sent again: without what it was archived from, its package would be
// called complete and would lack it.

type Read = Pick<IntentProperties, "cloudFrom" | "contentType" | "expect" | "keep" | "transactionId">;

/**
 * Puts the list of the media that the cloud has on the payload. A measurement moves to msg.measurement. A payload that is needed where
 * it is stays: media, what a setting reads, and a measurement where msg.measurement is something else.
 */
function putListed(msg: Message, listed: readonly MediaItem[], properties: Read): void {
  const { payload, measurement = null } = msg;
  const isMeasured = measurementOf(payload) !== null;
  const operation = { operation: "archive", surface: "disk", acts: false } as const;
  if (
    readsPayload(properties) ||
    readMedia(msg, operation).length > 0 ||
    (isMeasured && measurement !== null)
  ) {
    return;
  }
  if (isMeasured) {
    msg["measurement"] = payload;
  }
  msg.payload = listed;
}

function readsPayload({ cloudFrom, contentType, expect, keep, transactionId }: Read): boolean {
  return [cloudFrom, contentType, expect, keep, transactionId].some((text) => /\bpayload\b/.test(text));
}

interface PutBack {
  readonly RED: NodeAPI;
  readonly properties: IntentProperties;
  /** Reads what settings say of a message. */
  readonly valuesOf: (msg: Message) => ValueReader;
  /** In which the message ends. */
  readonly error: unknown;
}

/**
 * Puts on the message of a resumed job, beside its kept properties, what the job was made from; its media cannot be put back. Returns the
 * error in which it ends: one that asks for nobody to send the message again if it lacks something.
 */
async function putBack(msg: Message, running: RunningJob, options: PutBack): Promise<unknown> {
  const { job, store } = running;
  const { error } = options;
  let isWhole = false;
  try {
    const texts = await store.jobs.texts(job.id);
    isWhole =
      texts !== undefined && (await putIntent(msg, { ...job.intent, ...texts }, job.transactionId, options));
  } catch {
    // The database does not respond, or what it has of the job is damaged.
  }
  const hasMedia = job.lost.size > 0 || [...job.items.keys()].some((slot) => positionOf(slot) !== null);
  if (!(error instanceof DimensionerError) || (isWhole && !hasMedia)) {
    return error;
  }
  const { details, values, cause } = error;
  if (hasMedia && error.code === "ERR_MEDIA_INCOMPLETE") {
    const path = asideOf(store, job);
    return new DimensionerError("messageMediaIncomplete", { ...details, cause }, { ...values, path });
  }
  return new DimensionerError(error.sentence, { ...details, retryable: false, cause }, values);
}

/** Returns false if the message does not say again what the job was made from. */
async function putIntent(
  msg: Message,
  intent: Intent,
  transactionId: string | null,
  options: PutBack,
): Promise<boolean> {
  // The kept ones are on it.
  const { payload, ...again } = messageOf({ ...intent, keep: {} }, transactionId);
  Object.assign(msg, Object.fromEntries(Object.entries(again).filter(([, value]) => value !== null)));
  const settings = settingsOf(intent, transactionId, options.properties);
  const places = payload === undefined ? [null] : placesFor(msg);
  const attempts = places.map((place) => ({
    place,
    attempt: place === null ? { ...msg } : { ...msg, [place]: payload },
  }));
  for (const { place, attempt } of attempts) {
    if (await saysAgain(attempt, settings, place, options)) {
      Object.assign(msg, attempt);
      return intent.measurement === null || payload !== undefined;
    }
  }
  Object.assign(msg, attempts[0]?.attempt);
  return false;
}

/** Whether the settings read what they have read; puts what they do not, where it can. */
async function saysAgain(
  msg: Message,
  settings: readonly Setting[],
  place: Place | null,
  options: PutBack,
): Promise<boolean> {
  let isWhole = true;
  for (const setting of settings) {
    const isThere =
      (await isSaid(msg, setting, options)) ||
      (setting.type === "msg" && putSetting(options.RED, msg, setting, place));
    isWhole &&= isThere || !setting.isNeeded;
  }
  return isWhole;
}

type Place = "payload" | "measurement";

/** Where a measurement may be put, one after the other. */
function placesFor({ payload }: Message): readonly Place[] {
  if (payload === undefined) {
    return ["payload", "measurement"];
  }
  // What was kept of a measurement is only a part of it.
  return [measurementOf(payload) === null ? "measurement" : "payload"];
}

interface Setting {
  readonly field: "cloudFrom" | "contentType" | "expect" | "transactionId";
  /** The setting itself: the name of a property, or a JSONata expression. */
  readonly value: string;
  readonly type: string;
  /** What it has read. */
  readonly read: string;
  /** Without the ID of a transaction that was found later, it is found again. */
  readonly isNeeded: boolean;
}

/** The settings that have read something from the message. */
function settingsOf(intent: Intent, transactionId: string | null, properties: IntentProperties): Setting[] {
  const { cloudFrom, transactionIdType, contentTypeType, expectType } = properties;
  const expected = intent.media === "list" ? intent.expect.join(",") : null;
  const all = [
    { field: "cloudFrom", value: cloudFrom.trim(), type: "msg", read: intent.cloudName },
    { field: "transactionId", value: properties.transactionId, type: transactionIdType, read: transactionId },
    { field: "contentType", value: properties.contentType, type: contentTypeType, read: intent.contentType },
    { field: "expect", value: properties.expect, type: expectType, read: expected },
  ] as const;
  return all.flatMap(({ read, ...setting }) => {
    const isOfMessage = (setting.type === "msg" || setting.type === "jsonata") && setting.value !== "";
    const isNeeded = setting.field !== "transactionId" || intent.transactionId !== null;
    return isOfMessage && read !== null ? [{ ...setting, read, isNeeded }] : [];
  });
}

async function isSaid(
  msg: Message,
  { field, value, type, read }: Setting,
  { valuesOf }: PutBack,
): Promise<boolean> {
  try {
    const said = await valuesOf(msg).optional({ field, value, type });
    return (field === "expect" && said !== undefined ? readExpected(said).join(",") : said) === read;
  } catch {
    // An expression such as items[msg.index], and the message has no index.
    return false;
  }
}

function putSetting(RED: NodeAPI, msg: Message, { value, read }: Setting, measured: Place | null): boolean {
  // Nothing is written into the measurement: it is evidence.
  const path = pathOf(RED, msg, value);
  return path[0] !== measured && putAt(msg, path, read);
}
