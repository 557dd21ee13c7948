import { join } from "node:path";
import { type Problem, inEnglish } from "../../errors/interpolation.ts";
import { syncFolder } from "../../media/place-file.ts";
import { sha256Of } from "../../model/sha256.ts";
import { packageVersion } from "../../package/package-files.ts";
import {
  type ArchiveDisk,
  diskFacts,
  manifestFileName,
  measurementFileName,
  rawFileName,
  writeDurably,
} from "../archive-disk.ts";
import type { IntentFacts, IntentTexts, PlacedPackage, RecordedBy, StoredItem } from "./intent.ts";
import { type Expected, type LeftOut, type Manifest, writeManifest, measuredIn } from "./manifest.ts";

/** Whether a package has everything that was expected. */
export interface Completeness {
  readonly complete: boolean;
  readonly missing: readonly Problem[];
  readonly expected: Expected;
  readonly leftOut: readonly LeftOut[];
  /** Whose recording the measurement has ended, by the message or else by the packages that this one adds to. */
  readonly recording: IntentFacts["recording"];
  /** The device of that recording, if another one measured. */
  readonly recordedBy: RecordedBy | null;
}

/** A file that was written. */
export interface WrittenFile<Name extends string = string> {
  readonly path: Name;
  readonly bytes: number;
  readonly sha256: string;
}

/** The content of a package. */
export interface PackageContent extends Completeness {
  readonly job: string;
  readonly store: string;
  readonly acceptedAt: Date;
  readonly retainUntil: Date | null;
  readonly transactionId: string | null;
  readonly legacyTransactionId: string | null;
  readonly intent: IntentFacts;
  readonly texts: IntentTexts;
  readonly items: readonly StoredItem[];
  /** The package that this one supplements. */
  readonly supplements: PlacedPackage | null;
}

/** Writes what a package contains besides its media, the manifest last, and waits until all of it is on the disk. */
export class PackageWriter {
  readonly #disk: ArchiveDisk;
  readonly #software = packageVersion();

  constructor(disk: ArchiveDisk) {
    this.#disk = disk;
  }

  /** Returns the files that it has written. */
  async writeMeasurement(folder: string, { measurement, raw }: IntentTexts): Promise<readonly WrittenFile[]> {
    const written: WrittenFile[] = [];
    for (const [name, text] of [
      [measurementFileName, measurement],
      [rawFileName, raw],
    ] as const) {
      const file = describe(name, text);
      if (text !== null && file !== null) {
        await writeDurably(join(folder, name), text, this.#disk);
        written.push(file);
      }
    }
    return written;
  }

  /** Writes the manifest; returns it, and its file. */
  async writeManifest(
    folder: string,
    content: PackageContent,
  ): Promise<{ readonly manifest: Manifest; readonly file: WrittenFile }> {
    const manifest = this.#manifest(content);
    const text = writeManifest(manifest);
    await writeDurably(join(folder, manifestFileName), text, this.#disk);
    await syncFolder(folder, this.#disk, diskFacts);
    return { manifest, file: describe(manifestFileName, text) };
  }

  #manifest({ intent, texts, supplements, ...content }: PackageContent): Manifest {
    const { measuredBy, tag, operator = null, work = null, note = null } = intent;
    return {
      schemaVersion: 1,
      software: this.#software,
      job: content.job,
      store: content.store,
      cloud: intent.origin,
      transactionId: content.transactionId,
      legacyTransactionId: content.legacyTransactionId,
      references: intent.references,
      ...(tag === undefined ? {} : { tag }),
      device: intent.device,
      ...(operator === null ? {} : { operator }),
      ...(work === null ? {} : { work }),
      ...(note === null ? {} : { note }),
      instrument: intent.instrument,
      measuredBy:
        measuredBy === null
          ? null
          : {
              id: measuredBy.id,
              name: measuredBy.name,
              imageIdentifier: measuredBy.imageIdentifier,
              ...(measuredBy.videoAt === null ? {} : { videoAt: measuredBy.videoAt }),
            },
      measured: measuredIn(texts.measurement),
      recording: content.recording,
      ...(content.recordedBy === null ? {} : { recordedBy: content.recordedBy }),
      times: {
        deviceLocal: intent.deviceLocalTime,
        deviceUtc: intent.deviceUtcTime,
        accepted: content.acceptedAt.toISOString(),
        archived: new Date().toISOString(),
        ...(content.retainUntil === null ? {} : { retainedUntil: content.retainUntil.toISOString() }),
      },
      legalForTrade: intent.legalForTrade,
      billable: intent.billable,
      scan: intent.scan,
      complete: content.complete,
      expected: content.expected,
      missing: content.missing.map(inEnglish),
      leftOut: [...content.leftOut],
      supplements: supplements === null ? null : manifestOf(supplements),
      items: content.items.map((item) =>
        item.contentTypeFound === null ? { ...item, recognized: false } : { ...item },
      ),
      measurement: describe(measurementFileName, texts.measurement),
      raw: describe(rawFileName, texts.raw),
    };
  }
}

function manifestOf({ path, sha256 }: PlacedPackage): { path: string; sha256: string } {
  return { path: `${path}/${manifestFileName}`, sha256 };
}

function describe<const T extends string>(path: T, text: string): WrittenFile<T>;
function describe<const T extends string>(path: T, text: string | null): WrittenFile<T> | null;
function describe<const T extends string>(path: T, text: string | null): WrittenFile<T> | null {
  return text === null ? null : { path, bytes: Buffer.byteLength(text), sha256: sha256Of(text) };
}
