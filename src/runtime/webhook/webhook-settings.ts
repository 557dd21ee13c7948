import { phrase } from "../../errors/interpolation.ts";
import { headerNameProblem, readPath } from "../../rules/names.ts";
import type { WebhookPath } from "../../webhook/paths.ts";
import type { SecretRule, WebhookRules } from "../../webhook/receiver.ts";
import { SettingsReader } from "../config/settings.ts";
import { show } from "../failure.ts";

/** The saved properties that say how a webhook is served, as an imported flow or an environment variable has them. */
type WebhookProperties = Readonly<
  Record<"path" | "secretIn" | "header" | "dedupe" | "queueLimit" | "onlyOk" | "deviceClientId", unknown>
>;

const settings = new SettingsReader("webhook");

/** Reads the settings of a webhook; throws ERR_CONFIG where one of them cannot be used. */
export function readWebhook(
  given: WebhookProperties,
  secret: string,
): { readonly path: WebhookPath; readonly rules: WebhookRules } {
  const path = readPath(textOf(given.path));
  if ("problem" in path) {
    throw settings.invalid("path", path.problem);
  }
  const rules: WebhookRules = {
    secret: readSecret(given, secret.trim()),
    dedupeMs: settings.waitMs("dedupe", given.dedupe, 3600),
    queueLimit: settings.amount("queueLimit", given.queueLimit, 1000),
    onlyOk: given.onlyOk === true,
    deviceClientIds: textOf(given.deviceClientId)
      .toLowerCase()
      .split(/[,\s]+/)
      .filter((id) => id !== ""),
  };
  return { path: { base: path.base, takesPart: given.secretIn === "path" }, rules };
}

function readSecret({ secretIn, header }: WebhookProperties, value: string): SecretRule | null {
  if (secretIn === "none") {
    return null;
  }
  if (secretIn !== "header" && secretIn !== "path") {
    throw settings.invalid(
      "secretIn",
      phrase("noneOf", { value: show(secretIn), choices: ["header", "path", "none"] }),
    );
  }
  if (value === "") {
    throw settings.invalid("secret", phrase("empty"));
  }
  return secretIn === "path"
    ? { in: "path", value }
    : { in: "header", value, name: readHeaderName(textOf(header)) };
}

function readHeaderName(given: string): string {
  const name = given.trim().toLowerCase();
  const problem = headerNameProblem(name);
  if (problem !== null) {
    throw settings.invalid("header", problem);
  }
  return name;
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
