/**
 * The library without Node-RED: typed clients for both generations of the device and for the cloud, functions that save
 * downloads completely or not at all, and the commands that maintain archived packages. It also has the types of all
 * messages and payloads of the nodes, for Function nodes with a type checker.
 */
export { CloudClient, type MediaWaitOptions, type MediaWaitResult } from "./cloud/client.ts";
export { listFleet, type FleetOptions } from "./cloud/fleet.ts";
export type { CloudClientOptions } from "./cloud/client.ts";
export { DeviceClient } from "./device/client.ts";
export type { DeviceClientOptions } from "./device/client.ts";
export type { Generation, ImageKind, VideoAction, VideoMethod } from "./device/generations.ts";
export type { VideoOptions } from "./device/client.ts";
export {
  DimensionerError,
  errorCodes,
  isDimensionerError,
  isRetryable,
  needsCorrection,
  needsLookAtDevice,
  type ErrorDetails,
  type ErrorCode,
  type Outcome,
  type Surface,
} from "./errors/dimensioner-error.ts";
export { CommandQueues } from "./http/command-queue.ts";
export type { TlsOptions } from "./http/connections.ts";
export type { DownloadOptions, OnProgress } from "./http/download.ts";
export type { CallOptions, CommandOptions, QueueRules } from "./http/transport.ts";
export { pruneArchive, rebuildIndex, verifyArchive } from "./library/archive.ts";
export {
  billableWeight,
  type BillableWeightOptions,
  type OwnWeightTable,
} from "./library/billable-weight.ts";
export type { OwnWeightRule } from "./billing/weight-table.ts";
export {
  addNumbers,
  exportPackages,
  findPackages,
  holdPackages,
  listMissing,
  releasePackages,
  type AddNumbersOptions,
  type ExportedPackages,
  type ExportPackagesOptions,
  type FindPackagesOptions,
  type HoldPackagesOptions,
  type ListMissingOptions,
} from "./library/archive.ts";
export { timestampArchive, type TimestampArchiveOptions } from "./library/archive.ts";
export { readToBuffer, saveToFile, type ReadOptions, type SaveOptions } from "./library/media.ts";
export type {
  ArchiveMessage,
  HeldUpMessage,
  BillableMessage,
  BillableWeightInput,
  BufferMessage,
  ControlMessage,
  DeviceListMessage,
  DeviceMessage,
  ErrorMessage,
  ExportBufferMessage,
  ExportFileMessage,
  EvidenceInput,
  EvidenceListMessage,
  EvidenceTableMessage,
  EvidenceMessage,
  FetchImageInput,
  FetchMediaInput,
  FileMessage,
  MeasureInput,
  MeasureMessage,
  MediaItemMessage,
  MediaListMessage,
  MissingListMessage,
  MissingMessage,
  PruneMessage,
  StoreStateMessage,
  RemoteMeasureMessage,
  ScanInput,
  ScanMessage,
  CheckpointMessage,
  TimestampMessage,
  TransactionInput,
  TransactionMessage,
  VerifyMessage,
  VideoInput,
  VideoBufferMessage,
  VideoFileMessage,
  VideoMessage,
} from "./library/messages.ts";
export type { ReadingOptions } from "./scan/read-code.ts";
export { readScan, readScans } from "./scan/read-scans.ts";
export { readTransactionRecord } from "./library/media.ts";
export type {
  ArchiveNote,
  ArchiveOptions,
  ArchiveProgress,
  Finding,
  NotIndexed,
  PackageFilter,
  ReportHeading,
  PackageLookup,
  PruneArchiveOptions,
  PrunedPackage,
  PruneReport,
  PrunedSpace,
  RebuildIndexOptions,
  RebuildReport,
  Unchecked,
  Verdict,
  VerifiedPart,
  VerifyArchiveOptions,
  VerifyReport,
} from "./model/archive-reports.ts";
export type { BufferedMedia } from "./media/read-to-buffer.ts";
export type { Download, DownloadSource, Framing } from "./model/download.ts";
export type { Measurement, MeasureSource, References } from "./model/measurement.ts";
export type {
  AddedNumber,
  ArchivedFile,
  ArchivedPackage,
  HeldUp,
  BillableWeight,
  BillingThreshold,
  CloudDevice,
  EvidencePackage,
  FleetDevice,
  Hold,
  LabelDeviation,
  LabelDimensions,
  LabelWeight,
  MeasuredBy,
  MeasuredObject,
  MeasureResult,
  MediaItem,
  MessageParts,
  MissingEvidence,
  PruneResult,
  SavedFile,
  Scan,
  ScanCarrier,
  ScanElement,
  ScanKeyboard,
  ScanSeparator,
  SentReferences,
  SideDeviation,
  Terminal,
  Correction,
  LogCheckpoint,
  TimestampResult,
  TransactionRecord,
  StoreState,
  VerifyResult,
  VideoCommand,
  VideoStart,
  WeightDeviation,
  WeightTable,
  WeightTableCarrier,
  WeightTableLimits,
  WeightTableRule,
} from "./model/shapes.ts";
