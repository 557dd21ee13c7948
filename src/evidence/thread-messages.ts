import type { SentenceKey } from "../errors/sentences.ts";
import type { Values } from "../errors/interpolation.ts";
import type { FailureFacts } from "../errors/dimensioner-error.ts";
import type {
  ArchiveProgress,
  Finding,
  PrunedPackage,
  PruneReport,
  VerifyReport,
} from "../model/archive-reports.ts";
import type { VerifyResult } from "../model/shapes.ts";
import type { PlacedPackage } from "../vault/packages/intent.ts";
import type { ExportHead, ExportResult, ExportTarget } from "./export/export-packages.ts";
import type { ChainedPackage } from "./report/neighbours.ts";
import type { Language } from "../rules/languages.ts";
import type { DatabaseLocation } from "../database/database-location.ts";
import type { FilesLocation } from "../vault/files-location.ts";

/** What a thread of its own does, so that hashing holds up no flow. It opens the files of the store itself. */
export type EvidenceTask =
  | {
      readonly action: "verify";
      readonly files: FilesLocation;
      /** The database; the whole archive is verified with it if no packages are named. */
      readonly database: DatabaseLocation;
      readonly packages: readonly PlacedPackage[] | null;
      /** A PEM file with the root certificates that signers are checked against; blank: none. */
      readonly roots: string;
      /** How many findings are returned. */
      readonly most: number;
    }
  | {
      readonly action: "prune";
      readonly files: FilesLocation;
      readonly database: DatabaseLocation;
      /** Milliseconds since 1970. */
      readonly before: number;
      readonly dryRun: boolean;
      /** How many packages are returned. */
      readonly most: number;
    }
  | {
      readonly action: "export";
      readonly files: FilesLocation;
      readonly packages: readonly ChainedPackage[];
      readonly language: Language;
      /** A file with trusted certificates for time stamps; blank: none. */
      readonly roots: string;
      readonly target: ExportTarget;
    }
  | {
      readonly action: "stream";
      readonly files: FilesLocation;
      readonly packages: readonly ChainedPackage[];
      readonly language: Language;
      readonly roots: string;
    };

/** The tasks with these actions. */
export type EvidenceTaskOf<Action extends EvidenceTask["action"]> = Extract<
  EvidenceTask,
  { readonly action: Action }
>;

/**
 * `stop` ends the task: a verification or an export between two blocks of a file, a deletion between two packages. `more` says
 * that a block of a streamed export was taken.
 */
export type ThreadRequest = "stop" | "more";

/** The result of each task, with the first of its findings or packages. */
export interface EvidenceResults {
  readonly verify: VerifyReport & { readonly first: readonly Finding[] };
  readonly prune: PruneReport & { readonly first: readonly PrunedPackage[] };
  readonly export: ExportResult;
  readonly stream: { readonly verification: VerifyResult };
}

export type EvidenceResult = EvidenceResults[EvidenceTask["action"]];

/** What the thread answers: how far it is, and how it ended. An error class does not survive the way between threads. */
export type EvidenceAnswer =
  | { readonly progress: ArchiveProgress }
  | { readonly begun: ExportHead }
  | { readonly block: Uint8Array }
  | { readonly result: EvidenceResult }
  | {
      readonly failure: {
        readonly sentence: SentenceKey;
        readonly values: Values;
        readonly facts: Pick<FailureFacts, "operation" | "surface">;
      };
    }
  | { readonly problem: string };
