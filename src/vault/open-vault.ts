import { join } from "node:path";
import { checkRoot } from "../media/place-file.ts";
import {
  type ArchiveDisk,
  asFileError,
  diskFacts,
  plainDisk,
  type ReadDisk,
  exists,
  stateFolderName,
} from "./archive-disk.ts";
import type { BucketVault } from "./bucket/bucket-vault.ts";
import { FolderVault } from "./folder/folder-vault.ts";
import { isS3Url, readS3Url } from "./s3/bucket-address.ts";
import type { Credentials } from "./s3/credentials.ts";
import type { BucketOptions } from "./s3/requests.ts";
import { type BucketLocation, type VaultLocation, vaultKey } from "./store.ts";
import type { Vault } from "./vault.ts";
import { type VaultScope, findScope, findRoot } from "./walk.ts";

export interface OpenVaultOptions {
  /** The disk of a folder. */
  readonly disk?: ArchiveDisk | undefined;
  /** Aborting it ends all requests to a bucket. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens the vault of a store. The client of object stores is loaded only for a bucket. Rejects with ERR_FILE if the folder is
 * not there. Nothing is sent to a bucket yet.
 */
export async function openVault(
  location: VaultLocation,
  { disk = plainDisk, signal }: OpenVaultOptions = {},
): Promise<Vault> {
  if (location.kind === "folder") {
    return new FolderVault(await openRoot(location.path, disk), disk);
  }
  return await openBucketVault(location, { signal });
}

/** What a person has named: a folder, or the address of a bucket, whose credentials are in the environment. Throws ERR_CONFIG. */
export function namedVault(named: string): VaultLocation {
  return isS3Url(named)
    ? { kind: "s3", address: readS3Url(named), credentials: null, workFolder: "", retainDays: 0 }
    : { kind: "folder", path: named };
}

/** Returns the folder of packages without links. Throws ERR_FILE if it is not there. */
async function openRoot(folder: string, disk: ArchiveDisk): Promise<string> {
  const root = await checkRoot(folder, disk, diskFacts);
  try {
    return await disk.realpath(root);
  } catch (error) {
    throw asFileError(error, root);
  }
}

/** The same for a bucket. `options.credentials` are used where the location has none. */
export async function openBucketVault(
  { address, credentials }: BucketLocation,
  options: BucketOptions,
): Promise<BucketVault> {
  const [{ Bucket }, { BucketDisk, rootOf }, { BucketVault: Opened }] = await Promise.all([
    import("./s3/bucket.ts"),
    import("./bucket/bucket-disk.ts"),
    import("./bucket/bucket-vault.ts"),
  ]);
  const given = credentials === null ? {} : { credentials: fixed(credentials) };
  const bucket = await Bucket.open(address, { ...options, ...given });
  return new Opened(new BucketDisk(bucket), rootOf(address));
}

/** The credentials of a dialog, which no renewal replaces. */
function fixed(credentials: Credentials): NonNullable<BucketOptions["credentials"]> {
  return { get: async () => credentials, drop: () => undefined };
}

/** A vault that is being read or changed, or the part of it that was named. */
export interface OpenedScope extends VaultScope {
  readonly vault: BucketVault | FolderVault;
  /** The disk of `vault`. */
  readonly disk: ReadDisk;
  /** For people: the path of the folder of packages, or `s3://bucket/prefix`. */
  readonly location: string;
  /** As the database of a store names it: the path, or the `vaultKey` of the bucket. */
  readonly key: string;
  close(): Promise<void>;
}

interface OpenScopeOptions {
  readonly disk?: ArchiveDisk | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The named folder has the packages of an export: no archive above it is its own, and it has no state folder. */
  readonly isExport?: boolean;
}

/**
 * Opens what a person has named, a folder or the address of a bucket, which may be a part of an archive; or where a store
 * has its packages, which is all of it. The client of object stores is loaded only for a bucket. Aborting the signal ends
 * all requests to the bucket. Rejects with ERR_CONFIG, ERR_FILE and ERR_STORE.
 */
export async function openScope(
  named: string | VaultLocation,
  { disk = plainDisk, signal, isExport = false }: OpenScopeOptions,
): Promise<OpenedScope> {
  const isWhole = typeof named !== "string";
  const location = isWhole ? named : namedVault(named);
  if (location.kind === "s3") {
    return await openBucket(location, isWhole, signal);
  }
  const found = await findScope(location.path, disk);
  const scope = isWhole ? await wholeScope(found.start, disk) : isExport ? exportedScope(found.start) : found;
  const vault = new FolderVault(scope.root, disk);
  return { ...scope, vault, disk, location: vault.name, key: scope.root, close: () => vault.close() };
}

async function openBucket(
  location: BucketLocation,
  isWhole: boolean,
  signal: AbortSignal | undefined,
): Promise<OpenedScope> {
  const opened = await openBucketVault(location, { signal });
  try {
    const { root: start, disk } = opened;
    const scope = await (isWhole ? wholeScope : findRoot)(start, disk);
    const vault = opened.at(scope.root);
    const key = vaultKey({ ...location, address: { ...location.address, prefix: vault.prefix } });
    return { ...scope, vault, disk, location: vault.name, key, close: () => vault.close() };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** A store's own vault is never a part of another one, also before it has a state folder. */
async function wholeScope(root: string, disk: ReadDisk): Promise<VaultScope> {
  return { root, start: root, hasState: await exists(join(root, stateFolderName), disk) };
}

function exportedScope(root: string): VaultScope {
  return { root, start: root, hasState: false };
}
