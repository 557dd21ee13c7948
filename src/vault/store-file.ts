import { open } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import * as v from "valibot";
import { type DatabaseLocation, databaseText } from "../database/database.ts";
import { isPostgresUrl, readPostgresUrl } from "../database/postgres-address.ts";
import { JsonLimitError, parseJson, recordLimits } from "../model/parse-json.ts";
import type { BucketLocation, VaultLocation } from "./store.ts";
import { namedVault } from "./open-vault.ts";

const aText = v.pipe(v.string("must be a text"), v.nonEmpty("must not be blank"));
const trueOrFalse = v.boolean("must be true or false");

const bucketEntries = {
  kind: v.literal("s3"),
  bucket: v.pipe(aText, v.regex(/^[\w.-]+$/, "must be the name of a bucket")),
  /** What the keys begin with. */
  prefix: v.exactOptional(v.pipe(v.string("must be a text"), v.regex(/^[^?]*$/, "must not contain “?”")), ""),
  /** What is missing of these comes from the environment, as for the programs of AWS. */
  endpoint: v.exactOptional(
    v.pipe(aText, v.check(isEndpoint, "must be an http or https address without credentials")),
  ),
  region: v.exactOptional(aText),
  /** False: the host names the bucket, not the path. */
  pathStyle: v.exactOptional(trueOrFalse),
};
const folderEntries = { kind: v.literal("folder"), path: aText };

const bucketFiles = v.strictObject(bucketEntries, sayOf(bucketEntries));
const folderFiles = v.strictObject(folderEntries, sayOf(folderEntries));
const storeEntries = {
  files: v.variant("kind", [bucketFiles, folderFiles], "must be “s3” or “folder”"),
  /** The file of the database, or the address of one in PostgreSQL. */
  database: aText,
};
const storeFile = v.strictObject(storeEntries, sayOf(storeEntries));

/**
 * The content of a store file, which says where a store has its packages and its database, for command-line tools. It
 * contains no secrets: credentials and passwords come from the environment.
 */
export type StoreFile = v.InferOutput<typeof storeFile>;

/** Where a store has its packages and its database. */
export interface NamedStore {
  readonly vault: VaultLocation;
  /** The same as a command line names it: the path of the folder, or `s3://bucket/prefix` with its options. */
  readonly address: string;
  /** As `--database` takes it. */
  readonly database: string;
}

const mostCharacters = 64 * 1024;
const mostBytesOfCharacter = 4;
/** How each ZIP begins. */
const zipStart = "PK\u0003\u0004";
/** The names of secrets, in small letters and without signs. */
const secretName = /(?:accesskey|accesskeyid|secret|secretkey|token|password|passwd|credentials?)$/;

/** The file for a store. A relative path in it is one from the folder of this process. */
export function storeFileOf(vault: VaultLocation, database: DatabaseLocation): StoreFile {
  return {
    files: vault.kind === "folder" ? { kind: "folder", path: resolve(vault.path) } : fileOfBucket(vault),
    database: databaseText(database),
  };
}

/** Reads such a file. A relative path is one from its folder. Throws an error with a sentence that says what to correct. */
export async function readStoreFile(path: string): Promise<NamedStore> {
  try {
    return readStore(await readStart(path), dirname(resolve(path)));
  } catch (error) {
    throw new Error(`the store file ${path}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/** Reads as much as shows that it is too long: an export may have gigabytes. */
async function readStart(path: string): Promise<string> {
  const file = await open(path);
  try {
    const most = Buffer.alloc(mostCharacters * mostBytesOfCharacter + 1);
    const { bytesRead } = await file.read(most, 0, most.length, 0);
    return most.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

function readStore(content: string, folder: string): NamedStore {
  const value = parse(content);
  const secret = findSecret(value);
  if (secret !== undefined) {
    throw new Error(
      `“${secret}” is a secret, which does not belong into this file. Remove it: the credentials of a bucket come from the environment (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE), and the password of PostgreSQL from PGPASSWORD or a password file`,
    );
  }
  const { success, issues, output } = v.safeParse(storeFile, value);
  if (!success) {
    const [issue] = issues;
    throw new Error(`${v.getDotPath(issue) ?? "the content"} ${issue.message}`);
  }
  const { files, database } = output;
  const address = files.kind === "folder" ? resolve(folder, files.path) : urlOf(files);
  return {
    vault: namedVault(address),
    address,
    database: isPostgresUrl(database) ? readPostgresUrl(database).url : resolve(folder, database),
  };
}

/** The error of JSON.parse would show a part of the text, which may be a secret. */
function parse(content: string): unknown {
  if (content.startsWith(zipStart)) {
    throw new Error(
      "this is a ZIP and no store file: extract an export, and name the folder that it is in then",
    );
  }
  if (content.length > mostCharacters) {
    throw new Error(`the content is longer than ${mostCharacters / 1024} KB, so it is no store file`);
  }
  try {
    return parseJson(content.replace(/^\uFEFF/, ""), recordLimits);
  } catch (error) {
    if (error instanceof JsonLimitError) {
      throw error;
    }
  }
  throw new Error("the content is not JSON");
}

/** The name of the first field that looks like a secret. */
function findSecret(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) {
    return undefined;
  }
  for (const [name, inner] of Object.entries(value)) {
    const found = secretName.test(name.toLowerCase().replaceAll(/[^a-z]/g, "")) ? name : findSecret(inner);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

/** Requests with these parts go to the same place, whatever the environment says. */
function fileOfBucket({ address }: BucketLocation): v.InferOutput<typeof bucketFiles> {
  const { bucket, prefix, origin, basePath, region } = address;
  const pathStyle = basePath.endsWith(`/${bucket}`);
  const endpoint = pathStyle
    ? origin + basePath.slice(0, -bucket.length - 1)
    : origin.replace(`://${bucket}.`, "://") + basePath;
  return { kind: "s3", bucket, prefix, endpoint, region, pathStyle };
}

function urlOf({ bucket, prefix, endpoint, region, pathStyle }: v.InferOutput<typeof bucketFiles>): string {
  const query = new URLSearchParams({
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(pathStyle === undefined ? {} : { pathStyle: String(pathStyle) }),
  });
  return `s3://${bucket}/${prefix}?${query.toString()}`;
}

function isEndpoint(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}

function sayOf(entries: object): (issue: v.StrictObjectIssue) => string {
  return ({ expected, received }) => {
    if (expected === "never") {
      return `is not known: the fields are ${Object.keys(entries).join(", ")}`;
    }
    return expected !== null && received === "undefined" ? "is missing" : "must be an object";
  };
}
