import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Node, NodeAPI } from "node-red";
import type { DatabaseLocation } from "../../database/database.ts";
import { addressOfServer, readPostgresTls } from "../../database/postgres-address.ts";
import { DimensionerError, isDimensionerError } from "../../errors/dimensioner-error.ts";
import { field, phrase } from "../../errors/interpolation.ts";
import { sha256Of } from "../../model/sha256.ts";
import { ownPackagesFolder, storeFolderTypes } from "../../properties/property-table.ts";
import { readDatabaseHost } from "../../rules/addresses.ts";
import { readBucketAddress } from "../../vault/s3/bucket-address.ts";
import type { Credentials } from "../../vault/s3/credentials.ts";
import { Store, type StoreVault, type BucketLocation, type VaultLocation } from "../../vault/store.ts";
import { deployed } from "../config/config-choice.ts";
import { SettingsReader, absence, readTls } from "../config/settings.ts";
import { type Operation, errorBeforeSending, show } from "../messages.ts";
import type { DatabaseCheck } from "../../database/store-databases.ts";
import { translateError, translateStatus } from "../status/node-status.ts";

/** Names, rights and hashed passwords of those who may see the evidence page, as JSON; the user of the database; and the keys of the bucket. */
export interface StoreCredentials {
  logins: string;
  user: string;
  password: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/** What a store's config node provides: the store, or why there is none. */
export interface StoreNode extends Node<StoreCredentials> {
  access: { readonly store: Store } | { readonly problem: DimensionerError };
  links: PackageLinks;
}

/** Returns the deployed store with this id; throws ERR_CONFIG if there is none, or it cannot be used. */
export function storeOf(RED: NodeAPI, id: string, operation: Operation): Store {
  const node = deployed(RED, id);
  const access: unknown = node !== null && "access" in node ? node.access : undefined;
  if (typeof access === "object" && access !== null) {
    if ("store" in access && access.store instanceof Store) {
      return access.store;
    }
    if ("problem" in access && access.problem instanceof DimensionerError) {
      throw errorBeforeSending(operation, access.problem.sentence, access.problem.values);
    }
  }
  throw errorBeforeSending(operation, absence(RED, id), { what: phrase("store") });
}

/** Returns the address of a package on the evidence page of a store; null if there is none. */
export function linkToPackage(RED: NodeAPI, storeId: string, packageId: string): string | null {
  const node = deployed(RED, storeId);
  const links: unknown = node !== null && "links" in node ? node.links : undefined;
  return links instanceof PackageLinks ? links.to(packageId) : null;
}

/** A store's database as its settings name it. */
interface DatabaseSettings {
  readonly database: "embedded" | "postgres";
  readonly host: string;
  readonly port: number;
  readonly databaseName: string;
  /** The user and the password are blank: from the environment. */
  readonly user: string;
  readonly password: string;
  /** The id of a tls-config node; blank: none. */
  readonly tls: string;
  readonly poolSize: number;
}

/** Where a store's database is. Throws ERR_CONFIG if its settings do not name one. */
export function readLocation(
  RED: NodeAPI,
  id: string,
  settings: DatabaseSettings,
  reader: SettingsReader,
): DatabaseLocation {
  if (settings.database === "embedded") {
    return { kind: "file", file: databaseFile(RED, id) };
  }
  const { port, user, password, poolSize } = settings;
  const read = readDatabaseHost(settings.host);
  if ("problem" in read) {
    throw reader.invalid("host", read.problem);
  }
  const databaseName = settings.databaseName.trim();
  if (databaseName === "") {
    throw reader.invalid("databaseName", phrase("empty"));
  }
  const tls = readTls(RED, settings.tls, reader);
  const server = {
    host: read.host,
    port,
    databaseName,
    user: user.trim(),
    password,
    tls: tls === undefined ? undefined : readPostgresTls(tls),
  };
  return { kind: "postgres", address: addressOfServer(server), poolSize };
}

/** The file of an embedded database: in Node-RED's user directory, named by the id of the config node. */
export function databaseFile(RED: NodeAPI, id: string): string {
  // The id in an imported flow can be any text.
  const name = /^[\w-]{1,64}$/.test(id) ? id : sha256Of(id).slice(0, 32);
  return join(databaseFolder(RED), `${name}.sqlite`);
}

/** The folder of what a store has not archived yet, if that is not beside its packages. */
export function workFolderOf(RED: NodeAPI, id: string): string {
  return databaseFile(RED, id).replace(/\.sqlite$/, "-work");
}

/** The folder of the embedded databases of all stores. */
function databaseFolder(RED: NodeAPI): string {
  return join(RED.settings.userDir ?? process.cwd(), "dimensioner");
}

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
export function readStoreVault(
  RED: NodeAPI,
  node: Node,
  {
    settings,
    folder,
    keys,
  }: { readonly settings: FilesSettings; readonly folder: StoreFolder; readonly keys: BucketKeys },
  reader: SettingsReader,
): StoreVault {
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

const ofSettings: Operation = { operation: "settings", surface: "config", acts: false };

/** The folder as a flow or a dialog has it; flows are also written by hand. */
export interface StoreFolder {
  readonly folder: unknown;
  readonly folderType: unknown;
}

/** Reads the folder from a store's settings. A store without one can still be used for its database. */
export function readPackagesFolder(
  RED: NodeAPI,
  node: Node | null,
  { folder, folderType }: StoreFolder,
): StoreVault {
  const text = textOf(folder);
  if (!storeFolderTypes.some((type) => type === folderType)) {
    const values = { field: field("folder"), value: show(folderType), choices: storeFolderTypes };
    return { problem: errorBeforeSending(ofSettings, "configChoice", values) };
  }
  if (text.trim() === "") {
    return { problem: errorBeforeSending(ofSettings, "configFolder") };
  }
  const read =
    folderType === "str"
      ? { kind: "folder" as const, path: text === ownPackagesFolder ? madeFolder(RED) : text }
      : readVariables(RED, node, text);
  return "problem" in read || node === null ? read : { ...read, workFolder: workFolderOf(RED, node.id) };
}

/** It is on the disk of Node-RED itself, so it is no share that is not mounted. */
function madeFolder(RED: NodeAPI): string {
  const path = join(RED.settings.userDir ?? process.cwd(), ownPackagesFolder);
  try {
    mkdirSync(path, { recursive: true });
  } catch {
    // Whoever needs the folder says what is wrong with it.
  }
  return path;
}

/** Returns where the packages of a store are; throws ERR_CONFIG if its settings do not say it. It need not exist. */
export function filesOf({ vault }: Store, operation: Operation): VaultLocation {
  if ("problem" in vault) {
    throw errorBeforeSending(operation, vault.problem.sentence, vault.problem.values);
  }
  return vault;
}

/**
 * Replaces variables in the text of a typed input of type env: a name, or a text with `${NAME}` in it. A variable that
 * is not set is an error, because the rest of the text would name another folder.
 */
function readVariables(RED: NodeAPI, node: Node | null, text: string): StoreVault {
  const unset: string[] = [];
  const read = (name: string): string => {
    const found: unknown = node === null ? process.env[name] : RED.util.getSetting(node, name);
    const value = textOf(found);
    if (value.trim() === "") {
      unset.push(name);
    }
    return value;
  };
  const marks = /\$\{([^}]+)\}/g;
  const path = text.includes("${")
    ? text.replace(marks, (_mark, name: string) => read(name))
    : read(text.trim());
  const [name] = unset;
  return name === undefined
    ? { kind: "folder", path }
    : { problem: new SettingsReader("store").invalid("folder", phrase("environmentUnset", { name })) };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The addresses of a store's packages on its evidence page. */
export class PackageLinks {
  #page: string | undefined;

  /** From now on the page is served at this address, which ends with a slash. */
  begin(page: string): void {
    this.#page = page;
  }

  end(): void {
    this.#page = undefined;
  }

  /** The address of a package; null if the page is not served. */
  to(packageId: string): string | null {
    return this.#page === undefined ? null : `${this.#page}#package=${encodeURIComponent(packageId)}`;
  }
}

/** A check that ends sooner is not worth a line in the log. */
const toldAfterMs = 1_000;

/** Says in the log that a database is being checked while the flows run, and how it has ended. */
export async function tellCheck(RED: NodeAPI, file: string, { bytes, ended }: DatabaseCheck): Promise<void> {
  const sinceMs = performance.now();
  let isTold = false;
  const timer = setTimeout(() => {
    isTold = true;
    RED.log.info(translateStatus(RED, "checkingDatabase", { path: file, size: { bytes } }));
  }, toldAfterMs).unref();
  try {
    await ended;
    if (isTold) {
      const seconds = Math.round((performance.now() - sinceMs) / 1_000);
      RED.log.info(translateStatus(RED, "checkedDatabase", { path: file, seconds }));
    }
  } catch (error) {
    if (isDimensionerError(error) && error.sentence !== "storeClosed") {
      RED.log.error(translateError(RED, error).message);
    }
  } finally {
    clearTimeout(timer);
  }
}
