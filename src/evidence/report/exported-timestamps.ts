import type { PackageFinding } from "../../model/archive-reports.ts";
import type { ArchiveFiles } from "../../vault/files/archive-files.ts";
import type { PlacedPackage } from "../../vault/packages/intent.ts";
import { timestampsIn, type ArchiveTimestamps } from "../../vault/maintenance/covering-timestamps.ts";
import type { PackageTimestamp } from "../../vault/maintenance/package-timestamp.ts";
import {
  filesOfTimestamp,
  timestampsName,
  type KeptTimestamp,
} from "../../vault/maintenance/timestamp-folder.ts";

/** The file of the root certificates in an export. */
const exportedRootsName = "timestamp-roots.pem";

/** A time stamp that covers a package, and where it is in the ZIP. */
export interface ExportedTimestamp {
  readonly found: PackageTimestamp;
  /** With a slash at its end. It goes into commands, so it has no character that a shell could execute. */
  readonly folder: string;
  /** The file of the root certificates that the signer was checked against; null if none were given. */
  readonly roots: string | null;
}

/** The time stamps that cover the packages of an export, each once. */
export class ExportedTimestamps {
  readonly #archive: ArchiveTimestamps | undefined;
  readonly #folders = new Map<string, { readonly kept: KeptTimestamp; readonly folder: string }>();

  private constructor(archive: ArchiveTimestamps | undefined) {
    this.#archive = archive;
  }

  /** `rootsFile` has the certificates that are trusted, in PEM form. Throws ERR_CONFIG for a file that cannot be used. */
  static async open(
    files: Pick<ArchiveFiles, "disk" | "root">,
    rootsFile: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ExportedTimestamps> {
    return new ExportedTimestamps(await timestampsIn(files, rootsFile, signal));
  }

  /** Finds the time stamp that covers a package, and what is wrong with others. */
  async find(
    placed: PlacedPackage,
  ): Promise<{ readonly timestamp: ExportedTimestamp | null; readonly findings: readonly PackageFinding[] }> {
    const { timestamp: found = null, findings = [] } = (await this.#archive?.find(placed)) ?? {};
    if (found === null) {
      return { timestamp: null, findings };
    }
    const { kept } = found;
    const known = this.#folders.get(kept.name);
    const folder =
      known?.folder ??
      `${timestampsName}/${this.#folders.size + 1}-${kept.name.replaceAll(/[^\w-]/g, "_").slice(0, 60)}/`;
    this.#folders.set(kept.name, { kept, folder });
    return { timestamp: { found, folder, roots: this.#hasRoots ? exportedRootsName : null }, findings };
  }

  /** The files of the time stamps that were found, and of the root certificates. */
  *files(): Generator<{ readonly name: string; readonly content: Buffer }> {
    for (const { kept, folder } of this.#folders.values()) {
      for (const [name, content] of filesOfTimestamp(kept)) {
        yield { name: `${folder}${name}`, content };
      }
    }
    if (this.#folders.size > 0 && this.#hasRoots) {
      yield { name: exportedRootsName, content: Buffer.from(this.#archive?.roots ?? "") };
    }
  }

  get #hasRoots(): boolean {
    return (this.#archive?.roots ?? "") !== "";
  }
}
