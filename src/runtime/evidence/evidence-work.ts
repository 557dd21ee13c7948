import type { NodeAPI } from "node-red";
import * as v from "valibot";
import type { DatabaseLocation } from "../../database/database.ts";
import type { StoreConnection } from "../../database/store-databases.ts";
import { aText, aWholeNumber, anObject, checkArguments, trueOrFalse } from "../../errors/check.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { ExportResult, ExportTarget } from "../../evidence/export/export-packages.ts";
import { type EvidenceSource, type Sought, demandPackages, noteVerified } from "../../evidence/packages.ts";
import { runInThread } from "../../evidence/run-in-thread.ts";
import { readStoreState } from "../../evidence/store-state.ts";
import { guardedDisk } from "../../media/disk-guard.ts";
import type { ArchiveProgress, PackageFilter, ReportHeading } from "../../model/archive-reports.ts";
import type {
  LogCheckpoint,
  PruneResult,
  StoreState,
  TimestampResult,
  VerifyResult,
} from "../../model/shapes.ts";
import { packageVersion } from "../../package/package-files.ts";
import { readTimestampServer } from "../../rules/addresses.ts";
import { type Language, languages } from "../../rules/languages.ts";
import type { Vault } from "../../vault/vault.ts";
import { openVault } from "../../vault/open-vault.ts";
import { demandStoreFolder } from "../../vault/folder/mounted-folder.ts";
import { writeCheckpoint } from "../../vault/log/events.ts";
import { LogTree } from "../../vault/log/tree.ts";
import { type ProvenPackage, provePackages } from "../../vault/log/package-proof.ts";
import type { Store, BucketLocation, VaultLocation } from "../../vault/store.ts";
import { TimestampServer } from "../../vault/timestamp-server/client.ts";
import type { readOutput } from "../action/output.ts";
import type { Job } from "../action/serve.ts";
import { inputProperties } from "../archive/intent.ts";
import { SettingsReader, chooseProxy, readTls } from "../config/settings.ts";
import type { Operation, Message } from "../messages.ts";
import { languageOf } from "../status/node-status.ts";
import { dayMs, minuteMs } from "../../time/clocks.ts";

/** What one message asks for. */
export interface EvidenceRequest extends Sought {
  readonly operation: Operation;
  /** Where the packages of the store are, as its settings name it. */
  readonly vault: VaultLocation;
  /** Where the store's database is. */
  readonly location: DatabaseLocation;
  readonly connection: StoreConnection;
  /** Opens the packages, which the node closes. Rejects with ERR_FILE. */
  readonly openVault: () => Promise<Vault>;
  /** A PEM file with the root certificates that signers of time stamps are checked against; blank: none. */
  readonly roots: string;
  /** Above the reports of exports. */
  readonly heading: ReportHeading;
}

const progressEveryMs = 250;
/** Whoever gets to know so many days before that packages will be deleted can still get another disk. */
const soonDays = 7;

const filterRules = {
  device: aText,
  work: aText,
  period: aText,
  film: trueOrFalse,
  onHold: trueOrFalse,
  incomplete: trueOrFalse,
};
const filterSchema = v.object({
  device: v.optional(v.string()),
  work: v.optional(v.string()),
  period: v.optional(v.string()),
  film: v.optional(v.boolean()),
  onHold: v.optional(v.boolean()),
  incomplete: v.optional(v.boolean()),
});

/** What is found only: what the message says or, if it says nothing, the node. Throws ERR_INPUT. */
export function filterOf(
  { filter }: Message,
  { filterDevice: device, filterWork: work, filterPeriod: period, film, onHold, incomplete }: Filters,
): PackageFilter {
  if (filter === undefined || filter === null) {
    return { device, work, period, film, onHold, incomplete };
  }
  checkArguments({ surface: "store", operation: "find" }, { filter }, { filter: anObject(filterRules) });
  return v.parse(filterSchema, filter);
}

interface Filters {
  readonly filterDevice: string;
  readonly filterWork: string;
  readonly filterPeriod: string;
  readonly film: boolean;
  readonly onHold: boolean;
  readonly incomplete: boolean;
}

const minutesSchema = v.pipe(v.number(), v.integer(), v.minValue(0));

