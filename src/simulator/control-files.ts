import type { IncomingMessage, ServerResponse } from "node:http";
import { contentPolicy, pageHeaders, pagePolicy } from "../package/page-headers.ts";
import { contentResponse } from "./responses.ts";
import type { Content } from "./content.ts";
import { ControlError } from "./control-routes.ts";
import { normalPlan } from "./fault-plans.ts";
import { pageFile } from "./page-files.ts";
import { segmentsOf } from "./paths.ts";
import type { PageMedia } from "./page-media.ts";
import type { Timers } from "./timers.ts";
import { sendPlan } from "./send-plan.ts";

interface Served {
  readonly content: Content;
  readonly policy: string;
}

async function page(): Promise<Served> {
  const content = await pageFile("index.html");
  if (content === null) {
    throw new ControlError(503, "The page is not built. Run: npm run build");
  }
  return { content, policy: pagePolicy };
}

/** The content of a path for a browser: the page, its files, pictures and videos; null for all other paths. */
async function contentFor(request: IncomingMessage, pageMedia: PageMedia): Promise<Served | null> {
  if (request.method !== "GET") {
    return null;
  }
  const path = (request.url ?? "/").split("?")[0] ?? "/";
  if (path === "/") {
    return (request.headers.accept ?? "").includes("text/html") ? page() : null;
  }
  const segments = segmentsOf(path);
  const content = pageMedia.find(segments) ?? (await pageFile(path.slice(1)));
  return content === null ? null : { content, policy: contentPolicy };
}

/** Serves a file to a browser. Returns false if the request is for something else. */
export async function serveFile(
  request: IncomingMessage,
  response: ServerResponse,
  pageMedia: PageMedia,
  timers: Timers,
): Promise<boolean> {
  const served = await contentFor(request, pageMedia);
  if (served === null) {
    return false;
  }
  const header = (name: string): string | null => {
    const value = request.headers[name];
    return Array.isArray(value) ? value.join(", ") : (value ?? null);
  };
  const asked = { method: "GET", segments: [], query: new Map<string, string>(), header, contentFault: {} };
  const headers = { ...pageHeaders, "content-security-policy": served.policy, vary: "accept" };
  const plan = normalPlan(contentResponse(asked, served.content, headers), false);
  await sendPlan(response, request.socket, plan, {
    sleep: (ms) => timers.sleep(ms),
    reset: () => request.socket.resetAndDestroy(),
  });
  return true;
}
