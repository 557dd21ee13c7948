import type { NodeAPI } from "node-red";
import type { Handler, WebhookPath, WebhookPaths } from "../../webhook/paths.ts";

interface ServedWebhook {
  readonly path: WebhookPath;
  readonly handle: Handler;
  readonly onServed: () => void;
  /** Told why the path is not served; where another node has it, it is served as soon as that one is gone. */
  readonly onProblem: (problem: "noWebServer" | "pathTaken") => void;
}

/** Serves a webhook where Node-RED serves what flows do, behind the site's own middleware; returns what ends that. */
export function serveWebhook(
  RED: NodeAPI,
  paths: WebhookPaths,
  { path, handle, onServed, onProblem }: ServedWebhook,
): () => void {
  // A site can switch off everything that flows serve.
  const root: unknown = RED.settings.httpNodeRoot;
  if (root === false) {
    onProblem("noWebServer");
    return () => undefined;
  }
  return paths.claim({
    path,
    app: RED.httpNode,
    handlers: [...middleware(RED), handle],
    onServed,
    onTaken: () => onProblem("pathTaken"),
  });
}

/** What the site puts before everything that flows serve, its own login for instance. */
function middleware(RED: NodeAPI): Handler[] {
  const given: unknown = Reflect.get(RED.settings, "httpNodeMiddleware");
  const list: unknown[] = Array.isArray(given) ? given : [given];
  return list.filter((one): one is Handler => typeof one === "function");
}