/** For how many minutes all packages are verified: what the message says or, if it says nothing, the node. Throws ERR_INPUT. */
export function minutesOf({ minutes }: Message, saved: { readonly minutes: number }): number {
  if (minutes === undefined || minutes === null) {
    return saved.minutes;
  }
  checkArguments({ surface: "store", operation: "verify" }, { minutes }, { minutes: aWholeNumber });
  return v.parse(minutesSchema, minutes);
}

/**
 * Verifies packages or, by `all`, the whole archive with its index; and their time stamps. With `minutes`, all are not verified at once, but
 * for so long those whose last verification is the oldest.
 */
export async function verify(request: EvidenceRequest, job: Job, minutes: number): Promise<VerifyResult> {
  const source = await sourceOf(request);
  const { vault, roots, location: database, limit: most } = request;
  const packages = request.by === "all" ? null : await demandProven(source, request);
  const forMs = minutes === 0 ? undefined : minutes * minuteMs;
  const { first, findings, verified, ...report } = await runInThread(
    { action: "verify", vault, database, packages, forMs, roots, most },
    { signal: job.signal, onProgress: showProgress(job) },
  );
  await noteVerified(source, verified);
  const { name, version } = packageVersion();
  return {
    ...report,
    findings: [...first],
    findingCount: findings,
    unchecked: [...report.unchecked],
    notes: [...report.notes],
    logs: [...report.logs],
    verifiedAtUtc: new Date().toISOString(),
    software: `${name} ${version}`,
  };
}

async function demandProven(
  source: EvidenceSource,
  request: EvidenceRequest,
): Promise<readonly ProvenPackage[]> {
  return provePackages(source, await demandPackages(source, request), request.roots);
}

interface PruneSettings {
  /** In days. */
  readonly olderThan: number;
  /** In GB; 0: the age alone decides. */
  readonly keepFree: number;
  readonly useAtMost: number;
  readonly dryRun: boolean;
  readonly despiteClock: boolean;
}

/** Deletes packages because of their age, or because space is needed, or only lists them. */
export async function prune(
  request: EvidenceRequest,
  job: Job,
  { olderThan, keepFree, useAtMost, dryRun, despiteClock }: PruneSettings,
): Promise<PruneResult> {
  // A folder that is not there, or hangs, is found before a thread is started.
  await request.openVault();
  // Nothing is deleted for what a damaged index says.
  await request.connection.check?.ended;
  const { vault, location: database, limit: most } = request;
  const before = Date.now() - olderThan * dayMs;
  const { first, ...report } = await runInThread(
    {
      action: "prune",
      vault,
      database,
      before,
      keepFree: bytesOf(keepFree),
      useAtMost: bytesOf(useAtMost),
      dryRun,
      despiteClock,
      most,
    },
    { signal: job.signal, onProgress: showProgress(job) },
  );
  return { ...report, packages: [...first], before: new Date(before).toISOString(), dryRun };
}

function bytesOf(gigabytes: number): number | undefined {
  return gigabytes === 0 ? undefined : Math.round(gigabytes * 1e9);
}

/** Whether packages have to be deleted within days because of a rule about space, at the pace at which they come. */
export function isSpaceSoonGone(
  space: PruneResult["space"],
): space is NonNullable<PruneResult["space"]> & { readonly daysLeft: number } {
  return space !== null && space.daysLeft !== null && space.daysLeft < soonDays;
}

/** Reads how much work the store has left, and how much space. */
export function stateOf({ vault, connection, location }: EvidenceRequest): Promise<StoreState> {
  return readStoreState({ database: connection.database, kind: location.kind, vault });
}

/** Makes a checkpoint of the log, to be kept elsewhere. */
export async function checkpointOf({
  connection: { database, log },
}: EvidenceRequest): Promise<{ readonly text: string; readonly checkpoint: LogCheckpoint }> {
  const made = await new LogTree(database).checkpointOf(log.store);
  const { store, size: logSize, root } = made;
  return { text: writeCheckpoint(made), checkpoint: { store, logSize, logRoot: root.toString("base64") } };
}

