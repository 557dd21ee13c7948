import type { WebhookPost } from "../simulator/webhooks.ts";

/** Where the examples 01 and 20 listen in a Node-RED on this computer. */
export const defaultWebhooks = [
  "http://127.0.0.1:1880/dimensioner/transaction",
  "http://127.0.0.1:1880/dimensioner/operator-scans",
] as const;

/** What the examples expect. */
export const defaultSecret = { name: "x-webhook-secret", value: "simulator" } as const;

/** Long enough to start Node-RED after the simulator. */
export const webhookRetryMs = 10 * 60_000;

interface Server {
  readonly urls: Set<string>;
  /** The latest answer of each address; null for no answer. */
  readonly answers: Map<string, number | null>;
  /** The sentence that was printed last. */
  said: string | null;
}

function isTaken(statusCode: number | null): boolean {
  return statusCode !== null && statusCode >= 200 && statusCode < 300;
}

function problemOf(origin: string, answers: readonly (number | null)[]): string {
  const refused = answers.filter((one) => one !== null);
  if (refused.length === 0) {
    return `Webhook: ${origin} does not respond, so no flow receives the records of measurements. Start Node-RED there, or use --no-webhook. Each record is retried for ten minutes.`;
  }
  if (refused.every((one) => one === 404)) {
    return `Webhook: no flow at ${origin} accepts the records (HTTP status 404). Deploy example 01 or 20 there, or use --no-webhook.`;
  }
  return `Webhook: ${origin} responds with HTTP status ${refused.join(" and ")}. If it is 401, compare the secret in the node with --webhook-secret.`;
}

/**
 * Prints one line when a server does not accept the webhook's records, and another one when that has changed. A server
 * with several addresses accepts them if one of its addresses does: hardly anybody deploys both examples.
 */
export function webhookReporter(
  urls: readonly string[],
  print: (line: string) => void,
): (post: WebhookPost) => void {
  const servers = new Map<string, Server>();
  for (const url of urls) {
    const { origin } = new URL(url);
    const server = servers.get(origin) ?? { urls: new Set(), answers: new Map(), said: null };
    server.urls.add(url);
    servers.set(origin, server);
  }

  return ({ url, statusCode }) => {
    const { origin } = new URL(url);
    const server = servers.get(origin);
    if (server === undefined) {
      return;
    }
    const { answers } = server;
    // A server that has just started, or ended, has to be asked again at all its addresses.
    const hasChanged = [...answers.values()].some((before) => (before === null) !== (statusCode === null));
    if (hasChanged) {
      answers.clear();
    }
    answers.set(url, statusCode);
    const all = [...answers.values()];
    if (all.some(isTaken)) {
      if (server.said !== null) {
        print(`Webhook: ${origin} now accepts the records.`);
      }
      server.said = null;
    } else if (answers.size === server.urls.size) {
      const problem = problemOf(origin, all);
      if (problem !== server.said) {
        print(problem);
      }
      server.said = problem;
    }
  };
}
