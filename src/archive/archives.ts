import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { createMediaFolders, type MediaFolders } from "../media/media-folders.ts";
import { guardedDisk } from "../media/disk-guard.ts";
import type { ArchiveDisk } from "./archive-disk.ts";
import { ArchiveRoot, type OpenJobLimits } from "./archive-root.ts";

interface Shared {
  readonly root: Promise<ArchiveRoot>;
  users: number;
}

/** A use of an archive; the last one to release it closes it. */
export interface ArchiveLease {
  readonly root: ArchiveRoot;
  release(): Promise<void>;
}

interface ArchivesOptions {
  readonly disk?: ArchiveDisk;
  readonly folders?: MediaFolders;
  readonly limits?: OpenJobLimits;
}

/** The archives that this process has open: nodes with the same root share one. */
export class Archives {
  /** Given by tests; otherwise each archive works on its own volume. */
  readonly #disk: ArchiveDisk | undefined;
  readonly #folders: MediaFolders;
  readonly #limits: OpenJobLimits | undefined;
  readonly #open = new Map<string, Shared>();
  readonly #closing = new Map<string, Promise<void>>();
  /** What the lock of each root is known by, for as long as the process runs. */
  readonly #nonces = new Map<string, string>();

  constructor({ disk, folders = createMediaFolders(), limits }: ArchivesOptions = {}) {
    this.#disk = disk;
    this.#folders = folders;
    this.#limits = limits;
  }

  /** The roots of those that are open. */
  get folders(): string[] {
    return [...this.#open.keys()];
  }

  /** Throws ERR_CONFIG (blank folder) or ERR_FILE: no such folder, denied, in use by another process. */
  async open(folder: string): Promise<ArchiveLease> {
    const disk = this.#disk ?? guardedDisk(folder);
    const path = folder.trim() === "" ? folder : await disk.realpath(folder).catch(() => resolve(folder));
    await this.#closing.get(path);
    const shared = this.#open.get(path) ?? this.#begin(path, disk);
    shared.users += 1;
    try {
      const root = await shared.root;
      let isReleased = false;
      return {
        root,
        release: async () => {
          if (isReleased) {
            return;
          }
          isReleased = true;
          await this.#leave(path, shared);
        },
      };
    } catch (error) {
      await this.#leave(path, shared);
      throw error;
    }
  }

  #begin(path: string, disk: ArchiveDisk): Shared {
    const nonce = this.#nonces.get(path) ?? randomUUID();
    this.#nonces.set(path, nonce);
    const shared: Shared = {
      root: ArchiveRoot.open(path, disk, this.#folders, nonce, this.#limits),
      users: 0,
    };
    this.#open.set(path, shared);
    return shared;
  }

  async #leave(path: string, shared: Shared): Promise<void> {
    shared.users -= 1;
    if (shared.users > 0) {
      return;
    }
    this.#open.delete(path);
    const closed = shared.root.then(
      (root) => root.release(),
      () => undefined,
    );
    const gone = closed.finally(() => this.#closing.delete(path));
    this.#closing.set(path, gone);
    await gone;
  }
}
