import type { NodeAPI } from "node-red";
import { ServedPaths, type Handler, type ServedPath } from "./served-paths.ts";

interface Served {
  readonly path: ServedPath;
  readonly handle: Handler;
  readonly onServed: () => void;
  /**
   * Called with the reason why the path is not served, or not alone; if another node has it, it is served as soon as that
   * one is gone.
   */
  readonly onProblem: (problem: "noWebServer" | "pathTaken") => void;
}

/**
 * Serves a webhook or a page where Node-RED serves the paths of flows, behind the site's own middleware; returns a function that
 * ends that.
 */
export function servePath(RED: NodeAPI, { path, handle, onServed, onProblem }: Served): () => void {
  // A site can disable all paths of flows.
  const root: unknown = RED.settings.httpNodeRoot;
  if (root === false) {
    onProblem("noWebServer");
    return () => undefined;
  }
  return ServedPaths.of(RED.httpNode).claim({
    path,
    app: RED.httpNode,
    handlers: [...middleware(RED), handle],
    onServed,
    onTaken: () => onProblem("pathTaken"),
  });
}

/** The middleware of the site for the paths of flows, such as a login. */
function middleware(RED: NodeAPI): Handler[] {
  const given: unknown = Reflect.get(RED.settings, "httpNodeMiddleware");
  const list: unknown[] = Array.isArray(given) ? given : [given];
  return list.filter((one): one is Handler => typeof one === "function");
}
