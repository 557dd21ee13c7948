import type { NodeAPI } from "node-red";
import * as v from "valibot";
import { hashPassword } from "../../access/logins.ts";
import type { DatabaseLocation } from "../../database/database.ts";
import type { StoreDatabases } from "../../database/store-databases.ts";
import { readLogo } from "../../evidence/report/heading.ts";
import { fileError } from "../../media/disk.ts";
import { longestPasswordLength, shortestPasswordLength } from "../../rules/logins.ts";
import { Store, vaultName } from "../../vault/store.ts";
import { readRoots } from "../../vault/timestamp/timestamp-folder.ts";
import { deployed } from "../config/config-choice.ts";
import { workFolderOf } from "../store/store-choice.ts";
import { SettingsReader, environmentName } from "../config/settings.ts";
import {
  type TestLine,
  answerWith,
  line,
  lineOfError,
  orLate,
  readBody,
  readEnvironment,
  serveConnectionTest,
  untouched,
} from "./admin-route.ts";
import {
  testBucket,
  testDatabase,
  testFolder,
  type StoreValues,
  bucketOf,
  databaseOf,
  folderOf,
  storeValues,
} from "./store-test.ts";

const deployedStore = v.object({
  type: v.literal("dimensioner-store"),
  access: v.object({ store: v.instance(Store) }),
});

/** A share that takes longer to answer cannot be used for packages either. */
const longestTestMs = 10_000;

/** The route of Test connection: it tests the folder or the bucket of packages, the database, and the files of root certificates and of the logo. */
export function serveStoreTest(RED: NodeAPI, databases: StoreDatabases): void {
  serveConnectionTest(RED, "dimensioner-store", async (request, left) => {
    const given = readBody(storeValues, request);
    const signal = AbortSignal.any([left, AbortSignal.timeout(longestTestMs)]);
    const tests = [
      given.files === "folder" ? testFolderOf(RED, given, signal) : testBucketOf(RED, given, signal),
      testDatabaseOf(RED, given, databases, signal),
      testRoots(RED, given, signal),
      testLogo(RED, given, signal),
    ];
    const lines = tests.map((test) => test.catch((error: unknown) => [lineOfError(error)]));
    return (await Promise.all(lines)).flat();
  });
}

/** The route of the store file: where the dialog's packages and database are, without keys and passwords. */
export function serveStoreFile(RED: NodeAPI): void {
  const allowed = RED.auth.needsPermission("dimensioner-store.write");
  const route = answerWith(async (request) => {
    const given = readBody(storeValues, request);
    const vault =
      given.files === "folder"
        ? folderOf(RED, given)
        : bucketOf(RED, given, { accessKeyId: "", secretAccessKey: "" });
    if ("problem" in vault) {
      throw vault.problem;
    }
    const location = databaseOf(RED, given);
    const { storeFileOf } = await import("../../vault/store-file.ts");
    return { file: storeFileOf(vault, location) };
  });
  RED.httpAdmin.post("/dimensioner-store/file", allowed, route);
}

async function testDatabaseOf(
  RED: NodeAPI,
  given: StoreValues,
  databases: StoreDatabases,
  signal: AbortSignal,
): Promise<readonly TestLine[]> {
  const location = withPassword(RED, given, databaseOf(RED, given));
  if (location === null) {
    return [line("bad", "passwordAnew")];
  }
  return await testDatabase({
    databases,
    location,
    isDeployed: deployed(RED, given.id) !== null,
    signal,
    withinMs: longestTestMs,
  });
}

/** Returns the database with the password that the dialog means; null if it is not sent there. */
function withPassword(RED: NodeAPI, given: StoreValues, location: DatabaseLocation): DatabaseLocation | null {
  if (location.kind === "file") {
    return location;
  }
  const { address } = location;
  const password = readPassword(RED, given, address.url);
  return password === null ? null : { ...location, address: { ...address, password } };
}