/** Exports packages as a ZIP with reports. */
export async function exportEvidence(
  request: EvidenceRequest,
  job: Job,
  {
    claim,
    ...options
  }: { readonly language: Language; readonly target: ExportTarget; readonly claim: string | undefined },
): Promise<ExportResult> {
  const source = await sourceOf(request);
  const packages = await demandProven(source, request);
  const { vault, roots, heading } = request;
  return runInThread(
    { action: "export", vault, packages, roots, addressed: { heading, claim }, ...options },
    { signal: job.signal, onProgress: showProgress(job, "bytes") },
  );
}

/**
 * The message without the parcel that it is about, for messages about others: archive would put what it reads from it into their packages.
 */
export function withoutParcel(msg: Message): Message {
  const others = { ...msg };
  for (const name of [...inputProperties, "error", "resumed", "resumedFrom"] as const) {
    delete others[name];
  }
  return others;
}

/** Opens the packages. Throws ERR_FILE. */
export async function sourceOf({
  operation,
  connection,
  openVault,
}: Pick<EvidenceRequest, "operation" | "connection" | "openVault">): Promise<EvidenceSource> {
  const { database, log } = connection;
  return { database, log, vault: await openVault(), operation: operation.operation };
}

function showProgress(
  { status }: Job,
  unit: "bytes" | "packages" = "packages",
): (progress: ArchiveProgress) => void {
  let shownAt = performance.now();
  return ({ packages: count, bytes, expectedPackages: total, expectedBytes }) => {
    const now = performance.now();
    if (now - shownAt < progressEveryMs) {
      return;
    }
    shownAt = now;
    if (unit === "bytes" && expectedBytes !== null) {
      status.say("working", "downloading", { done: { bytes }, total: { bytes: expectedBytes } });
    } else if (total === null) {
      status.say("working", "packages", { count });
    } else {
      status.say("working", "packagesOf", { count, total });
    }
  };
}

/** As for other media: Node-RED copies a Buffer for every wire. */
const largestBufferBytes = 256 * 1024 * 1024;

/** Where an export goes, as the dialog says it. */
export function targetOf(output: Awaited<ReturnType<typeof readOutput>>): ExportTarget {
  return output === "buffer" ? { limitBytes: largestBufferBytes } : output;
}

/** The language that was chosen, or that of Node-RED. */
export function languageFor(RED: NodeAPI, chosen: Language | "auto"): Language {
  const own = languageOf(RED);
  return chosen === "auto" ? (languages.find((one) => one === own) ?? "en-US") : chosen;
}

/** Puts an export on the message, and what was found when its packages were verified. */
export function putExport({ msg, status }: Job, { output, verification }: ExportResult): Message {
  const { findingCount } = verification;
  const bytes = "content" in output ? output.content.byteLength : output.bytes;
  if (findingCount > 0) {
    status.say("failed", "findings", { count: findingCount });
  } else {
    status.say("done", "content" in output ? "fetched" : "saved", { size: { bytes } });
  }
  msg["verification"] = verification;
  // It may be there of an earlier medium.
  delete msg["recognized"];
  if ("content" in output) {
    msg.payload = Buffer.from(output.content.buffer);
    msg["contentType"] = "application/zip";
    msg["filename"] = output.filename;
  } else {
    msg.payload = output;
    msg["filename"] = output.path;
  }
  return msg;
}

/**
 * The database and the packages of a store as one node uses them, from its first message to its close: opening the database
 * for each message would check the whole file each time, and opening a bucket would ask for credentials and connect each time.
 */
export class StoreHandle {
  readonly #store: () => Store;
  readonly #closing = new AbortController();
  #connection: Promise<StoreConnection> | undefined;
  #bucket: Promise<Vault> | undefined;

  constructor(store: () => Store) {
    this.#store = store;
  }

