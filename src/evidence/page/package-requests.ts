import * as v from "valibot";
import type { DatabaseLocation } from "../../database/database-location.ts";
import type { EvidencePackage } from "../../model/shapes.ts";
import { packageVersion } from "../../package/package-files.ts";
import type { FilesLocation } from "../../vault/files-location.ts";
import { type OpenedPackage, longestReason, openPackage } from "../hold.ts";
import { type EvidenceSource, changeHold, demandListed, demandPackages, findPackages } from "../packages.ts";
import { runInThread } from "../run-in-thread.ts";
import { Refusal } from "./answers.ts";

/** The packages of a store and its database, and where they are. */
export interface PageSource extends EvidenceSource {
  readonly databaseLocation: DatabaseLocation;
  readonly filesLocation: FilesLocation;
  /** A PEM file with the root certificates that signers of time stamps are checked against; blank: none. */
  readonly timestampRoots: string;
}

const mostFindings = 100;

export const holdBody = v.strictObject({
  /** When the hold began that the page shows; null if it shows none, or one without a time. */
  heldAt: v.nullable(v.string()),
  reason: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(longestReason)),
});

/** A package as the page shows it: without the paths of this computer. Files are asked for by their place in the list. */
export function shownPackage({ folder: _folder, files, ...found }: EvidencePackage): object {
  return {
    ...found,
    files: files.map(({ path, ...file }) => ({ ...file, name: path.split(/[/\\]/).at(-1) ?? "" })),
  };
}

export async function findPackage(source: EvidenceSource, id: string): Promise<EvidencePackage> {
  const [found] = await findPackages(source, { by: "packageId", value: id, limit: 1 });
  if (found === undefined) {
    throw new Refusal(404, "notFound");
  }
  return found;
}

/** The item of a package's manifest at this place; "picture" is its first picture. */
export async function findFile(
  source: EvidenceSource,
  id: string,
  place: string,
): Promise<{ readonly opened: OpenedPackage; readonly item: OpenedPackage["manifest"]["items"][number] }> {
  // Each picture is asked for by itself, and one that is gone cannot be opened anyway.
  const [indexed] = await demandListed(source, { by: "packageId", value: id, limit: 1 });
  if (indexed === undefined) {
    throw new Refusal(404, "notFound");
  }
  const opened = await openPackage(source.files, indexed);
  const { items } = opened.manifest;
  const item =
    place === "picture"
      ? items.find((one) => (one.contentTypeFound ?? one.contentTypeAnnounced ?? "").startsWith("image/"))
      : items[/^\d{1,6}$/.test(place) ? Number(place) : -1];
  if (item === undefined) {
    throw new Refusal(404, "notFound");
  }
  return { opened, item };
}

interface HoldChange {
  readonly what: "hold" | "release";
  readonly reason: string;
  readonly person: string;
}

/** Changes the hold if it is still the one that its person sees. */
export async function changeHoldOf(
  source: EvidenceSource,
  id: string,
  { heldAt, ...change }: HoldChange & { readonly heldAt: string | null },
): Promise<EvidencePackage> {
  const { hold } = await findPackage(source, id);
  if ((hold === null) !== (change.what === "hold") || (hold?.heldAt ?? null) !== heldAt) {
    throw new Refusal(409, "holdChanged");
  }
  const [changed] = await changeHold(source, { by: "packageId", value: id, limit: 1 }, change);
  if (changed === undefined) {
    throw new Refusal(404, "notFound");
  }
  return changed;
}

/** Hashes the files of a package again, in a thread of their own, and verifies its time stamp. */
export async function verifyPackage(source: PageSource, id: string, signal: AbortSignal): Promise<object> {
  const packages = await demandPackages(source, { by: "packageId", value: id, limit: 1 });
  const { first, findings, verdict, notes } = await runInThread(
    {
      action: "verify",
      files: source.filesLocation,
      database: source.databaseLocation,
      packages,
      roots: source.timestampRoots,
      most: mostFindings,
    },
    { signal, onProgress: () => undefined },
  );
  const { name, version } = packageVersion();
  return {
    verdict,
    findings: first,
    findingCount: findings,
    // Undefined, and thus not sent, if the store has never had a time stamp.
    timestamp: notes[0]?.timestamp,
    verifiedAtUtc: new Date().toISOString(),
    software: `${name} ${version}`,
  };
}
