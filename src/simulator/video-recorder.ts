import type { Content } from "./responses.ts";
import type { References } from "./measurement.ts";
import type { Timers } from "./timers.ts";
import type { Transaction } from "./transactions.ts";

export interface Recording {
  readonly id: string;
  readonly startedAt: Date;
  readonly references: References;
}

/** The one video that the device can hold. */
export interface SavedVideo {
  readonly recordingId: string;
  readonly savedAt: Date;
  readonly references: References;
  readonly bytes: number;
  readonly etag: string;
  /** True: it came from a failed measurement and goes to the next one that succeeds. */
  readonly waitsForMeasurement: boolean;
}

/** A recording that has ended, on its way through the encoder to the device's storage and the cloud. */
interface Clip {
  readonly recording: Recording;
  readonly content: Content;
  /** The barcode whose scan ended the recording. */
  readonly barcode: string | null;
  readonly encodedAt: Date;
  keepsLocally: boolean;
  /** Its destination in the cloud: a measurement's transaction, a new one of its own, or none yet. */
  destination: Transaction | "own-transaction" | null;
  cancelTimer: () => void;
}

/** The uploads to the cloud. */
export interface VideoUplink {
  toTransaction(transaction: Transaction, content: Content): void;
  /** Stores the video as a transaction of its own. */
  toOwnTransaction(recording: Recording, content: Content, barcode: string | null): void;
}

export interface VideoRecorder {
  readonly recording: Recording | null;
  readonly encoding: boolean;
  /** When the latest video will be encoded; null if none is being encoded. */
  readonly encodingEndsAt: Date | null;
  readonly saved: SavedVideo | null;
  readonly savedContent: Content | null;
  start(id: string, references: References): void;
  /** Video Only: encodes, keeps the video and stores it as a transaction of its own. */
  stop(content: (recording: Recording) => Content, barcode: string | null): void;
  /** Video with Measurement: the recording goes to this transaction, or waits after a failure (null). */
  measured(transaction: Transaction | null, content: (recording: Recording) => Content): void;
  /** Deletes everything that has not reached the cloud. */
  clear(): void;
  /** Discards a running recording. */
  abandon(): void;
  /** Clears the memory; the saved video and unfinished uploads are in storage. */
  losePower(): void;
}

/** Recording, encoder and storage of one device. `changed` is called after each change that a timer makes. */
export function createVideoRecorder(
  limits: { readonly encodingMs: number; readonly mediaDelayMs: number; readonly keepTransactions: number },
  timers: Timers,
  uplink: VideoUplink,
  changed: () => void,
): VideoRecorder {
  let recording: Recording | null = null;
  let saved: { readonly clip: Clip; readonly facts: SavedVideo } | null = null;
  const encoding = new Set<Clip>();
  const uploading = new Set<Clip>();

  function stopEncoding(): void {
    encoding.forEach((clip) => clip.cancelTimer());
    encoding.clear();
    recording = null;
  }

  /** The cloud would forget more of them than it keeps anyway. */
  function addWithinLimit(clips: Set<Clip>, clip: Clip): void {
    clips.add(clip);
    const [oldest] = clips;
    if (clips.size > limits.keepTransactions && oldest !== undefined) {
      oldest.cancelTimer();
      clips.delete(oldest);
    }
  }

  function upload(clip: Clip): void {
    addWithinLimit(uploading, clip);
    clip.cancelTimer = timers.after(limits.mediaDelayMs, () => {
      uploading.delete(clip);
      if (clip.destination === "own-transaction") {
        uplink.toOwnTransaction(clip.recording, clip.content, clip.barcode);
      } else if (clip.destination !== null) {
        uplink.toTransaction(clip.destination, clip.content);
      }
    });
  }

  function encoded(clip: Clip): void {
    encoding.delete(clip);
    if (clip.keepsLocally) {
      const { recording: of, content } = clip;
      const facts = {
        recordingId: of.id,
        savedAt: new Date(),
        references: of.references,
        bytes: content.size,
        etag: content.etag,
        waitsForMeasurement: clip.destination === null,
      };
      saved = { clip, facts };
    }
    if (clip.destination !== null) {
      upload(clip);
    }
    changed();
  }

  function end(
    content: (of: Recording) => Content,
    facts: Pick<Clip, "keepsLocally" | "destination" | "barcode">,
  ): void {
    if (recording === null) {
      return;
    }
    const encodedAt = new Date(Date.now() + limits.encodingMs);
    const clip = {
      recording,
      content: content(recording),
      encodedAt,
      ...facts,
      cancelTimer: () => undefined,
    };
    recording = null;
    addWithinLimit(encoding, clip);
    encode(clip);
  }

  function encode(clip: Clip): void {
    const cancelTimer = timers.after(limits.encodingMs, () => encoded(clip));
    // Without encoding time the upload has started by now, and has another timer to cancel.
    if (encoding.has(clip)) {
      clip.cancelTimer = cancelTimer;
    }
  }

  /** A successful measurement also gets the video that failed measurements have left on the device. */
  function linkWaiting(transaction: Transaction): void {
    for (const clip of encoding) {
      if (clip.destination !== null) {
        continue;
      }
      clip.destination = transaction;
      clip.keepsLocally = false;
    }
    if (saved === null || !saved.facts.waitsForMeasurement) {
      return;
    }
    saved.clip.destination = transaction;
    upload(saved.clip);
    saved = null;
  }

  return {
    get recording() {
      return recording;
    },
    get encoding() {
      return encoding.size > 0;
    },
    get encodingEndsAt() {
      return [...encoding].at(-1)?.encodedAt ?? null;
    },
    get saved() {
      return saved?.facts ?? null;
    },
    get savedContent() {
      return saved?.clip.content ?? null;
    },
    start(id, references) {
      for (const clip of encoding) {
        // A new recording replaces a clip that waits for a measurement; an upload to the cloud continues.
        if (clip.destination === null) {
          clip.cancelTimer();
          encoding.delete(clip);
        }
        clip.keepsLocally = false;
      }
      saved = null;
      recording = { id, startedAt: new Date(), references };
    },
    stop(content, barcode) {
      end(content, { keepsLocally: true, destination: "own-transaction", barcode });
    },
    measured(transaction, content) {
      if (transaction !== null) {
        linkWaiting(transaction);
      }
      end(content, { keepsLocally: transaction === null, destination: transaction, barcode: null });
    },
    clear() {
      stopEncoding();
      uploading.forEach((clip) => clip.cancelTimer());
      uploading.clear();
      saved = null;
    },
    abandon() {
      recording = null;
    },
    losePower: stopEncoding,
  };
}
