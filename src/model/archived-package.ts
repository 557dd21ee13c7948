/** A transaction's media as one package on disk. */
export interface ArchivedPackage {
  /** Absolute paths. */
  readonly folder: string;
  readonly manifest: string;
  readonly transactionId: string;
  readonly transactionReference: string | null;
  readonly files: readonly ArchivedFile[];
  readonly bytes: number;
  /** Whether all that was expected is there. */
  readonly complete: boolean;
  /** Whether the package was there before this message. */
  readonly alreadyArchived: boolean;
}

export interface ArchivedFile {
  /** Absolute. */
  readonly path: string;
  readonly contentId: string | null;
  readonly description: string | null;
  /** By its content, else as announced. */
  readonly contentType: string | null;
  readonly bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}
