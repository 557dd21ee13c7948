import { identity } from "../../database/inbox.ts";
import { measurementOf } from "../packages/known-measurements.ts";
import { expectedRow, hashOfRow } from "./index-check.ts";
import type { SeenPackage } from "./seen-packages.ts";
import type { WalkedPackage } from "./walk-packages.ts";

/** What a verification notes of a package. */
export function seenOf(entry: WalkedPackage): SeenPackage {
  const { path, sha256, manifest } = entry;
  const { previous, supplements = null } = manifest;
  const measurement = measurementOf(manifest);
  const legacyId = measurement?.legacyId ?? null;
  return {
    path,
    sha256,
    store: manifest.store ?? null,
    job: manifest.job,
    archived: manifest.times.archived,
    previousPath: previous?.path ?? null,
    previousSha256: previous?.sha256 ?? null,
    missing: manifest.complete ? null : manifest.missing.join(", "),
    supplementsSha256: supplements?.sha256 ?? null,
    supplementsPath: supplements?.path ?? null,
    accepted: manifest.times.accepted,
    measurementKey: measurement?.key ?? null,
    transactionId: measurement === null ? null : identity(measurement.transactionId),
    legacyId: legacyId === null ? null : identity(legacyId),
    rowSha256: hashOfRow(expectedRow(path, entry)),
  };
}
