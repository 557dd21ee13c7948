import { join } from "node:path";
import type { Node, NodeAPI } from "node-red";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { phrase } from "../../errors/interpolation.ts";
import type { DatabaseLocation } from "../../database/database-location.ts";
import { addressOfServer } from "../../database/postgres-address.ts";
import { readPostgresTls } from "../../database/postgres-tls.ts";
import { Store } from "../../vault/store.ts";
import { readDatabaseHost } from "../../rules/addresses.ts";
import { deployed } from "../config/deployed.ts";
import type { SettingsReader } from "../config/settings.ts";
import { readTls } from "../config/tls.ts";
import { PackageLinks } from "./package-links.ts";
import { errorBeforeSending, type Operation } from "../failure.ts";
import { sha256Of } from "../../model/sha256.ts";

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
  throw errorBeforeSending(operation, "configMissing", { what: phrase("store") });
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

/** The folder of what a store with a bucket has not archived yet. */
export function workFolderOf(RED: NodeAPI, id: string): string {
  return databaseFile(RED, id).replace(/\.sqlite$/, "-work");
}

/** The folder of the embedded databases of all stores. */
export function databaseFolder(RED: NodeAPI): string {
  return join(RED.settings.userDir ?? process.cwd(), "dimensioner");
}
