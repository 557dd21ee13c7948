import assert from "node:assert/strict";
import type { NodeRed } from "../support/node-red.ts";

/** A line of what Test connection says. */
export interface Line {
  readonly state: string;
  readonly key: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** What the store's dialog sends to Test connection if nothing was entered in it. */
const fields = {
  z: "",
  folder: "",
  folderType: "str",
  files: "folder",
  bucket: "",
  prefix: "",
  endpoint: "",
  region: "",
  accessKeyId: "",
  secretAccessKey: "",
  pathStyle: true,
  retainDays: 0,
  roots: "",
  database: "embedded",
  host: "",
  port: 5432,
  databaseName: "",
  user: "",
  password: "",
  tls: "",
  poolSize: 5,
};

/** What Test connection says of something that has not answered within 10 s. */
const late = ["fileHung", "storeUnanswered", "postgresUnanswered", "bucketUnanswered"];

/**
 * Presses Test connection with these values in the dialog, and again where a computer was too busy to answer it in time. The answer
 * must not contain the secret.
 */
export async function testStore(
  nodeRed: NodeRed,
  values: { readonly id: string; readonly [field: string]: unknown },
  secret?: string,
): Promise<readonly Line[]> {
  const response = await postTest(nodeRed, { ...fields, ...values });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  assert.ok(secret === undefined || !text.includes(secret), text);
  const { lines } = JSON.parse(text) as { lines: readonly Line[] };
  return lines.some(({ key }) => late.includes(key)) ? testStore(nodeRed, values, secret) : lines;
}

/** Sends Test connection this body, whatever a dialog would send. */
export function postTest(nodeRed: NodeRed, body: object): Promise<Response> {
  return nodeRed.adminFetch("/dimensioner-store/test", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}
