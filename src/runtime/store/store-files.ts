import type { Node, NodeAPI } from "node-red";
import { phrase } from "../../errors/interpolation.ts";
import { readBucketAddress } from "../../vault/s3/bucket-address.ts";
import type { Credentials } from "../../vault/s3/credentials.ts";
import type { BucketLocation } from "../../vault/files-location.ts";
import type { StoreFiles } from "../../vault/store.ts";
import type { SettingsReader } from "../config/settings.ts";
import { readPackagesFolder, type StoreFolder } from "./packages-folder.ts";
import { workFolderOf } from "./store-choice.ts";

/** A bucket as a store's settings name it. */
export interface BucketSettings {
  readonly bucket: string;
  readonly prefix: string;
  readonly endpoint: string;
  readonly region: string;
  readonly pathStyle: boolean;
  readonly retainDays: number;
}

/** The keys of a dialog; both are blank if they are those of the environment. */
export interface BucketKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

interface FilesSettings extends BucketSettings {
  readonly files: "folder" | "s3";
}

/** Reads where the packages of a store are. Throws ERR_CONFIG if its settings do not say in which bucket. */
export function readStoreFiles(
  RED: NodeAPI,
  node: Node,
  {
    settings,
    folder,
    keys,
  }: { readonly settings: FilesSettings; readonly folder: StoreFolder; readonly keys: BucketKeys },
  reader: SettingsReader,
): StoreFiles {
  return settings.files === "folder"
    ? readPackagesFolder(RED, node, folder)
    : readBucket(settings, keys, { workFolder: workFolderOf(RED, node.id), reader });
}

/** Reads the bucket of a store. Throws ERR_CONFIG. */
export function readBucket(
  { bucket, prefix, endpoint, region, pathStyle, retainDays }: BucketSettings,
  keys: BucketKeys,
  { workFolder, reader }: { readonly workFolder: string; readonly reader: SettingsReader },
): BucketLocation {
  const address = readBucketAddress({ bucket, prefix, endpoint, region, isPathStyle: pathStyle });
  if ("problem" in address) {
    throw reader.invalid(address.field, address.problem);
  }
  return { kind: "s3", address, credentials: readKeys(keys, reader), workFolder, retainDays };
}

/** Null for those of the environment. */
function readKeys(given: BucketKeys, reader: SettingsReader): Credentials | null {
  const accessKeyId = given.accessKeyId.trim();
  const secretAccessKey = given.secretAccessKey.trim();
  if ((accessKeyId === "") !== (secretAccessKey === "")) {
    throw reader.invalid(accessKeyId === "" ? "accessKeyId" : "secretAccessKey", phrase("bucketOneKey"));
  }
  return accessKeyId === "" ? null : { accessKeyId, secretAccessKey };
}
