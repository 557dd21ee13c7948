import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Environment, Credentials } from "./credentials.ts";

/**
 * Reads the keys of a profile from the files of AWS's programs: the one that AWS_PROFILE names, or `default`. Undefined
 * if there is none, or it has no keys of its own.
 */
export async function readProfile(environment: Environment): Promise<Credentials | undefined> {
  const name = environment["AWS_PROFILE"] || "default";
  const folder = join(homedir(), ".aws");
  const files = [
    [environment["AWS_SHARED_CREDENTIALS_FILE"] ?? join(folder, "credentials"), name],
    [environment["AWS_CONFIG_FILE"] ?? join(folder, "config"), name === "default" ? name : `profile ${name}`],
  ] as const;
  for (const [file, section] of files) {
    const values = readSection(await readFile(file, "utf8").catch(() => ""), section);
    const accessKeyId = values.get("aws_access_key_id");
    const secretAccessKey = values.get("aws_secret_access_key");
    if (accessKeyId !== undefined && secretAccessKey !== undefined) {
      return { accessKeyId, secretAccessKey, sessionToken: values.get("aws_session_token") };
    }
  }
  return undefined;
}

function readSection(text: string, wanted: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  let isWanted = false;
  for (const line of text.split(/\r?\n/)) {
    const [, section] = /^\s*\[\s*(.*?)\s*\]/.exec(line) ?? [];
    const [, key, value] = /^([\w.-]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (section !== undefined) {
      isWanted = section === wanted;
    } else if (isWanted && key !== undefined && value !== undefined && value !== "") {
      values.set(key.toLowerCase(), value);
    }
  }
  return values;
}
