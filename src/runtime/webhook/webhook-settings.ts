import { phrase } from "../../errors/interpolation.ts";
import { headerNameProblem, readPath } from "../../rules/names.ts";
import type { ServedPath } from "../web/served-paths.ts";
import type { SecretRule, WebhookRules } from "../../webhook/receiver.ts";
import { SettingsReader } from "../config/settings.ts";

/** The settings that say how a webhook is served. */
interface WebhookSettings {
  readonly path: string;
  readonly secretIn: "header" | "path" | "none";
  readonly header: string;
  readonly dedupeMs: number;
  readonly queueLimit: number;
  readonly onlyOk: boolean;
  readonly deviceClientId: string;
}

const settings = new SettingsReader("webhook");

/** Reads the settings of a webhook; throws ERR_CONFIG where one of them cannot be used. */
export function readWebhook(
  given: WebhookSettings,
  secret: string,
): { readonly path: ServedPath; readonly rules: Omit<WebhookRules, "deviceOf"> } {
  const { dedupeMs, queueLimit, onlyOk } = given;
  const path = readPath(given.path);
  if ("problem" in path) {
    throw settings.invalid("path", path.problem);
  }
  const rules = {
    secret: readSecret(given, secret.trim()),
    dedupeMs,
    queueLimit,
    onlyOk,
    deviceClientIds: given.deviceClientId
      .toLowerCase()
      .split(/[,\s]+/)
      .filter((id) => id !== ""),
  };
  return { path: { base: path.base, takesPart: given.secretIn === "path" }, rules };
}

function readSecret({ secretIn, header }: WebhookSettings, value: string): SecretRule | null {
  if (secretIn === "none") {
    return null;
  }
  if (value === "") {
    throw settings.invalid("secret", phrase("empty"));
  }
  return secretIn === "path" ? { in: "path", value } : { in: "header", value, name: readHeaderName(header) };
}

function readHeaderName(given: string): string {
  const name = given.trim().toLowerCase();
  const problem = headerNameProblem(name);
  if (problem !== null) {
    throw settings.invalid("header", problem);
  }
  return name;
}