  /** Rejects with ERR_STORE or ERR_CONFIG; the next call tries it again. After `close`, it rejects with ERR_CANCELLED. */
  async open(): Promise<StoreConnection> {
    // A request that has begun before the close would open the store for nobody, who closes it.
    this.#closing.signal.throwIfAborted();
    const opening = (this.#connection ??= this.#store().connect());
    try {
      return await opening;
    } catch (error) {
      if (this.#connection === opening) {
        this.#connection = undefined;
      }
      throw error;
    }
  }

  /**
   * Opens the packages of the store. Nobody else closes them. A folder is looked for each time; rejects with ERR_FILE, also where it is
   * empty because its share or disk is not mounted.
   */
  async openVault(location: VaultLocation): Promise<Vault> {
    if (location.kind === "s3") {
      return await this.#openBucket(location);
    }
    const disk = guardedDisk(location.path);
    const vault = await openVault(location, { disk });
    const { database, log } = await this.open();
    await demandStoreFolder({ root: vault.root, disk, database, store: log.store });
    return vault;
  }

  /** Ends all requests to a bucket with ERR_CANCELLED. */
  async close(): Promise<void> {
    this.#closing.abort(new DimensionerError("cancelledClose", { surface: "store", operation: "evidence" }));
    const [openedConnection, openedBucket] = [this.#connection, this.#bucket];
    this.#connection = undefined;
    this.#bucket = undefined;
    const bucket = await openedBucket?.catch(() => undefined);
    await bucket?.close();
    const connection = await openedConnection?.catch(() => undefined);
    await connection?.release();
  }

  async #openBucket(location: BucketLocation): Promise<Vault> {
    const { signal } = this.#closing;
    signal.throwIfAborted();
    const opening = (this.#bucket ??= openVault(location, { signal }));
    try {
      return await opening;
    } catch (error) {
      if (this.#bucket === opening) {
        this.#bucket = undefined;
      }
      throw error;
    }
  }
}

/** The settings of the evidence node for time stamps. */
export interface TimestampSettings {
  readonly server: string;
  readonly timeoutMs: number;
  readonly user: string;
  /** IDs of core nodes; blank: none. */
  readonly tls: string;
  readonly proxy: string;
}

/** Has the log of a store time-stamped by the server of the settings. */
export async function timestamp(
  RED: NodeAPI,
  request: EvidenceRequest,
  { signal }: Job,
  { server, timeoutMs, user, tls, proxy }: TimestampSettings,
  password: string | undefined,
): Promise<TimestampResult> {
  const reader = new SettingsReader("node", request.operation);
  const address = readTimestampServer(server, false);
  const authority = new TimestampServer({
    server,
    timeoutMs,
    user,
    password,
    tls: readTls(RED, tls, reader),
    // Without a valid address, the client explains what is wrong with it.
    proxyUrl: "problem" in address ? undefined : chooseProxy(RED, proxy, address.origin, reader),
  });
  try {
    // Loaded only now: Node-RED loads this package when it starts, and few flows use time stamps.
    const { makeTimestamp } = await import("../../evidence/make-timestamp.ts");
    return await makeTimestamp(await sourceOf(request), authority, { roots: request.roots, signal });
  } finally {
    await authority.close();
  }
}

/** Lets long actions run one after the other: several at once would only make the disk slower for all of them. */
export class ActionTurns {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Runs the work in its turn. A reset ends the wait, and a close also the work, with ERR_CANCELLED. */
  async run<T>(operation: string, job: Job, work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const turn = Promise.withResolvers<void>();
    this.#last = before.then(() => turn.promise);
    try {
      this.#waiting += 1;
      if (this.#waiting > 1) {
        job.status.say("waiting", "waitingInQueue", { count: this.#waiting - 1 });
      }
      await beforeAbort(before, operation, job);
      return await work();
    } catch (error) {
      // A close also closes the database: what fails then has not failed by itself.
      throw job.signal.aborted
        ? new DimensionerError("cancelledClose", { surface: "disk", operation, cause: error })
        : error;
    } finally {
      this.#waiting -= 1;
      turn.resolve();
    }
  }
}

async function beforeAbort(
  before: Promise<unknown>,
  operation: string,
  { signal, waitSignal }: Job,
): Promise<void> {
  const ended = AbortSignal.any([signal, waitSignal]);
  const aborted = Promise.withResolvers<void>();
  const abort = (): void => aborted.resolve();
  ended.addEventListener("abort", abort);
  try {
    await Promise.race([before, ended.aborted ? undefined : aborted.promise]);
  } finally {
    ended.removeEventListener("abort", abort);
  }
  if (ended.aborted) {
    const sentence = signal.aborted ? "cancelledClose" : "cancelledReset";
    throw new DimensionerError(sentence, { surface: "disk", operation });
  }
}