/**
 * Returns the password that the dialog means, or null if it is not sent: one that is stored or comes from the environment goes only
 * to the address that it was deployed with, because whoever may test must not be able to read it at another address.
 */
function readPassword(RED: NodeAPI, given: StoreValues, url: string): string | null {
  const { id, password: typed } = given;
  if (typed !== "" && typed !== untouched && environmentName(typed) === undefined) {
    return typed;
  }
  const node = v.safeParse(deployedStore, RED.nodes.getNode(id));
  const location = node.success ? node.output.access.store.location : undefined;
  if (location?.kind === "postgres" && location.address.url === url) {
    const { password } = location.address;
    return typed === untouched
      ? password
      : readEnvironment(RED, given, new SettingsReader("store"))("password", typed);
  }
  // The driver takes this one where it is given none.
  return typed === "" && process.env["PGPASSWORD"] === undefined ? "" : null;
}

async function testRoots(
  RED: NodeAPI,
  given: StoreValues,
  signal: AbortSignal,
): Promise<readonly TestLine[]> {
  const path = readEnvironment(RED, given, new SettingsReader("store"))("roots", given.roots);
  const roots = await unlessHung(readRoots(path), path, signal);
  return roots.length === 0 ? [] : [line("good", "roots", { count: roots.length })];
}

async function testLogo(RED: NodeAPI, given: StoreValues, signal: AbortSignal): Promise<readonly TestLine[]> {
  const path = readEnvironment(RED, given, new SettingsReader("store"))("logo", given.logo);
  const logo = await unlessHung(readLogo(path), path, signal);
  return logo === null ? [] : [line("good", "logo", { path })];
}

async function unlessHung<T>(reading: Promise<T>, path: string, signal: AbortSignal): Promise<T> {
  const read = await orLate(reading, signal);
  if (read === "late") {
    throw fileError("fileHung", path, { operation: "test", surface: "disk", host: "store" });
  }
  return read;
}

async function testBucketOf(
  RED: NodeAPI,
  given: StoreValues,
  signal: AbortSignal,
): Promise<readonly TestLine[]> {
  const resolved = readEnvironment(RED, given, new SettingsReader("store"));
  const keys = {
    accessKeyId: resolved("accessKeyId", given.accessKeyId),
    secretAccessKey: readSecret(RED, given, resolved),
  };
  const location = bucketOf(RED, given, keys);
  return await testBucket(location, { signal, withinMs: longestTestMs });
}

/** A request contains a signature, never the key itself: so the stored one can be used with what the dialog contains. */
function readSecret(
  RED: NodeAPI,
  { id, secretAccessKey: typed }: StoreValues,
  resolved: ReturnType<typeof readEnvironment>,
): string {
  if (typed !== untouched) {
    return resolved("secretAccessKey", typed);
  }
  const node = v.safeParse(deployedStore, RED.nodes.getNode(id));
  const vault = node.success ? node.output.access.store.vault : undefined;
  return vault !== undefined && "kind" in vault && vault.kind === "s3"
    ? (vault.credentials?.secretAccessKey ?? "")
    : "";
}

async function testFolderOf(
  RED: NodeAPI,
  given: StoreValues,
  signal: AbortSignal,
): Promise<readonly TestLine[]> {
  const read = folderOf(RED, given);
  return "problem" in read
    ? [lineOfError(read.problem)]
    : await testFolder({ path: vaultName(read), workFolder: workFolderOf(RED, given.id) }, signal);
}

const requestSchema = v.object({
  password: v.pipe(v.string(), v.minLength(shortestPasswordLength), v.maxLength(longestPasswordLength)),
});

/** The route that hashes the password of a new login, so that the dialog saves only the hash. */
export function serveLoginHashes(RED: NodeAPI): void {
  const allowed = RED.auth.needsPermission("dimensioner-store.write");
  const route = answerWith(async (request) => {
    const { password } = readBody(requestSchema, request);
    return { hash: await hashPassword(password) };
  });
  RED.httpAdmin.post("/dimensioner-store/login", allowed, route);
}
