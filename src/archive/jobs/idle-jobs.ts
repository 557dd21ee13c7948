import type { OpenJob } from "./open-job.ts";

interface Idle {
  readonly job: OpenJob;
  /** The key that it had when it was added: a hung disk can let it get another one later. */
  readonly key: string | null;
}

/** The open jobs without a node: after a restart, or after their node was closed or deleted. There may be thousands. */
export class IdleJobs {
  readonly #byId = new Map<string, Idle>();
  readonly #byKey = new Map<string, Set<OpenJob>>();

  get ids(): Iterable<string> {
    return this.#byId.keys();
  }

  get all(): OpenJob[] {
    return [...this.#byId.values()].map(({ job }) => job);
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  ofKey(key: string): OpenJob[] {
    return [...(this.#byKey.get(key) ?? [])];
  }

  add(job: OpenJob): void {
    this.delete(job);
    const { key } = job;
    this.#byId.set(job.id, { job, key });
    if (key !== null) {
      this.#byKey.set(key, (this.#byKey.get(key) ?? new Set()).add(job));
    }
  }

  delete({ id }: OpenJob): void {
    const idle = this.#byId.get(id);
    this.#byId.delete(id);
    if (idle === undefined || idle.key === null) {
      return;
    }
    const sameKey = this.#byKey.get(idle.key);
    sameKey?.delete(idle.job);
    if (sameKey?.size === 0) {
      this.#byKey.delete(idle.key);
    }
  }
}
