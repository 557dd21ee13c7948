import assert from "node:assert/strict";
import type { Archives } from "../../src/jobs/archive.ts";
import { diskFacts } from "../../src/vault/archive-disk.ts";
import type { JobRunner, Submission } from "../../src/jobs/runner.ts";
import type { MediaSource } from "../../src/jobs/collect.ts";
import type { Archived } from "../../src/jobs/seal.ts";
import { missingMedia } from "../../src/cloud/expected-media.ts";
import { DimensionerError, isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import { unlessAborted } from "../../src/media/disk.ts";
import { ArchiveSession } from "../../src/runtime/archive/session.ts";
import type { Store } from "../../src/vault/store.ts";

/** An archive node from one deploy to the next, without Node-RED: its use of the store, its messages and its close. */
export class DeployedArchive {
  readonly #closing = new AbortController();
  readonly #messages = new Set<Promise<unknown>>();
  readonly #session: ArchiveSession;

  constructor(archives: Archives, store: Store, cloud: () => MediaSource) {
    this.#session = new ArchiveSession(archives, {
      node: "node",
      store: () => store,
      concurrency: () => 2,
      cloud,
      device: () => assert.fail("no job was measured on a device"),
      findMissing: missingMedia,
      isMine: () => true,
      onResumed: async (submission) => {
        await submission.kept();
        void this.take(async () => submission);
      },
      onResumeError: () => undefined,
      onAway: () => undefined,
      onFindings: () => undefined,
    });
  }

  get isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Goes on with the open jobs as soon as the store can be used. */
  async begin(): Promise<void> {
    await this.#session.openWhenThere(() => undefined);
  }

  /** Takes a message; resolves with its package, or with the error that it ends in. */
  async take(submit: (runner: JobRunner) => Promise<Submission>): Promise<Archived | DimensionerError> {
    const end = this.#archive(submit);
    this.#messages.add(end);
    try {
      return await end;
    } finally {
      this.#messages.delete(end);
    }
  }

  /** Closes as a deploy does. Resolves when the store is released and every message has ended. */
  async close(): Promise<void> {
    this.#closing.abort(new DimensionerError("cancelledClose", diskFacts));
    await Promise.all([this.#session.close(), ...this.#messages]);
  }

  async #archive(submit: (runner: JobRunner) => Promise<Submission>): Promise<Archived | DimensionerError> {
    const { signal } = this.#closing;
    try {
      const accept = async (): Promise<Submission> => submit(await this.#session.open());
      const submission = await unlessAborted(accept(), { ...diskFacts, signal });
      const archived = await submission.end();
      if (!signal.aborted) {
        submission.messageSent();
      }
      return archived;
    } catch (error) {
      if (!isDimensionerError(error)) {
        throw error;
      }
      return error;
    }
  }
}
